package opt

import (
	"slices"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// MergeProbes makes one handler of the handlers of probes at the same sites, so that a hit costs
// one entry into the kernel's machinery. They run in the order of the script; an error of the first is
// reported and does not stop the second. Handlers stay apart when one may skip the hit, the first
// may end the session, one does what a back end may have to do later on the host, when together they
// could use up the action budget, and when a probe between them shares a site with them. Probes
// that fire in the tracer itself gain nothing and stay. Cost: linear in probes and sites.
func MergeProbes(p *ir.Program) {
	m := &probeMerger{p: p, last: map[siteKey]int{}}
	kept := p.Probes[:0]
	for _, pr := range p.Probes {
		if i := m.partner(kept, pr); i >= 0 {
			m.merge(kept[i], pr)
			continue
		}
		for _, s := range pr.Sites {
			m.last[keyOf(s)] = len(kept)
		}
		kept = append(kept, pr)
	}
	clear(p.Probes[len(kept):])
	p.Probes = kept
}

// siteKey is what makes two sites the same place.
type siteKey struct {
	kind          probe.Kind
	path          string
	pid           int
	target        bool
	exe           string
	offset        uint64
	event, symbol string
	syscall       int
	perf          probe.PerfEvent
}

func keyOf(s *probe.Site) siteKey {
	p := &s.Program
	return siteKey{s.Kind, p.Path, p.PID, p.Target, p.Exe, s.Offset(), s.Event, s.Kernel.Symbol, s.Syscall.Nr, s.Perf}
}

type probeMerger struct {
	p    *ir.Program
	last map[siteKey]int // index of the last probe at each site
}

// partner finds the probe that pr can be merged into, -1 if there is none.
func (m *probeMerger) partner(kept []*ir.Probe, pr *ir.Probe) int {
	if len(pr.Sites) == 0 {
		return -1
	}
	i, ok := m.last[keyOf(pr.Sites[0])]
	if !ok || kept[i].Cond != pr.Cond || len(kept[i].Sites) != len(pr.Sites) {
		return -1
	}
	first := kept[i]
	if pr.Cond >= 0 && m.sets(first.Handler, pr.Cond) {
		return -1 // the second one's condition is looked at after the first has run
	}
	names := m.named(first.Handler) && m.named(pr.Handler)
	for j, s := range pr.Sites {
		o := first.Sites[j]
		if s.Kind.OnHost() || keyOf(s) != keyOf(o) || s.Program.RefCtr != o.Program.RefCtr || s.At.Kind != o.At.Kind ||
			m.last[keyOf(s)] != i {
			return -1
		}
		if names && (s.Point != o.Point || s.Func != o.Func || s.Alias != o.Alias) {
			return -1
		}
	}
	if m.apart(first.Handler) || m.apart(pr.Handler) || m.ends(first.Handler) {
		return -1
	}
	a, ok1 := statements(first.Handler)
	b, ok2 := statements(pr.Handler)
	if !ok1 || !ok2 || a+b > int64(m.p.Limits.MaxAction) {
		return -1
	}
	return i
}

// reach reports whether fn is true for an instruction of f or of the functions that it reaches.
func (m *probeMerger) reach(f *ir.Func, fn func(*ir.Instr) bool) bool {
	for f := range m.p.Reached(f) {
		for _, b := range f.Blocks {
			for i := range b.Instrs {
				if fn(&b.Instrs[i]) {
					return true
				}
			}
		}
	}
	return false
}

func (m *probeMerger) sets(f *ir.Func, glob int) bool {
	return m.reach(f, func(in *ir.Instr) bool {
		found := false
		eachUse(m.p, in, func(g int, _, write bool) { found = found || write && g == glob })
		return found
	})
}

// named reports whether f asks for what its site is called.
func (m *probeMerger) named(f *ir.Func) bool {
	return m.reach(f, func(in *ir.Instr) bool { return in.Op == ir.OpSite })
}

// ends reports whether f may end the session: the second handler would not run then.
func (m *probeMerger) ends(f *ir.Func) bool {
	return m.reach(f, (*ir.Instr).MayEnd)
}

// apart reports whether f has to stay alone: it may skip its hit, or does what kernels cannot, so that
// the whole handler might be moved to the host. A text that the host makes is nothing of that kind if it is only
// printed.
func (m *probeMerger) apart(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if b.Term.Kind == ir.TermSkip {
			return true
		}
	}
	for fn := range m.p.Reached(f) {
		printed := ir.PrintedOnly(fn)
		for _, b := range fn.Blocks {
			for i := range b.Instrs {
				if in := &b.Instrs[i]; in.Op == ir.OpIntr && in.Builtin().Where == intrinsic.PrintOnly &&
					in.Dst != ir.NoReg && !printed[in.Dst] {
					return true
				}
			}
		}
	}
	return m.reach(f, func(in *ir.Instr) bool {
		switch in.Op {
		case ir.OpIterOpen, ir.OpPrintHist, ir.OpSprintHist, ir.OpSGet, ir.OpMClear, ir.OpLock, ir.OpMatch, ir.OpEmbed:
			return true
		case ir.OpIntr:
			return in.Builtin().Where == intrinsic.HostOnly
		}
		return slices.ContainsFunc(in.Args, func(v ir.Val) bool { return v.Kind == ir.ValStar })
	})
}

// merge appends the handler of b to that of a.
func (m *probeMerger) merge(a, b *ir.Probe) {
	f, g := a.Handler, b.Handler
	if m.named(g) {
		a.Sites = b.Sites
	}
	a.Name += ", " + b.Name
	reg0, block0 := ir.Reg(len(f.Regs)), ir.BlockID(len(f.Blocks))
	second := block0 + 1
	report := &ir.Block{
		Instrs: []ir.Instr{{Op: ir.OpReport, Dst: ir.NoReg, Glob: -1, OnErr: ir.NoBlock, Pos: g.Pos}},
		Term:   ir.Term{Kind: ir.TermJump, Then: second, OnErr: ir.NoBlock},
	}
	for _, blk := range f.Blocks {
		for i := range blk.Instrs {
			if in := &blk.Instrs[i]; in.Op.CanFail() && in.OnErr == ir.NoBlock {
				in.OnErr = block0
			}
		}
		switch t := &blk.Term; {
		case t.Kind == ir.TermEnd:
			*t = ir.Term{Kind: ir.TermJump, Then: second, OnErr: ir.NoBlock, Pos: t.Pos}
		case t.Kind == ir.TermFail && t.OnErr == ir.NoBlock:
			t.OnErr = block0
		}
	}
	f.Blocks = append(f.Blocks, report)
	f.Regs = append(f.Regs, g.Regs...)
	shift := func(v *ir.Val) { v.Reg += reg0 }
	for _, blk := range g.Blocks {
		blk = &ir.Block{Instrs: slices.Clone(blk.Instrs), Term: blk.Term}
		for i := range blk.Instrs {
			in := &blk.Instrs[i]
			in.Args = slices.Clone(in.Args)
			uses(in.Args, shift)
			if in.Dst != ir.NoReg {
				in.Dst += reg0
			}
		}
		blk.Term.Args = slices.Clone(blk.Term.Args)
		termUses(&blk.Term, shift)
		renumber(blk, func(id ir.BlockID) ir.BlockID { return id + second })
		f.Blocks = append(f.Blocks, blk)
	}
}
