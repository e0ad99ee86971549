package godwarf

import (
	"errors"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/assigned"
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
func (v *view) unlessAgain(p loc.Place) (loc.Place, error) {
	if p.InMemory || len(p.Pieces) == 0 || v.copy != nil && v.entry {
		return p, nil
	}
	code, err := v.im.code(v.i)
	at, err2 := v.im.entry(v.i)
	if err != nil || err2 != nil || !at.Check {
		return p, nil
	}
	m, entry := v.im.m, v.im.tab.Entry(v.i)
	args := slices.Clone(m.Go.Args)
	for k := range m.Go.Vectors {
		args = append(args, m.Vector+k)
	}
	again, ok := insn.BeginsAgain(m.Code, code, entry, at.PC, v.im.isMore, args)
	if !ok {
		return p, nil
	}
	from := loc.Static(again.From, v.im.f.Relocated())
	differs := loc.Register(m.Resumed).With(from, loc.Step{Op: loc.Xor})
	if again.Restored[m.Resumed] || !v.kept(at.PC, m.Resumed) {
		differs = loc.Register(m.Goroutine).Plus(schedPC).Load(8, false, false).With(from, loc.Step{Op: loc.Xor})
		if strings.Contains(v.im.tab.Name(v.im.tab.Find(again.More)), "noctxt") && v.kept(at.PC, m.Closure) {
			differs = differs.With(loc.Register(m.Closure), loc.Step{Op: loc.Or})
		}
	}
	pieces := append([]loc.Piece(nil), p.Pieces...)
	for i, q := range pieces {
		reg := m.Vector + q.Vector - 1
		if n := len(q.Val.Steps); n == 1 && q.Val.Steps[0].Op == loc.Reg {
			reg = int(q.Val.Steps[0].N)
		} else if q.Vector == 0 {
			continue
		}
		if q.Lost || !slices.Contains(args, reg) || again.Restored[reg] || !v.untouched(reg) {
			continue
		}
		if q.Vector > 0 && v.entry {
			continue // nothing can be told at the hit
		} else if q.Vector > 0 {
			return p, errors.New("the function does not use it, and has lost it if the stack had to grow")
		}
		pieces[i].Val = q.Val.With(differs, loc.Step{Op: loc.Check, Text: whyLost})
		p.Writable = false // nothing reads it
	}
	p.Pieces = pieces
	return p, nil
}

// kept reports whether a register certainly has at the site what it has where the function's own code begins, at from.
func (v *view) kept(from uint64, reg int) bool {
	code, err := v.im.code(v.i)
	base := v.im.tab.Entry(v.i)
	if err != nil || v.s.PC < from {
		return v.entry
	}
	kept := true
	for pc := from; pc < v.s.PC && kept; {
		b := code[pc-base:]
		in, ok := v.im.m.Code.Decode(b)
		use, _ := v.im.m.Code.Into(b, reg, 8)
		kept = ok && use == insn.Keeps && in.Kind <= insn.Nop5
		pc += uint64(in.Len)
	}
	return kept
}

// untouched reports whether a register may have at the site what the function was called with in it.
func (v *view) untouched(reg int) bool {
	c := v.assignedCode()
	if v.entry || c == nil {
		return v.entry
	}
	return len(c.Brought(assigned.Held{Reg: reg, Size: 8}, v.s.PC)) > 0
}
