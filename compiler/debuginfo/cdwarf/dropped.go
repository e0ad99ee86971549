package cdwarf

import (
	"debug/dwarf"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/sysv"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
	"github.com/gostap/gostap/compiler/types"
)

// Attributes of functions that LLVM has optimised.
const (
	attrCallAllCalls    = dwarf.Attr(0x7a)
	attrGNUAllCallSites = dwarf.Attr(0x2117)
)

// dropped reports whether the compiler may have taken the result at pl away, or a part of it, and names the
// register that is in doubt. LLVM does so in functions of which it knows all calls, when those use none of it or
// know what it will be; the register then has what was left there. gcc gives such functions other symbols.
//
// What shows that a register has its part of the result is an instruction of the function that puts it there for the
// return, or one of a caller that takes it from there. depth is how many callers the question has gone up.
func (im reader) dropped(fn *function, pl loc.Place, depth int) (reg string, ok bool) {
	if byGNU(fn.u) || im.entered().callable(fn) ||
		dw.Flag(fn.tree, dwarf.AttrExternal) && !fn.u.RefersToOthers() {
		return "", false
	}
	p, err := im.entered().planOf(fn)
	if err == nil && !p.optimized && !dw.Flag(fn.tree, attrCallAllCalls) && !dw.Flag(fn.tree, attrGNUAllCallSites) {
		return "", false
	}
	_, code, err := im.code(fn, fn.Entry)
	kept := func(reg int, slots bool) bool {
		return err == nil && insn.SetForReturn(im.m.Code, code, fn.Entry, reg, slots) || im.taken(fn, reg, depth)
	}
	if first := im.m.C.Results[0]; pl.InMemory && !kept(first, true) {
		return im.m.RegName(uint64(first)), true // the address; LLVM hands on none of what is not read behind the call
	}
	for i, x := range pl.Pieces {
		if x.Vector != 0 {
			return im.m.RegName(uint64(im.m.Vector + x.Vector - 1)), true
		}
		if n := im.m.C.Results[i]; !kept(n, false) {
			return im.m.RegName(uint64(n)), true
		}
	}
	return "", false
}

// maxCallers bounds how many callers the question goes up, from one function to that which hands its result on.
const maxCallers = 3

// taken reports whether a direct caller of fn takes what fn leaves in a register: reads it behind the call, or hands it
// on as its own result, if that has it for sure. In C a function that is to return something may end without, so that
// there a return right behind the call shows nothing.
func (im reader) taken(fn *function, reg, depth int) bool {
	for _, pc := range im.callersIn(fn.u)[fn.Entry] {
		g, err := im.at(pc)
		if err != nil || g == nil || g.tree == nil {
			continue
		}
		low, code, err := im.code(g, pc)
		if err != nil {
			continue
		}
		in, err := insn.At(im.m.Code, code, low, pc)
		if err != nil {
			continue
		}
		read, returned := false, in.Kind == insn.Jump
		if in.Kind == insn.Call {
			read, returned = insn.Taken(im.m.Code, code, low, pc+uint64(in.Len), reg)
		}
		if read || returned && depth < maxCallers && !isC(g.u) && g.Entry != fn.Entry && im.handsOn(g, reg, depth+1) {
			return true
		}
	}
	return false
}

// handsOn reports whether the result of g is in reg, or a part of it, for sure.
func (im reader) handsOn(g *function, reg, depth int) bool {
	t, err := im.types.TypeOf(g.tree)
	if err != nil || t.Kind == types.Void {
		return false
	}
	pl, why := sysv.Result(im.m, t, im.passing(g, g.tree, t) == dwtype.ByReference)
	if why != "" {
		return false
	}
	in := pl.InMemory && reg == im.m.C.Results[0]
	for _, x := range pl.Pieces {
		in = in || x.Vector == 0 && slices.Equal(x.Val.Steps, loc.Register(reg).Steps)
	}
	if !in {
		return false
	}
	_, gone := im.dropped(g, pl, depth)
	return !gone
}

// callersIn lists the direct calls, and the jumps, in the code of u by where they lead.
func (im reader) callersIn(u *dw.Unit) map[uint64][]uint64 {
	if list, ok := im.callers[u]; ok {
		return list
	}
	list := map[uint64][]uint64{}
	ranges, _ := u.Ranges()
	for _, r := range ranges {
		if r[1]-r[0] > maxCode || !im.f.InText(r[0]) {
			continue
		}
		code, err := im.f.Bytes(r[0], int(r[1]-r[0]))
		if err != nil {
			continue
		}
		_ = insn.Walk(im.m.Code, code, r[0], func(pc uint64, in insn.Inst) bool {
			if in.Kind == insn.Call || in.Kind == insn.Jump {
				list[in.Target(pc)] = append(list[in.Target(pc)], pc)
			}
			return true
		})
	}
	if im.callers == nil {
		im.callers = map[*dw.Unit]map[uint64][]uint64{}
	}
	im.callers[u] = list
	return list
}
