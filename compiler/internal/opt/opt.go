// Package opt makes programs smaller and cheaper without changing what they print,
// and gives them the locks that make handlers atomic towards globals.
//
// In: an ir.Program that verifies, fresh from lowering. Out: the same Program, changed
// in place, which still verifies. Passes lists what is done, in order; each pass is a function
// of its own and can be run alone.
//
// What a program may notice of it: a read of the probed program whose value is not used is not
// done, so its fault is not reported (as in stap); MAXNESTING counts calls that were not
// inlined.
package opt

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// Options choose what Run does.
type Options struct {
	// Off leaves out everything that only saves work (-u); what back ends rely on is still done.
	Off bool
	// Apart leaves out the locks that make handlers atomic: each access to a global is, and others may come in between.
	Apart bool
	// After, if not nil, is called with the name of each pass that has been run.
	After func(pass string)
}

// Pass is one step of Run.
type Pass struct {
	Name string
	Run  func(*ir.Program)
	// Needed says that back ends rely on it.
	Needed bool
}

// Passes are the steps of Run, in order.
var Passes = []Pass{
	{"remove-unused", RemoveUnused, false}, // first, so that nothing is spent on what is not reached
	{"inline-calls", InlineCalls, false},   // before folding: arguments become known
	{"fold-constants", FoldConstants, false},
	{"simplify-flow", SimplifyFlow, false},
	{"remove-dead", RemoveDead, false},
	// Once more: first values that turned out dead leave registers with one definition, which fold.
	{"fold-constants", FoldConstants, false},
	{"simplify-flow", SimplifyFlow, false},
	{"remove-dead", RemoveDead, false},
	{"join-probes", JoinProbes, false}, // before bounds and merging, which would look at each
	{"join-tails", JoinTails, false},   // of those that are left, what only ends alike
	{"infer-caps", InferCaps, true},    // before fusing, which has to know that nothing is cut
	{"fuse-sprints", FuseSprints, false},
	{"merge-prints", MergePrints, false},
	{"spell-texts", SpellTexts, true},    // when it is known what is only printed
	{"merge-probes", MergeProbes, false}, // when handlers are as small as they get
	{"drop-budgets", DropBudgets, false}, // behind merging, which goes by them
	{"simplify-flow", SimplifyFlow, false},
	{"merge-prints", MergePrints, false}, // again: merging and dropping made new neighbours
	{"remove-dead", RemoveDead, false},
	{"join-probes", JoinProbes, false}, // again: without budgets more of them are the same
	{"name-sites", NameSites, false},
	{"merge-prints", MergePrints, false},
	{"remove-dead", RemoveDead, false},
	{"remove-unused", RemoveUnused, false},
	{"infer-sharing", InferSharing, true}, // when no access will go away any more
	{insertLocks, InsertLocks, true},
}

// Run runs the passes over p.
func Run(p *ir.Program, o Options) {
	for _, pass := range Passes {
		if o.Off && !pass.Needed {
			continue
		}
		if o.Apart && pass.Name == insertLocks {
			insertSomeLocks(p)
		} else {
			pass.Run(p)
		}
		if o.After != nil {
			o.After(pass.Name)
		}
	}
}

// eachFunc calls fn for all functions and handlers.
func eachFunc(p *ir.Program, fn func(*ir.Func)) {
	for _, f := range p.Funcs {
		fn(f)
	}
	for _, pr := range p.Probes {
		fn(pr.Handler)
	}
}

// eachInstr calls fn for all instructions of f.
func eachInstr(f *ir.Func, fn func(*ir.Instr)) {
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			fn(&b.Instrs[i])
		}
	}
}

// accesses reports whether op looks at or changes a global when it runs; elements of a loop are fixed when
// it is opened.
func accesses(op ir.Op) bool {
	return op.OnGlobal() && op != ir.OpIterNext && op != ir.OpIterKey && op != ir.OpIterVal
}

