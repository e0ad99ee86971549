// Package elffile reads ELF files: headers, sections, symbols, stubs, marks, call frame information.
//
// In: a path. Out, all of it lazily: a File (Open), with its sections inflated and cached (Section), symbols (Symbols,
// SymbolAt), addresses to file offsets and bytes (FileOffset, Bytes), the canonical frame address and return address
// at a pc (Frame), static marks, stubs of the procedure linkage table, the detached debug file. It knows nothing of
// what
// debug information says beside that; see package dw.
//
// All addresses are the file's own virtual addresses.
//
// # Foreign bytes
//
// Files are mapped, not read: a probe needs some KB out of binaries of 100 MB and more. Two
// things can then panic: a reader that trusts its input (parts of debug/elf do), and a page fault when the file
// shrinks under the map (SIGBUS). foreign.Guard turns both into errors; every function of this package that touches
// file bytes is under it. Callers that look into the slices that Section and Bytes return do so under their own Guard.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/kept"
	"github.com/gostap/gostap/compiler/foreign"
	arch "github.com/gostap/gostap/compiler/machine"
)

// ErrNoSection is returned by Section for a section that the file does not have.
var ErrNoSection = errors.New("no such section")

// File is one ELF file, mapped read-only. Methods may be called by one goroutine at a time.
type File struct {
	path string
	stat unix.Stat_t
	fd   *os.File
	// mem is the whole file, of mapping unless it is a test's.
	mem     []byte
	mapping *foreign.Mapping
	elf     *elf.File

	loads   []elf.ProgHeader // PT_LOAD, by address
	moves   bool             // see Relocate
	buildID string

	// Kept is where large inflated sections are kept from one run to the next.
	Kept kept.Folder

	mu       sync.Mutex         // guards sections, which are inflated in parallel, earlier, and relocs
	earlier  []*foreign.Mapping // sections that an earlier run has inflated
	inflated uint64             // bytes of those that were
	sections map[string][]byte
	secErr   map[string]error

	syms   symbolTable
	frames frameIndex
	// relocs are those of .rela.dyn by their places, once somebody has asked; see Word.
	relocs []relocAt
	// slotNames are the names of the slots of the procedure linkage table, once slotsRead; see SlotName.
	slotNames  map[uint64]string
	slotsRead  bool
	supplement bool
	beside     *File  // see Adopt
	debug      *File  // detached debug information
	noDebug    bool   // already looked for
	link       string // what .gnu_debuglink names, once looked for
	foreign    string // a debug file of another build
	machine    *arch.Machine
}

// Open opens the ELF executable or library at path.
// Errors wrap debuginfo.ErrNotELF and debuginfo.ErrArch.
func Open(path string) (*File, error) { return open(path, false) }

// OpenSupplement is Open for files that may have debug information only: it may be an object file, and no debug file
// is looked for.
func OpenSupplement(path string) (*File, error) {
	f, err := open(path, true)
	if err == nil {
		f.noDebug = true
	}
	return f, err
}

