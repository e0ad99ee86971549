package cdwarf

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// maxCode bounds what is decoded of one function.
const maxCode = 1 << 22

// entryPlan is how a function is probed at its entry.
type entryPlan struct {
	pc uint64 // the entry site
	// homes are the variables with one location for the whole function that holds only once the function
	// has put them there.
	homes map[dwarf.Offset]bool
	// untracked are the variables in registers of code that was optimised without following them.
	untracked map[dwarf.Offset]bool
	// optimized: the function is optimised. Then nothing is known about when, and whether, parameters get to
	// their homes.
	optimized bool
	// settled is the first pc at which homes hold, 0 if not known.
	settled uint64
	// args are the parameters' places at the function's first instruction by the calling convention,
	// by entry offset, as far as they can be told.
	args map[dwarf.Offset]loc.Place
}

// EntrySite is the pc to probe for "f is called".
//
// It is the first instruction: that fires once a call, and costs least in code that begins with a
// push, which the kernel emulates. Location lists (optimised code) tell the truth there. A location
// that is said to hold in the whole function (code without optimisation, and what has its address
// taken) does not: the prologue has yet to store the parameter. Then it is where the
// calling convention has it. Where the convention does not tell, or has parameters in vector
// registers (which eBPF cannot read), the site in code without optimisation is behind the prologue, as debuggers
// do it: at the second address of the line table that begins a statement, if nothing jumps back there.
//
// An endbr64 (a landing) in front is passed over when what follows is cheaper.
func (im *Image) EntrySite(f *debuginfo.Func) (s debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.of(f)
	if err != nil {
		return s, err
	}
	if fn == nil {
		return s, fmt.Errorf("no function at %#x", f.Entry)
	}
	p, err := im.entered().planOf(fn)
	if err != nil {
		return s, err
	}
	pc := p.pc
	if again := im.traced().again(fn, pc); again != 0 {
		if pc == fn.Entry || pc != im.entered().behindLanding(fn.Entry) || im.traced().again(fn, fn.Entry) != 0 {
			return s, fmt.Errorf("function %s cannot be probed at its entry: %w", f.Name,
				&insn.CodeError{PC: again, Reason: jumpedTo})
		}
		pc = fn.Entry
	}
	s, err = im.site(fn, pc, debuginfo.AtEntry)
	s.Func, s.File, s.Line = f, fn.File, fn.Line
	return s, err
}

// SiteAt classifies the instruction at pc.
func (im *Image) SiteAt(pc uint64) (s debuginfo.Site, err error) {
	defer foreign.Guard(&err)()
	fn, err := im.at(pc)
	if err != nil {
		return s, err
	}
	if fn == nil {
		return s, fmt.Errorf("no function of %s covers address %#x", im.f.Path(), pc)
	}
	low, code, err := im.code(fn, pc)
	if err != nil {
		return s, err
	}
	if _, err := insn.At(im.m.Code, code, low, pc); err != nil {
		return s, fmt.Errorf("%s: %w", fn.Name, err)
	}
	kind := debuginfo.AtLine
	if pc == fn.Entry {
		kind = debuginfo.AtEntry
	}
	return im.site(fn, pc, kind)
}

// code gives the part of the function that holds pc, and its address. Optimised functions may have several.
func (im *Image) code(fn *function, pc uint64) (low uint64, code []byte, err error) {
	low, end := fn.Entry, fn.End
	if fn.tree != nil {
		for _, r := range fn.tree.Ranges {
			if r[0] <= pc && pc < r[1] {
				low, end = r[0], r[1]
			}
		}
	}
	if pc < low || pc >= end || end-low > maxCode {
		return 0, nil, fmt.Errorf("%s has no code at %#x", fn.Name, pc)
	}
	code, err = im.f.Bytes(low, int(end-low))
	return low, code, err
}

