// Package manifest writes a compiled program down, so that it can be run without its script: the program with the
// places in the script that its messages name, which files it traces, and for what it was made. Built modules carry it,
// and it is what package gostap keeps of a script.
//
// In: an ir.Program. Out: bytes, and back. The bytes may come from anywhere: everything is checked.
package manifest

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
)

// Version of the form; another one is not read.
const Version = 2

const magic = "gostap\x00"

// maxPlain bounds what a manifest unpacks to.
const maxPlain = 96 << 20

// Digest stands for how a program was translated: layouts, records, sites. It is zero where it was not.
type Digest [sha256.Size]byte

// Manifest is what travels.
type Manifest struct {
	// Program has its Files, but no images.
	Program *ir.Program
	Digest  Digest
	Traced  []Traced
	// Runtime is the one that the script was compiled for, "" if it did not say. Kernel is the only one that the
	// program fits, by release and version, "" if it uses nothing of a kernel that differs from one to the next.
	Runtime, Kernel string
}

// Traced is a file that the program's sites lie in.
type Traced struct {
	Path string
	Size int64
	// ID is the file's build id, or a checksum where it has none.
	ID string
}

// ErrVersion says that another version of gostap made it.
var ErrVersion = errors.New("it was made by another version of gostap")

// ErrDamaged says that bytes are not what Encode gave.
var ErrDamaged = errors.New("what it carries for the host is damaged")

// Encode gives the bytes of m.
func (m *Manifest) Encode() ([]byte, error) {
	text, keep := m.Program.Portable()
	var plain []byte
	str := func(s string) { plain = append(binary.AppendUvarint(plain, uint64(len(s))), s...) }
	str(text)
	str(m.Runtime)
	str(m.Kernel)
	plain = append(plain, m.Digest[:]...)
	plain = binary.AppendUvarint(plain, uint64(len(m.Traced)))
	for _, t := range m.Traced {
		str(t.Path)
		plain = binary.AppendUvarint(plain, uint64(t.Size))
		str(t.ID)
	}
	files := m.Program.Files
	if files == nil {
		files = new(source.FileSet)
	}
	plain = files.Pack(plain, keep)
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed.Bytes())
	out := append([]byte(magic), Version)
	return append(append(out, sum[:8]...), packed.Bytes()...), nil
}

// Decode reads what Encode gave.
func Decode(b []byte) (*Manifest, error) {
	b, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(b) < 9 {
		return nil, ErrDamaged
	}
	if b[0] != Version {
		return nil, ErrVersion
	}
	if sum := sha256.Sum256(b[9:]); !bytes.Equal(sum[:8], b[1:9]) {
		return nil, ErrDamaged
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[9:])), maxPlain))
	if err != nil {
		return nil, ErrDamaged
	}
	return decode(plain)
}

// decode reads the plain form.
func decode(plain []byte) (*Manifest, error) {
	bad := false
	num := func() uint64 {
		n, k := binary.Uvarint(plain)
		if k <= 0 {
			bad = true
			return 0
		}
		plain = plain[k:]
		return n
	}
	str := func() string {
		n := num()
		if bad || n > uint64(len(plain)) {
			bad = true
			return ""
		}
		s := string(plain[:n])
		plain = plain[n:]
		return s
	}
	m := &Manifest{}
	text := str()
	m.Runtime, m.Kernel = str(), str()
	if bad || copy(m.Digest[:], plain) < len(m.Digest) {
		return nil, ErrDamaged
	}
	plain = plain[len(m.Digest):]
	n := num()
	for i := uint64(0); i < n && !bad; i++ {
		m.Traced = append(m.Traced, Traced{str(), int64(num()), str()})
	}
	if bad {
		return nil, ErrDamaged
	}
	files, rest, err := source.Unpack(plain)
	if err != nil || len(rest) > 0 {
		return nil, ErrDamaged
	}
	p, err := ir.ParseText(text)
	if err == nil {
		err = ir.Verify(p)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrVersion, err)
	}
	p.Files = files
	m.Program = p
	return m, nil
}

// Look identifies a file.
func Look(path string) (Traced, error) {
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
		for _, name := range []string{".note.gnu.build-id", ".note.go.buildid"} {
			if s := e.Section(name); s != nil && s.FileSize < 4096 {
				if b, err := s.Data(); err == nil && len(b) > 16 {
					t.ID = fmt.Sprintf("%x", sha256.Sum256(b))
					return t, nil
				}
			}
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, st.Size())); err != nil {
		return Traced{}, err
	}
	t.ID = fmt.Sprintf("%x", h.Sum(nil))
	return t, nil
}

// ErrOther says that another file is where the traced one was.
var ErrOther = errors.New("it is another file")

// Same checks that the file is there still: ErrOther, or why it cannot be read.
func (t Traced) Same() error {
	got, err := Look(t.Path)
	switch {
	case err != nil:
		return foreign.Reason(err)
	case got.Size != t.Size || got.ID != t.ID:
		return ErrOther
	}
	return nil
}
