package unwind

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/foreign"
)

// table is what walks have to know of a file.
type table struct {
	rows []uint64 // as plan.MapRows has them
	base uint64   // what is to be subtracted from the file's addresses
	code []segment
}

// segment is code of the file: size bytes from an offset in it that are mapped at addr.
type segment struct{ off, size, addr uint64 }

// maxPC bounds the addresses of rows.
const maxPC = 1<<31 - 1

// read makes the table of the file at path, or takes the one that an earlier run has left in the folder; "" for none.
func read(path, folder string) (t *table, err error) {
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
	t = &table{}
	for _, p := range f.ELF().Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			t.code = append(t.code, segment{p.Off, p.Filesz, p.Vaddr})
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
	if len(t.code) == 0 {
		return nil, fmt.Errorf("%s has no code", path)
	}
	t.base = slices.MinFunc(t.code, func(a, b segment) int { return cmp.Compare(a.addr, b.addr) }).addr
	for _, r := range cfi.Table(pieces) {
		if r.PC < t.base || r.PC-t.base > maxPC {
			continue // it is no code that a process can run
		}
		t.rows = append(t.rows, (r.PC-t.base)<<32|uint64(r.Rule))
	}
	if name != "" {
		t.keep(name)
	}
	return t, nil
}

// address gives the file's address of what lies at an offset in it.
func (t *table) address(off uint64) (uint64, bool) {
	for _, s := range t.code {
		// Segments are mapped in whole pages.
		if from := s.off &^ (pageSize - 1); off >= from && off < s.off+s.size {
			return s.addr - s.off + off, true
		}
	}
	return 0, false
}
