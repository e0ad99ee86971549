package godwarf

import (
	"strings"

	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// schedPC is where runtime.g has the address at which the goroutine goes on (sched.pc), behind stack, two guards,
// _panic, _defer, m and sched.sp. runtime.morestack stores it, runtime.gogo leaves it there.
const schedPC = 64

// whyLost says why an argument that the function does not use is not known at a hit.
const whyLost = "an argument that the function does not use is lost at this call, for which the stack had to grow"

// unlessAgain makes an argument's pieces fail at those entries at which the function begins again, its stack having
// grown, and where registers that it does not use have lost their values. Such an entry is told by the register
// through which the runtime goes on; where that is restored, by where the goroutine went on last, and by the register
// of the closure, which is 0 then where there is none.
func (v *view) unlessAgain(p loc.Place) loc.Place {
	if p.InMemory || len(p.Pieces) == 0 {
		return p
	}
	code, err := v.im.code(v.i)
	at, err2 := v.im.entry(v.i)
	if err != nil || err2 != nil || !at.Check {
		return p
	}
	m, entry := v.im.m, v.im.tab.Entry(v.i)
	again, ok := insn.BeginsAgain(m.Code, code, entry, at.PC, v.im.isMore, m.Go.Args)
	if !ok {
		return p
	}
	from := loc.Static(again.From, v.im.f.Relocated())
	differs := loc.Register(m.Resumed).With(from, loc.Step{Op: loc.Xor})
	if again.Restored[m.Resumed] {
		differs = loc.Register(m.Goroutine).Plus(schedPC).Load(8, false, false).With(from, loc.Step{Op: loc.Xor})
		if strings.Contains(v.im.tab.Name(v.im.tab.Find(again.More)), "noctxt") {
			differs = differs.With(loc.Register(m.Closure), loc.Step{Op: loc.Or})
		}
	}
	pieces := append([]loc.Piece(nil), p.Pieces...)
	for i, q := range pieces {
		if n := len(q.Val.Steps); n == 1 && q.Val.Steps[0].Op == loc.Reg && !again.Restored[int(q.Val.Steps[0].N)] {
			pieces[i].Val = q.Val.With(differs, loc.Step{Op: loc.Check, Text: whyLost})
			p.Writable = false // nothing reads it
		}
	}
	p.Pieces = pieces
	return p
}
