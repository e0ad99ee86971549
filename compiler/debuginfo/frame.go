package debuginfo

import (
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
)

// Called computes the canonical frame address and the return address at a function's first instruction. kernel says
// that the stack is the kernel's.
func Called(m *machine.Machine, kernel bool) (cfa, ret loc.Prog) {
	sp := loc.Register(m.SP)
	if m.Link >= 0 {
		return sp, loc.Register(m.Link)
	}
	return sp.Plus(m.WordSize), sp.Load(int(m.WordSize), false, kernel)
}

// Returned computes them where a function has just returned: the stack pointer is what it was before the call.
func Returned(m *machine.Machine) (cfa, ret loc.Prog) { return loc.Register(m.SP), loc.Register(m.IP) }