// site describes pc, which must begin an instruction of fn.
func (im *Image) site(fn *function, pc uint64, kind debuginfo.SiteKind) (debuginfo.Site, error) {
	s := debuginfo.Site{PC: pc, Kind: kind, Func: &fn.Func}
	if b, err := im.f.Bytes(pc, 16); err != nil {
		return s, err
	} else if in, err := insn.Decode(im.m.Code, b); err == nil {
		s.Insn = in.Class()
	}
	if fn.u != nil {
		row, ok, err := fn.u.RowAt(pc)
		if err != nil {
			return s, err
		}
		if ok {
			s.File, s.Line = fn.u.FileOf(row), row.Line
		}
		if in := dw.InlineStack(fn.tree, pc); len(in) > 0 && kind != debuginfo.AtEntry {
			if s.Inline, err = im.traced().inlineSite(fn, in[0]); err != nil {
				return s, err
			}
		}
	}
	fr, err := im.frame(fn, pc)
	if err == nil {
		s.CFA, s.Return = fr.CFA, fr.Return
	}
	return s, nil
}

// frame is the frame at pc; at the function's first instruction it is known without any information.
func (im *Image) frame(fn *function, pc uint64) (elffile.Frame, error) {
	if pc == fn.Entry {
		return im.first, nil
	}
	fr, err := im.f.Frame(pc)
	if err != nil && pc == im.entered().behindLanding(fn.Entry) {
		return im.first, nil
	}
	return fr, err
}

// behindLanding is the address behind an instruction at pc that marks where computed jumps may lead to, else pc.
func (im entrance) behindLanding(pc uint64) uint64 {
	if b, err := im.f.Bytes(pc, 4); err == nil {
		return pc + uint64(im.m.Code.Landing(b))
	}
	return pc
}

// firstInsn is the pc of the cheapest of the instructions at which the state is that at the entry.
func (im entrance) firstInsn(fn *function) uint64 {
	class := func(pc uint64) debuginfo.Insn {
		if b, err := im.f.Bytes(pc, 16); err == nil {
			if in, err := insn.Decode(im.m.Code, b); err == nil {
				return in.Class()
			}
		}
		return debuginfo.InsnUnknown
	}
	if next := im.behindLanding(fn.Entry); next < fn.End && class(next).Emulated() && !class(fn.Entry).Emulated() {
		return next
	}
	return fn.Entry
}

func (im entrance) planOf(fn *function) (*entryPlan, error) {
	if fn.plan == nil {
		p, err := im.makePlan(fn)
		if err != nil {
			return nil, err
		}
		fn.plan = p
	}
	return fn.plan, nil
}

func (im entrance) makePlan(fn *function) (*entryPlan, error) {
	p := &entryPlan{pc: im.firstInsn(fn)}
	if fn.tree == nil {
		return p, nil
	}
	producer := fn.u.Producer()
	p.optimized = optimizes(producer)
	vars := slices.DeleteFunc(dw.AllVars(fn.tree), func(v dw.ScopeVar) bool { return v.In != fn.tree })
	lists := make([][]dwexpr.LocRange, len(vars))
	for i, v := range vars {
		list, err := fn.u.Locations(v, dwarf.AttrLocation)
		if err != nil {
			continue
		}
		lists[i] = list
		p.optimized = p.optimized || len(list) > 0 && !list[0].Default
	}
	var vector bool
	if !p.optimized || im.callable(fn) {
		// Callers of a local function are all known, so that gcc need not pass what it can work out.
		p.args, vector = im.read().arguments(fn)
	}
	// gcc follows variables through optimised code; what it then says about a register holds.
	tracked := p.optimized && !strings.Contains(producer, "-fno-var-tracking")
	p.homes, p.untracked = map[dwarf.Offset]bool{}, map[dwarf.Offset]bool{}
	known, params := true, false
	for i, v := range vars {
		if len(lists[i]) != 1 || !lists[i][0].Default {
			continue
		}
		if dwexpr.InRegister(im.m, lists[i][0].Expr) {
			if tracked {
				continue
			}
			p.untracked[v.Offset] = p.optimized
		}
		place, ok := p.args[v.Offset]
		if !im.isHome(fn, v.Tree, lists[i][0].Expr, place) {
			continue
		}
		p.homes[v.Offset] = true
		if v.Tag == dwarf.TagFormalParameter {
			params = true
			known = known && ok
		}
	}
	if len(p.homes) == 0 {
		return p, nil
	}
	behind, once := im.behindPrologue(fn)
	p.settled = behind
	if params && !p.optimized && (!known || vector) && once {
		p.pc = behind
	}
	return p, nil
}