func open(path string, supplement bool) (*File, error) {
	real := path
	// Links below /proc/PID lead into other mount namespaces: their text says nothing here, only
	// the kernel may follow them.
	if !strings.HasPrefix(path, "/proc/") {
		var err error
		if real, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	fd, err := foreign.Open(real)
	if nr := (*foreign.NotRegularError)(nil); errors.As(err, &nr) {
		return nil, fmt.Errorf("%s: %w: it is %s", real, debuginfo.ErrNotELF, nr.Is)
	}
	if err != nil {
		return nil, err
	}
	f, err := openFD(fd, real, supplement)
	if err != nil {
		fd.Close()
		return nil, err
	}
	return f, nil
}

func openFD(fd *os.File, path string, supplement bool) (*File, error) {
	f := &File{supplement: supplement, path: path, fd: fd, sections: map[string][]byte{}, secErr: map[string]error{}}
	if err := unix.Fstat(int(fd.Fd()), &f.stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if f.stat.Size < 64 {
		return nil, fmt.Errorf("%s: %w: %s", path, debuginfo.ErrNotELF, kindOf(fd))
	}
	// Not MAP_PRIVATE: into every private mapping of a file the kernel puts the breakpoints that any tracer has on it
	// (valid_vma in kernel/events/uprobes.c), and they would be read as the file's instructions.
	m, err := foreign.Map(fd, path, f.stat.Size, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	f.mapping, f.mem = m, m.Bytes
	if err := f.parse(); err != nil {
		m.Close()
		if errors.Is(err, foreign.ErrChanged) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Trim gives back the memory that holds what was read of the file; it is read again when it is looked at.
func (f *File) Trim() {
	if f.mapping != nil {
		f.mapping.Trim()
	}
}

// InMemory makes a File of bytes that are there already, for tests and fuzzing. There is no debug file beside it.
func InMemory(mem []byte) (*File, error) {
	f := &File{path: "memory", mem: mem, sections: map[string][]byte{}, secErr: map[string]error{}, noDebug: true}
	if len(mem) < 64 {
		return nil, debuginfo.ErrNotELF
	}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}

// kindOf says what a file that is not ELF seems to be.
func kindOf(r io.ReaderAt) string {
	b := make([]byte, 16)
	n, _ := r.ReadAt(b, 0)
	b = b[:n]
	switch {
	case n == 0:
		return "the file is empty"
	case bytes.HasPrefix(b, []byte("#!")):
		return "it is a script; trace its interpreter"
	case bytes.HasPrefix(b, []byte("!<arch>")):
		return "it is a static library"
	case bytes.HasPrefix(b, []byte("MZ")):
		return "it is a Windows executable"
	case bytes.HasPrefix(b, []byte("\xcf\xfa\xed\xfe")):
		return "it is a macOS executable"
	case bytes.HasPrefix(b, []byte(elf.ELFMAG)):
		return "the file is cut short"
	}
	return "it does not begin with the ELF magic number"
}

func (f *File) parse() (err error) {
	defer foreign.Guard(&err)()
	if string(f.mem[:4]) != elf.ELFMAG {
		return fmt.Errorf("%w: %s", debuginfo.ErrNotELF, kindOf(bytes.NewReader(f.mem)))
	}
	class, data := elf.Class(f.mem[elf.EI_CLASS]), elf.Data(f.mem[elf.EI_DATA])
	order := binary.ByteOrder(binary.LittleEndian)
	if data == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	if f.machine, err = arch.ForELF(class, data, elf.Machine(order.Uint16(f.mem[18:]))); err != nil {
		return fmt.Errorf("%w: %w", debuginfo.ErrArch, err)
	}
	switch t := elf.Type(binary.LittleEndian.Uint16(f.mem[16:])); t {
	case elf.ET_EXEC, elf.ET_DYN:
	case elf.ET_REL:
		if f.supplement {
			break
		}
		return fmt.Errorf("%w: it is an object file that has not been linked", debuginfo.ErrNotELF)
	default:
		return fmt.Errorf("%w: it is %v", debuginfo.ErrNotELF, t)
	}
	f.elf, err = foreign.ELF(bytes.NewReader(f.mem))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the file is cut short", debuginfo.ErrNotELF)
	}
	if err != nil {
		return fmt.Errorf("%w: %v", debuginfo.ErrNotELF, err)
	}
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD {
			f.loads = append(f.loads, p.ProgHeader)
		}
	}
	f.buildID = f.readBuildID()
	return nil
}

// Close unmaps the file. Nothing that came from it may be used afterwards, types with
// loaders included.
func (f *File) Close() error {
	if f.debug != nil {
		f.debug.Close()
		f.debug = nil
	}
	if f.beside != nil {
		f.beside.Close()
		f.beside = nil
	}
	for _, m := range f.earlier {
		m.Close()
	}
	f.earlier = nil
	var err error
	if f.fd != nil {
		err = f.mapping.Close()
		if e := f.fd.Close(); err == nil {
			err = e
		}
		f.fd = nil
	}
	f.mem = nil
	return err
}

// Adopt makes f close g with itself, and Changed look at it: what was read of f refers to it.
func (f *File) Adopt(g *File) { f.beside = g }

// Closed reports whether f was closed.
func (f *File) Closed() bool { return f.mem == nil }

// Machine is what the file is for.
func (f *File) Machine() *arch.Machine { return f.machine }

// Written is when the file was changed last.
func (f *File) Written() time.Time { return time.Unix(f.stat.Mtim.Unix()) }

// Path is the path with links resolved.
func (f *File) Path() string { return f.path }

// BuildID is the hex GNU build ID, else Go's build ID, else "".
func (f *File) BuildID() string { return f.buildID }

// ELF gives the headers. Use Section for contents.
func (f *File) ELF() *elf.File { return f.elf }

// Relocated reports whether addresses move at load time: a PIE or a library, or a kernel that Relocate was called for.
func (f *File) Relocated() bool { return f.elf.Type == elf.ET_DYN || f.moves }

// Relocate says that addresses move at load time though the file does not look so: the kernel picks its place at boot.
func (f *File) Relocate() { f.moves = true }

// Executable reports whether the file is a program rather than a library.
func (f *File) Executable() (is bool) {
	var err error
	defer foreign.Guard(&err)()
	if f.elf.Type == elf.ET_EXEC {
		return true
	}
	if v, err := f.elf.DynValue(elf.DT_FLAGS_1); err == nil && len(v) > 0 && elf.DynFlag1(v[0])&elf.DF_1_PIE != 0 {
		return true
	}
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_INTERP {
			so, err := f.elf.DynString(elf.DT_SONAME)
			return err == nil && len(so) == 0
		}
	}
	return false
}

// Changed reports whether the file that was opened, or its debug file, has been written to or cut short since. The
// error is a *foreign.ChangedError.
func (f *File) Changed() error {
	for _, g := range []*File{f.debug, f.beside} {
		if g != nil {
			if err := g.Changed(); err != nil {
				return err
			}
		}
	}
	if f.fd == nil {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.fd.Fd()), &st) != nil || st.Size != f.stat.Size || st.Mtim != f.stat.Mtim || f.mapping.Cut() {
		return &foreign.ChangedError{Path: f.path}
	}
	return nil
}

// FileID identifies the file that was opened.
func (f *File) FileID() debuginfo.FileID { return debuginfo.IDOf(&f.stat) }

// LoadBase is the lowest address of the loadable segments, rounded down to a page.
func (f *File) LoadBase() uint64 {
	base := ^uint64(0)
	for _, p := range f.loads {
		base = min(base, p.Vaddr)
	}
	if base == ^uint64(0) {
		return 0
	}
	return base &^ 0xfff
}

// FileOffset turns an address into an offset in the file. Only bytes that are in the file have one.
func (f *File) FileOffset(addr uint64) (uint64, error) {
	for _, p := range f.loads {
		if addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			if off := p.Off + (addr - p.Vaddr); off < uint64(f.stat.Size) || f.fd == nil {
				return off, nil
			}
		}
	}
	return 0, fmt.Errorf("%s: address %#x is in no segment of the file", f.path, addr)
}

