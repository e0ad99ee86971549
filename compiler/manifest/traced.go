package manifest

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/ir"
)

// Traced is a file that the program's sites lie in.
type Traced struct {
	Path string
	Size int64
	// ID is the file's build id, or a checksum where it has none: "build id 3f...", "Go build id ...", "checksum ...".
	ID string
	// Code stands for the instructions at the places that were looked at, "" if none was.
	Code string
}

// Places are the files that a program has sites in, each with the offsets of those in user space: what Look is to be
// given of it.
func Places(p *ir.Program) map[string][]uint64 {
	out := map[string][]uint64{}
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if path := s.Program.Path; path != "" {
				out[path] = append(out[path], []uint64{}...)
				if s.Kind.InUser() {
					out[path] = append(out[path], s.Program.Offset)
				}
			}
			if exe := s.Program.Exe; exe != "" {
				out[exe] = append(out[exe], []uint64{}...)
			}
		}
	}
	return out
}

// window is how many bytes at a place count.
const window = 32

// Look identifies a file. At are places in it, as offsets, whose instructions are to be the same wherever the file is.
func Look(path string, at ...uint64) (Traced, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return Traced{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Traced{}, err
	}
	t := Traced{Path: path, Size: st.Size()}
	if e, err := foreign.ELF(f); err == nil {
		t.ID = buildID(e)
	}
	if t.ID == "" {
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(f, 0, st.Size())); err != nil {
			return Traced{}, err
		}
		t.ID = fmt.Sprintf("checksum %x", h.Sum(nil))
	}
	if len(at) > 0 {
		t.Code = code(f, at)
	}
	return t, nil
}

// code stands for the instructions at places.
func code(f *os.File, at []uint64) string {
	at = slices.Clone(at)
	slices.Sort(at)
	h := sha256.New()
	var b [window]byte
	for _, off := range slices.Compact(at) {
		n, _ := f.ReadAt(b[:], int64(off))
		h.Write(b[:n])
		h.Write([]byte{byte(n)})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// buildID is what the linker wrote of a file that it made: the GNU build id, or Go's own. The notes are found by the
// segments, which files without sections have too.
func buildID(e *elf.File) string {
	golang := ""
	for _, p := range e.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		b, err := io.ReadAll(io.NewSectionReader(p, 0, int64(p.Filesz)))
		if err != nil {
			continue
		}
		up := func(n, align uint64) uint64 { return (n + align - 1) &^ (align - 1) }
		align := uint64(4)
		if p.Align == 8 {
			align = 8
		}
		for len(b) >= 12 {
			name, desc := uint64(e.ByteOrder.Uint32(b)), uint64(e.ByteOrder.Uint32(b[4:]))
			kind := e.ByteOrder.Uint32(b[8:])
			from := up(12+name, align)
			if from > uint64(len(b)) || desc > uint64(len(b))-from {
				break
			}
			who, what := string(b[12:12+name]), b[from:from+desc]
			switch {
			case who == "GNU\x00" && kind == 3 && desc >= 8:
				return fmt.Sprintf("build id %x", what)
			case who == "Go\x00\x00" && kind == 4 && desc >= 8:
				golang = fmt.Sprintf("Go build id %s", what)
			}
			b = b[min(up(from+desc, align), uint64(len(b))):]
		}
	}
	return golang
}

// ErrOther says that another file is where the traced one was. ErrCode says that it is the same by its build id, but
// that its code was changed since.
var (
	ErrOther = errors.New("it is another file")
	ErrCode  = errors.New("its code was changed after it was linked")
)

// Same checks that the file is there still: ErrOther, or why it cannot be read. At are the places that Look was given.
func (t Traced) Same(at ...uint64) error {
	got, err := Look(t.Path, at...)
	if err != nil {
		return foreign.Reason(err)
	}
	return t.Is(got)
}

// Is checks that got is the file that t was: nil, ErrOther or ErrCode. What was stripped is the same file.
func (t Traced) Is(got Traced) error {
	switch {
	case got.ID != t.ID:
		return ErrOther
	case t.Code != "" && got.Code != t.Code:
		return ErrCode
	}
	return nil
}