// callable reports whether the function can be called from other files, so that it keeps to
// the calling convention. DW_AT_external does not tell: link-time optimisation makes functions local.
func (im entrance) callable(fn *function) bool {
	for _, s := range im.syms.SymbolsAt(fn.Entry) {
		if s.Func() && s.Global {
			return true
		}
	}
	return false
}

// optimizes reports whether the compiler's recorded options ask for optimisation. gcc records them, clang
// does not.
func optimizes(producer string) bool {
	on := false
	for f := range strings.FieldsSeq(producer) {
		if strings.HasPrefix(f, "-O") {
			on = f != "-O0"
		}
	}
	return on
}

// isHome reports whether the variable has one location for the whole function that the caller has not
// filled: a stack slot of the function's own frame, or a register other than that of the calling convention.
func (im entrance) isHome(fn *function, v *godwarf.Tree, expr []byte, byABI loc.Place) bool {
	t, err := im.types.TypeOf(v)
	if err != nil {
		return false
	}
	env := fn.u.Env(fn.tree, fn.Entry)
	im.rebase(fn, env)
	pl, err := dwexpr.Place(expr, t, env)
	if err != nil {
		return false
	}
	if pl.InMemory {
		if off, ok := im.stackOffset(pl.Addr); ok && off >= 8 {
			return false // above the return address: the caller's
		}
		return usesRegisters(pl)
	}
	return usesRegisters(pl) && !samePieces(pl, byABI)
}

func samePieces(a, b loc.Place) bool {
	return !b.InMemory && slices.EqualFunc(a.Pieces, b.Pieces, func(x, y loc.Piece) bool {
		return x.Off == y.Off && x.Size == y.Size && x.Vector == y.Vector && x.Lost == y.Lost &&
			slices.Equal(x.Val.Steps, y.Val.Steps)
	})
}

// stackOffset is n if p is the stack pointer plus n.
func (im entrance) stackOffset(p loc.Prog) (int64, bool) {
	reg, off, ok := addressed(p)
	return off, ok && reg == int64(im.m.SP)
}

// usesRegisters reports whether a place depends on the state of the program at the site, other than
// its memory.
func usesRegisters(p loc.Place) bool {
	uses := func(p loc.Prog) bool {
		for _, s := range p.Steps {
			if s.Op == loc.Reg {
				return true
			}
		}
		return false
	}
	if p.InMemory {
		return uses(p.Addr)
	}
	for _, x := range p.Pieces {
		if x.Vector != 0 || uses(x.Val) {
			return true
		}
	}
	return false
}

// behindPrologue finds the first statement behind the prologue by the line table: the row that says so, else
// the second address with a row. once is whether it is reached exactly once in a call.
func (im entrance) behindPrologue(fn *function) (pc uint64, once bool) {
	rows, err := fn.u.Rows()
	if err != nil {
		return 0, false
	}
	for _, r := range rows {
		if r.End || r.PC <= fn.Entry || r.PC >= fn.End {
			continue
		}
		if r.PrologueEnd {
			pc = r.PC
			break
		}
		if r.Stmt && r.Line != 0 && (pc == 0 || r.PC < pc) {
			pc = r.PC
		}
	}
	if pc == 0 || fn.End-fn.Entry > maxCode {
		return 0, false
	}
	code, err := im.f.Bytes(fn.Entry, int(fn.End-fn.Entry))
	if err != nil {
		return 0, false
	}
	once, begins := len(fn.tree.Ranges) == 1, false
	err = insn.Walk(im.m.Code, code, fn.Entry, func(at uint64, in insn.Inst) bool {
		begins = begins || at == pc
		switch in.Kind {
		case insn.Jump, insn.CondJump:
			to := in.Target(at)
			// Jumps over a part of the prologue (the vector registers of variadic functions) are fine.
			if to > fn.Entry && to <= pc && (at >= pc || to <= at) || at < pc && to > pc {
				once = false
			}
		case insn.IndirectJump:
			if in.Table || at < pc { // where it goes is not known
				once = false
			}
		case insn.Ret, insn.Trap:
			if at < pc {
				once = false
			}
		}
		return true
	})
	if err != nil || !begins {
		return pc, false
	}
	return pc, once
}
