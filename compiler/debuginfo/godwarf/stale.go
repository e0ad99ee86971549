package godwarf

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// Location lists of Go's compiler say too much in two ways that the code shows (cmd/compile/internal/ssa, debug.go). An
// entry for a register goes on over a block of the function to which it does not lead, and over the calls in it, while
// no register outlives a call. And an entry for a slot of the frame goes on when the slot gets the value of
// another variable, which the compiler does not take down.

// effects is what the code of one function does, kept for the next variable of it.
type effects struct {
	fn   int
	code *insn.Effects // nil where it does not decode
	rows []pclntab.Row // see view.rows
	of   string

	readable map[*godwarf.Tree][]int // lines, by variable: see view.readable
}

func (im *Image) effectsOf(i int) *insn.Effects {
	if im.effects != nil && im.effects.fn == i {
		return im.effects.code
	}
	im.effects = &effects{fn: i}
	code, err := im.code(i)
	if err != nil {
		return nil
	}
	x, err := insn.NewEffects(im.m.Code, code, im.tab.Entry(i), im.keepsRegisters, im.ways().never, im.ways().cfa(i))
	if err == nil {
		im.effects.code = x
	}
	return im.effects.code
}

// cfa computes how far the canonical frame address is from the stack pointer in function i.
func (im ways) cfa(i int) func(pc uint64) (int64, bool) {
	return func(pc uint64) (int64, bool) {
		depth, ok := im.tab.StackDepth(i, pc)
		return depth + im.m.WordSize, ok
	}
}

// never reports whether the function at pc does not return.
func (im ways) never(pc uint64) bool {
	i := im.tab.Find(pc)
	if i < 0 || strings.HasPrefix(im.tab.Name(i), "runtime.panicCheck") {
		return false
	}
	return slices.ContainsFunc([]string{"runtime.gopanic", "runtime.panic", "runtime.goPanic", "runtime.throw"},
		func(p string) bool { return strings.HasPrefix(im.tab.Name(i), p) })
}

// keepsRegisters reports whether the function at pc is one that compiled code calls without saving its registers, or
// that does not return.
func (im *Image) keepsRegisters(pc uint64) bool {
	i := im.tab.Find(pc)
	if i < 0 {
		return false
	}
	name := im.tab.Name(i)
	for _, p := range []string{"runtime.gcWriteBarrier", "runtime.wbZero", "runtime.wbMove", "runtime.duff",
		"runtime.panic", "runtime.goPanic", "runtime.race"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return im.isMore(pc)
}

// stale says why p, where the location list of e has a variable, has something else by now, "" if nothing shows that.
func (v *view) stale(e *godwarf.Tree, p loc.Place) string {
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	if err != nil {
		return ""
	}
	in, ok := v.listed(e)
	if !ok {
		return ""
	}
	x := v.im.effectsOf(v.i)
	if x == nil {
		return ""
	}
	inRegister := slices.ContainsFunc(p.Pieces, func(q loc.Piece) bool {
		return !q.Lost && (q.Vector > 0 || len(q.Val.Steps) == 1 && q.Val.Steps[0].Op == loc.Reg)
	})
	if inRegister && x.Lost(in.Lo, v.s.PC, in.Hi) {
		return "the debug information has it in a register, and goes on to do so behind a call, which leaves none"
	}
	if inRegister && v.overwritten(list, p) {
		return "the debug information has it in a register, and goes on to do so over code that leads there with " +
			"something else in it"
	}
	return ""
}

// reused reports whether something has been stored in the frame where p is, behind where the entry of the list begins.
func (v *view) reused(e *godwarf.Tree, p loc.Place) bool {
	in, ok := v.listed(e)
	x := v.im.effectsOf(v.i)
	if !ok || x == nil {
		return false
	}
	for _, slot := range v.slots(p) {
		if slices.ContainsFunc(x.Stores, func(s insn.Store) bool {
			return in.Lo <= s.PC && s.PC < v.s.PC && s.Meets(slot) && x.Leads(s.PC, v.s.PC) && !x.Again(s)
		}) {
			return true
		}
	}
	return false
}

// listed is the entry of e's location list for the site.
func (v *view) listed(e *godwarf.Tree) (in dwexpr.LocRange, ok bool) {
	list, err := v.sig.unit.Locations(e, dwarf.AttrLocation)
	if err != nil {
		return in, false
	}
	k := slices.IndexFunc(list, func(r dwexpr.LocRange) bool {
		return !r.Default && r.Lo <= v.s.PC && v.s.PC < r.Hi && r.Lo >= v.im.tab.Entry(v.i)
	})
	if k < 0 {
		return in, false
	}
	return list[k], true
}

// overwritten reports whether on some way to the site a register of p is given another value behind the last place
// where an entry of the list begins.
func (v *view) overwritten(list []dwexpr.LocRange, p loc.Place) bool {
	c := v.assignedCode()
	if c == nil {
		return false
	}
	for _, h := range v.held(p) {
		if h.Reg >= 0 && c.Overwritten(h, v.s.PC, func(pc uint64) bool {
			return slices.ContainsFunc(list, func(r dwexpr.LocRange) bool { return r.Lo == pc })
		}) {
			return true
		}
	}
	return false
}

// slots lists the bytes of the frame at the site that an object at p is in, without what the caller passed.
func (v *view) slots(p loc.Place) []insn.Store {
	return slices.DeleteFunc(v.onStack(p), func(s insn.Store) bool { return s.Off >= 0 })
}

// onStack is slots with the caller's room for arguments, to which the function may move those that came in registers.
func (v *view) onStack(p loc.Place) (out []insn.Store) {
	if v.cfa.Empty() || p.Type == nil {
		return nil
	}
	sp, up := splitOffset(v.cfa)
	add := func(addr loc.Prog, size int64) {
		at, off := splitOffset(addr)
		if slices.Equal(sp.Steps, at.Steps) {
			out = append(out, insn.Store{PC: v.s.PC, Off: off - up, Size: size})
		}
	}
	if p.InMemory {
		add(p.Addr, p.Type.Size)
		return out
	}
	for _, q := range p.Pieces {
		if n := q.Val.Last(); !q.Lost && n > 0 && q.Val.Steps[n].Op == loc.Deref && q.Val.Steps[n].A == n-1 {
			add(loc.Prog{Steps: q.Val.Steps[:n]}, q.Size)
		}
	}
	return out
}