// writes reports whether op changes a global.
func writes(op ir.Op) bool {
	switch op {
	case ir.OpGSet, ir.OpGAdd, ir.OpMSet, ir.OpMAdd, ir.OpMDel, ir.OpMClear, ir.OpSAdd:
		return true
	}
	return false
}

// unneeded reports whether in can go when nobody uses its result. Reads of the probed program count as
// such even though they may fault.
func unneeded(p *ir.Program, in *ir.Instr) bool {
	switch in.Op {
	case ir.OpGSet, ir.OpGAdd, ir.OpMSet, ir.OpMAdd, ir.OpMDel, ir.OpMClear, ir.OpSAdd, ir.OpIterOpen, ir.OpIterNext,
		ir.OpPrint, ir.OpMatch, ir.OpPrintHist, ir.OpSprintHist, ir.OpCall, ir.OpBudget, ir.OpLock, ir.OpUnlock,
		ir.OpReport, ir.OpStore, ir.OpSetReg, ir.OpReply:
		return false
	case ir.OpEmbed:
		return pure(p, in)
	case ir.OpIntr:
		return in.Builtin().Removable()
	case ir.OpSGet:
		return !p.MayFail(in)
	}
	return true
}

// pure reports whether the C that in runs only finds something out.
func pure(p *ir.Program, in *ir.Instr) bool {
	c := p.CodeOf(in)
	if c == nil || !c.Pure {
		return false
	}
	for _, g := range c.Globs {
		if g.Write {
			return false
		}
	}
	return true
}

// eachUse calls fn for every global that in looks at or changes when it runs.
func eachUse(p *ir.Program, in *ir.Instr, fn func(glob int, read, write bool)) {
	if accesses(in.Op) {
		w := writes(in.Op)
		fn(in.Glob, !w || !quiet(in), w)
		return
	}
	if c := p.CodeOf(in); c != nil {
		for _, g := range c.Globs {
			fn(g.Glob, g.Read, g.Write)
		}
	}
}

// uses calls fn for each register operand of vs.
func uses(vs []ir.Val, fn func(*ir.Val)) {
	for i := range vs {
		if vs[i].Kind == ir.ValReg {
			fn(&vs[i])
		}
	}
}

// termUses calls fn for each register operand of t.
func termUses(t *ir.Term, fn func(*ir.Val)) {
	if t.Cond.Kind == ir.ValReg {
		fn(&t.Cond)
	}
	uses(t.Args, fn)
}

// preds counts the edges into each block, the way in and error edges included.
func preds(f *ir.Func) []int {
	n := make([]int, len(f.Blocks))
	n[0] = 1
	for b := range f.Blocks {
		f.Succs(ir.BlockID(b), func(to ir.BlockID, _ bool) { n[to]++ })
	}
	return n
}

// capOf is the most bytes that string operand v has.
func capOf(f *ir.Func, v ir.Val) int {
	switch v.Kind {
	case ir.ValStr:
		return len(v.Str)
	case ir.ValReg:
		if f.Regs[v.Reg].Type == types.String {
			return f.Regs[v.Reg].Cap
		}
	}
	return 0
}

// singleDefs gives for each register its only definition, nil when it has none or several. Parameters
// have one at the way in, which is not an instruction, so they have none here.
//
// Verify demands that every use comes behind a definition on all paths. For a register r with one
// definition that reads only registers with one definition (or parameters that are never
// written), this means more: whenever r is used, these registers still have the values they had
// when r was computed. For if one of them, x, had been computed again since, the path that
// leads from x's first computation over that same way to the use would not have computed r at all.
func singleDefs(f *ir.Func) (defs []*ir.Instr, count []int32) {
	defs = make([]*ir.Instr, len(f.Regs))
	count = make([]int32, len(f.Regs))
	for _, r := range f.Params {
		count[r]++
	}
	eachInstr(f, func(in *ir.Instr) {
		if in.Dst != ir.NoReg {
			count[in.Dst]++
			defs[in.Dst] = in
		}
	})
	for r, n := range count {
		if n != 1 {
			defs[r] = nil
		}
	}
	return defs, count
}
