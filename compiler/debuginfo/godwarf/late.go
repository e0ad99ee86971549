package godwarf

import (
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// late reports whether a part of the object at p is in the frame, and the next thing that happens to it is that the
// value that a register has already is stored over it. Where ways meet on which a variable was given different values,
// the compiler brings them together in a register and stores that; up to there its location list goes on to name the
// place in the frame, which has the value from before.
func (v *view) late(p loc.Place) bool {
	slots := v.slots(p)
	if len(slots) == 0 {
		return false
	}
	code, err := v.im.code(v.i)
	if err != nil {
		return false
	}
	_, up := splitOffset(v.cfa)
	for _, s := range slots {
		if insn.StoredNext(v.im.m.Code, code, v.im.tab.Entry(v.i), v.s.PC, v.im.m.SP, s.Off+up, s.Size) {
			return true
		}
	}
	return false
}
