// Package rows makes the tables by which stacks are walked in the kernel: what is known of the code of a file, packed
// and sorted.
//
// In: a file, and a folder for what is kept from one run to the next. Out: rows of 8 bytes, and where the code lies.
package rows

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/foreign"
)

// Table is what walks have to know of a file.
type Table struct {
	// Rows are sorted: an address in the upper half, counted from Base and less than 2^31, and what holds from there on
	// in the lower one (cfi.Packed).
	Rows []uint64
	Base uint64 // what is to be subtracted from the file's addresses
	Code []Segment
}

// Segment is code of the file: Size bytes from an offset in it that are mapped at Addr.
type Segment struct{ Off, Size, Addr uint64 }

// pageSize is the least that is mapped.
const pageSize = 4096

// Mapped tells where the code begins and ends in a file with one segment of it, in whole pages at the beginning as it
// is mapped, and what is to be added to an offset there for the address that rows have. ok is false for other files.
func (t *Table) Mapped() (begin, end, add uint64, ok bool) {
	if len(t.Code) != 1 || len(t.Rows) == 0 {
		return 0, 0, 0, false
	}
	c := t.Code[0]
	return c.Off &^ (pageSize - 1), c.Off + c.Size, c.Addr - c.Off - t.Base, true
}

// Identity is what the kernel tells files apart by: inode, device as it has it, size, and the second in which it was
// written.
func Identity(id debuginfo.FileID) [4]uint64 {
	return [4]uint64{id.Ino, uint64(unix.Major(id.Dev))<<20 | uint64(unix.Minor(id.Dev)), uint64(id.Size),
		uint64(id.Mtime / int64(time.Second))}
}

// maxPC bounds the addresses of rows.
const maxPC = 1<<31 - 1

// Read makes the table of the file at path, or takes the one that an earlier run has left in the folder; "" for none.
func Read(path, folder string) (t *Table, err error) {
	defer foreign.Guard(&err)()
	f, err := elffile.Open(path)
	if err != nil {
		return nil, err
	}
	name := keptName(folder, f)
	if name != "" {
		if t := kept(name); t != nil {
			f.Close()
			return t, nil
		}
	}
	t = &Table{}
	for _, p := range f.ELF().Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			t.Code = append(t.Code, Segment{p.Off, p.Filesz, p.Vaddr})
		}
	}
	var im interface {
		UnwindPieces() ([]cfi.Piece, error)
		Close() error
	} = f
	if godwarf.Is(f) {
		if im, err = godwarf.New(f); err != nil {
			f.Close()
			return nil, err
		}
	}
	defer im.Close()
	pieces, err := im.UnwindPieces()
	if err != nil {
		return nil, err
	}
	if len(t.Code) == 0 {
		return nil, fmt.Errorf("%s has no code", path)
	}
	t.Base = slices.MinFunc(t.Code, func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) }).Addr
	for _, r := range cfi.Table(pieces) {
		if r.PC < t.Base || r.PC-t.Base > maxPC {
			continue // it is no code that a process can run
		}
		t.Rows = append(t.Rows, (r.PC-t.Base)<<32|uint64(r.Rule))
	}
	if name != "" {
		t.keep(name)
	}
	return t, nil
}

// Address gives the file's address of what lies at an offset in it.
func (t *Table) Address(off uint64) (uint64, bool) {
	for _, s := range t.Code {
		// Segments are mapped in whole pages.
		if from := s.Off &^ (pageSize - 1); off >= from && off < s.Off+s.Size {
			return s.Addr - s.Off + off, true
		}
	}
	return 0, false
}
