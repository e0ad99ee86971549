package cdwarf

import (
	"debug/dwarf"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// LLVM's compilers (clang, rustc) name a register as the frame base, the stack pointer or the frame pointer, and mean
// the value that it has in the body of the function. Before that, behind it, and where arguments of a call are
// pushed the register has another value; but its distance from the canonical frame address in the body is fixed,
// and call frame information tells that address everywhere.

// frameBase is how the frame base of a function is told.
type frameBase struct {
	reg int // the register that the debug information names, -1 if it tells the base otherwise
	// dist is the canonical frame address less the register, in the body; 0 if it is not known.
	dist int64
}

// baseOf finds out about fn's frame base, once.
func (im entrance) baseOf(fn *function) frameBase {
	if fn.base == nil {
		b := im.findBase(fn)
		fn.base = &b
	}
	return *fn.base
}

func (im entrance) findBase(fn *function) frameBase {
	b := frameBase{reg: -1}
	if fn.tree == nil {
		return b
	}
	list, err := fn.u.Locations(fn.tree, dwarf.AttrFrameBase)
	if err != nil || len(list) != 1 || len(list[0].Expr) == 0 {
		return b
	}
	reg := -1
	switch e := list[0].Expr; {
	case len(e) == 1: // DW_OP_reg0 and those behind it
		reg = int(e[0]) - 0x50
	case len(e) == 2 && e[1] == 0: // DW_OP_breg0 and those behind it, with 0
		reg = int(e[0]) - 0x70
	}
	if reg != im.m.FP && reg != im.m.SP {
		return b
	}
	b.reg = reg
	behind := im.prologueEnd(fn)
	if behind == 0 {
		return b
	}
	if reg, n, ok := im.cfaAt(behind); ok && reg == b.reg {
		b.dist = n
	}
	if b.reg == im.m.SP {
		b.dist = im.bodyDistance(fn, behind, b.dist)
	}
	return b
}

// prologueEnd is the first row of the line table that says that the prologue is over, 0 without one.
func (im entrance) prologueEnd(fn *function) uint64 {
	rows, err := fn.u.Rows()
	if err != nil {
		return 0
	}
	for _, r := range rows {
		if r.PrologueEnd && !r.End && r.PC >= fn.Entry && r.PC < fn.End {
			return r.PC
		}
	}
	return 0
}

// cfaAt is the canonical frame address at pc as a register plus a number.
func (im entrance) cfaAt(pc uint64) (reg int, off int64, ok bool) {
	fr, err := im.f.Frame(pc)
	if err != nil {
		return 0, 0, false
	}
	s := fr.CFA.Steps
	switch {
	case len(s) == 1 && s[0].Op == loc.Reg:
		return int(s[0].N), 0, true
	case len(s) == 3 && s[0].Op == loc.Reg && s[1].Op == loc.Const && s[2].Op == loc.Add:
		return int(s[0].N), s[1].N, true
	}
	return 0, 0, false
}

// bodyDistance is how far the stack pointer is below the canonical frame address in the body of fn, 0 if that is
// not clear. behind is where the line table has the end of the prologue, at is the distance there. Usually that is
// it. Optimised code may make its frame further down, on the ways that need it: then nothing was pushed up to
// behind, and the frame is made by the first pushes and subtractions that follow each other.
func (im entrance) bodyDistance(fn *function, behind uint64, at int64) int64 {
	if at != 8 {
		return at
	}
	if fn.End-fn.Entry > maxCode {
		return 0
	}
	code, err := im.f.Bytes(fn.Entry, int(fn.End-fn.Entry))
	if err != nil {
		return 0
	}
	last := uint64(0) // behind the last instruction that makes the frame
	err = insn.Walk(im.m.Code, code, fn.Entry, func(pc uint64, in insn.Inst) bool {
		grows := im.m.Code.Grows(code[pc-fn.Entry:], in)
		if grows && pc >= behind {
			last = pc + uint64(in.Len)
		}
		return last == 0 || grows
	})
	if err != nil && last == 0 {
		return 0
	}
	if last == 0 {
		return at // it has no frame
	}
	if reg, n, ok := im.cfaAt(last); ok && reg == im.m.SP && im.argumentsAgree(fn, n) {
		return n
	}
	if im.argumentsAgree(fn, at) {
		return at // it has pushed arguments of a call, without a frame
	}
	return 0
}

// argumentsAgree reports whether the arguments that the caller of fn has left on the stack are where the debug
// information says if the stack pointer is dist below the canonical frame address.
func (im entrance) argumentsAgree(fn *function, dist int64) bool {
	args, _ := im.read().arguments(fn)
	base := elffile.EntryFrame(im.m).CFA.Plus(-dist)
	env := fn.u.Env(fn.tree, fn.Entry)
	env.FrameBase = func() (loc.Prog, error) { return base, nil }
	for _, c := range fn.tree.Children {
		place, ok := args[c.Offset]
		if !ok || !place.InMemory {
			continue
		}
		list, err := fn.u.Locations(c, dwarf.AttrLocation)
		if err != nil || len(list) != 1 || !list[0].Default {
			continue
		}
		p, err := dwexpr.Place(list[0].Expr, place.Type, env)
		if err != nil || !p.InMemory {
			continue
		}
		here, ok1 := im.stackOffset(p.Addr)
		there, ok2 := im.stackOffset(place.Addr)
		if ok1 && ok2 && here != there {
			return false
		}
	}
	return true
}

// rebase lets locations at a place with canonical frame address cfa count from what the frame base is in the body
// of fn.
func (im entrance) rebase(fn *function, env *dwexpr.Env) {
	b := im.baseOf(fn)
	if b.reg == im.m.SP && b.dist == 0 {
		env.FrameBase = func() (loc.Prog, error) {
			return loc.Prog{},
				&dwexpr.Unavailable{Reason: "it is told by the stack pointer, and where that is in the " +
					"body of the function is not clear"}
		}
	}
	if b.reg < 0 || b.dist == 0 {
		return
	}
	cfa := env.CFA
	base := func() (loc.Prog, error) {
		p, err := cfa()
		if err != nil {
			return p, err
		}
		return p.Plus(-b.dist), nil
	}
	env.FrameBase = base
	if b.reg == im.m.SP && !byGNU(fn.u) {
		env.SP = base
	}
}

// byGNU reports whether gcc, or another of its compilers, made the unit.
func byGNU(u *dw.Unit) bool { return strings.HasPrefix(u.Producer(), "GNU") }
