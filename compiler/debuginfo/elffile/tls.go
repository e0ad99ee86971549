package elffile

import (
	"debug/elf"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// TLS computes the address of the thread-local object at off in the program's own block.
// On amd64 that block ends at the thread pointer (ELF Handling For Thread-Local Storage, variant II).
func (f *File) TLS(off uint64) (loc.Prog, error) {
	if !f.Executable() {
		return loc.Prog{}, dwexpr.Refuse("it is a thread-local variable of a library")
	}
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_TLS {
			continue
		}
		if off > p.Memsz {
			return loc.Prog{}, fmt.Errorf("%w: thread-local offset %#x is outside of its segment", foreign.ErrCorrupt,
				off)
		}
		align := max(p.Align, 1)
		block := p.Memsz + (-p.Vaddr-p.Memsz)&(align-1)
		return loc.Value(loc.Step{Op: loc.TLS}).Plus(int64(off) - int64(block)), nil
	}
	return loc.Prog{}, dwexpr.Refuse("it is thread-local and the program has no thread-local segment")
}