// Bytes gives at most n bytes of the loaded image from addr on, without those beyond the
// end of the segment. The slice is the mapped file: read it under Guard.
func (f *File) Bytes(addr uint64, n int) ([]byte, error) {
	for _, p := range f.loads {
		if addr < p.Vaddr || addr-p.Vaddr >= p.Filesz {
			continue
		}
		skip := addr - p.Vaddr
		off, size := p.Off+skip, p.Filesz-skip
		if off < p.Off || off >= uint64(len(f.mem)) {
			break
		}
		size = min(size, uint64(len(f.mem))-off, uint64(max(n, 0)))
		return f.mem[off : off+size : off+size], nil
	}
	return nil, fmt.Errorf("%s: address %#x is in no segment of the file", f.path, addr)
}

// InText reports whether addr is in an executable segment.
func (f *File) InText(addr uint64) bool {
	for _, p := range f.loads {
		if p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return true
		}
	}
	return false
}

// readBuildID finds the GNU note, in segments or sections, else Go's.
func (f *File) readBuildID() string {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_NOTE {
			if id := noteDesc(f.slice(p.Off, p.Filesz), "GNU\x00", 3); id != nil {
				return hex.EncodeToString(id)
			}
		}
	}
	goID := ""
	for _, s := range f.elf.Sections {
		if s.Type != elf.SHT_NOTE {
			continue
		}
		b := f.slice(s.Offset, s.FileSize)
		if id := noteDesc(b, "GNU\x00", 3); id != nil {
			return hex.EncodeToString(id)
		}
		if id := noteDesc(b, "Go\x00\x00", 4); id != nil {
			goID = string(id)
		}
	}
	return goID
}

// noteDesc finds the description of a note by name and type (ELF gABI, "Note Section").
func noteDesc(b []byte, name string, typ uint32) []byte {
	for len(b) >= 12 {
		nsz, dsz, t := uint64(dwread.LE32(b)), uint64(dwread.LE32(b[4:])), dwread.LE32(b[8:])
		b = b[12:]
		na, da := (nsz+3)&^3, (dsz+3)&^3
		if na > uint64(len(b)) || da > uint64(len(b))-na {
			if na > uint64(len(b)) || dsz > uint64(len(b))-na {
				return nil
			}
			da = dsz
		}
		if t == typ && string(b[:nsz]) == name {
			return b[na : na+dsz]
		}
		b = b[na+da:]
	}
	return nil
}

// slice gives the file's bytes [off, off+size), cut at its end.
func (f *File) slice(off, size uint64) []byte {
	if off >= uint64(len(f.mem)) {
		return nil
	}
	size = min(size, uint64(len(f.mem))-off)
	return f.mem[off : off+size : off+size]
}
