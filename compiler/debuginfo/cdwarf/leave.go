package cdwarf

import (
	"fmt"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/clone"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// jumpedTo is why neither the entry nor the returns of a function are exact: its first instruction runs more than
// once a call.
const jumpedTo = "the function's first instruction is also the target of a jump"

// again gives the address of a jump of fn to pc, where it is entered; 0 if there is none that is known.
func (im tracer) again(fn *function, pc uint64) (from uint64) {
	parts, err := im.parts(fn)
	if err != nil {
		return 0
	}
	for _, p := range parts {
		_ = insn.Walk(im.m.Code, p.Code, p.Addr, func(at uint64, in insn.Inst) bool {
			if (in.Kind == insn.Jump || in.Kind == insn.CondJump) && in.Target(at) == pc {
				from = at
			}
			return from == 0
		})
	}
	return from
}

// left reports whether the function of a site is over there, or all but.
func left(k debuginfo.SiteKind) bool {
	return k == debuginfo.AfterRet || k == debuginfo.AtReturn || k == debuginfo.AtTail
}

// ReturnSites are the RETs of f and its jumps to other functions, in all parts of its code. The stack pointer is at
// each of them what it was at the first instruction.
func (im *Image) ReturnSites(f *debuginfo.Func) (sites []debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.of(f)
	if err != nil {
		return nil, err
	}
	if fn == nil {
		return nil, fmt.Errorf("no function at %#x", f.Entry)
	}
	refuse := func(err error) ([]debuginfo.Site, error) {
		return nil, fmt.Errorf("the returns of function %s cannot be probed: %w", f.Name, err)
	}
	parts, err := im.traced().parts(fn)
	if err != nil {
		return refuse(err)
	}
	found, err := insn.FindLeaves(im.m.Code, fn.Entry, parts, im.traced().around(fn))
	if err != nil {
		return refuse(err)
	}
	if len(found.Again) > 0 {
		return refuse(&insn.CodeError{PC: found.Again[0], Reason: jumpedTo})
	}
	frame := elffile.EntryFrame(im.m)
	for _, x := range found.Exits {
		s := debuginfo.Site{PC: x.PC, Kind: debuginfo.AtReturn, Func: f, Insn: x.Inst.Class(), CFA: frame.CFA,
			Return: frame.Return}
		if x.Tail {
			s.Kind = debuginfo.AtTail
		}
		if s.Insn == debuginfo.InsnRefused {
			return refuse(fmt.Errorf("the kernel allows no probe on the instruction at %#x (a lock prefix, or a "+
				"vector instruction)", x.PC))
		}
		if fn.u != nil {
			row, ok, err := fn.u.RowAt(x.PC)
			if err != nil {
				return nil, err
			}
			if ok {
				s.File, s.Line = fn.u.FileOf(row), row.Line
			}
		}
		sites = append(sites, s)
	}
	if len(sites) == 0 {
		return nil, &debuginfo.NoReturnError{Name: f.Name}
	}
	slices.SortFunc(sites, func(a, b debuginfo.Site) int {
		if a.PC < b.PC {
			return -1
		}
		return 1
	})
	return sites, nil
}

// parts are the pieces of code that fn is known to consist of, the one with its entry first.
func (im tracer) parts(fn *function) ([]insn.Part, error) {
	ranges := [][2]uint64{{fn.Entry, fn.End}}
	if fn.tree != nil && len(fn.tree.Ranges) > 0 {
		ranges = slices.Clone(fn.tree.Ranges)
		slices.SortStableFunc(ranges, func(a, b [2]uint64) int {
			return entryLast(b, fn.Entry) - entryLast(a, fn.Entry)
		})
	}
	var parts []insn.Part
	for _, r := range ranges {
		if r[0] >= r[1] {
			continue
		}
		p, err := im.piece(r[0], r[1])
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("it has no code at %#x", fn.Entry)
	}
	return parts, nil
}

func entryLast(r [2]uint64, entry uint64) int {
	if r[0] <= entry && entry < r[1] {
		return 1
	}
	return 0
}

// piece reads the code from lo to hi.
func (im tracer) piece(lo, hi uint64) (insn.Part, error) {
	if hi-lo > maxCode || !im.f.InText(lo) {
		return insn.Part{}, fmt.Errorf("%#x to %#x is no code", lo, hi)
	}
	code, err := im.f.Bytes(lo, int(hi-lo))
	if err == nil && uint64(len(code)) < hi-lo {
		err = fmt.Errorf("the code from %#x to %#x is not whole", lo, hi)
	}
	return insn.Part{Addr: lo, Code: code}, err
}

// around is what is known of fn beside its code.
func (im tracer) around(fn *function) insn.Around {
	a := insn.Around{Word: im.f.Word}
	level := elffile.EntryFrame(im.m).CFA
	a.Level = func(pc uint64) (bool, bool) {
		if pc == fn.Entry {
			return true, true
		}
		fr, err := im.f.Frame(pc)
		if err != nil || fr.CFA.Empty() {
			return false, false
		}
		return slices.Equal(fr.CFA.Steps, level.Steps), true
	}
	a.Thunk = func(pc uint64) bool {
		return slices.ContainsFunc(im.syms.SymbolsAt(pc),
			func(s elffile.Symbol) bool { return s.Name == im.m.ReturnThunk })
	}
	a.More = func(pc uint64, level, known bool) (insn.Part, bool) { return im.more(fn, pc, known && !level) }
	if fn.u != nil {
		if rows, err := fn.u.Rows(); err == nil {
			for _, r := range rows {
				if !r.End && r.Stmt && fn.tree.ContainsPC(r.PC) {
					a.Marks = append(a.Marks, r.PC)
				}
			}
			slices.Sort(a.Marks)
		}
	}
	return a
}

// more finds the piece of fn's code that has pc, to which fn jumps. mid says that it does so with a frame of its
// own on the stack, so that it is no other function that is jumped to. What debug information says about the parts
// of a function is all.
func (im tracer) more(fn *function, pc uint64, mid bool) (p insn.Part, ok bool) {
	if fn.tree != nil && len(fn.tree.Ranges) > 0 || !im.own(pc) {
		return p, false
	}
	own := fn.Symbol
	if own == "" {
		own = fn.Name
	}
	own, _, _ = clone.Of(own)
	s, named := im.f.SymbolAt(pc)
	named = named && s.Func()
	if named && s.Size > 0 {
		if base, _, cold := clone.Of(s.Name); cold && base == own {
			p, err := im.piece(s.Addr, s.Addr+s.Size)
			return p, err == nil
		}
		return p, false
	}
	lo, hi, ok := im.f.FrameRange(pc)
	if !ok || len(im.syms.SymbolsAt(lo)) > 0 {
		return p, false
	}
	p, err := im.piece(lo, hi)
	if err != nil {
		return p, false
	}
	if mid {
		return p, true
	}
	// A function without a name, or the unlikely part of this one: that goes back to it in the middle, or to nowhere.
	back, ends := false, true
	err = insn.Walk(im.m.Code, p.Code, p.Addr, func(at uint64, in insn.Inst) bool {
		switch in.Kind {
		case insn.Jump, insn.CondJump:
			t := in.Target(at)
			back = back || t > fn.Entry && t < fn.End
			ends = ends && t >= lo && t < hi
		case insn.Ret, insn.IndirectJump:
			ends = false
		}
		return !back
	})
	return p, err == nil && (back || ends)
}
