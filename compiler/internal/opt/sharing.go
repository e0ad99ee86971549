package opt

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// InferSharing finds out how handlers that can interleave use each global: Constant if none of
// them writes it; Quiet if all of them only add to it without looking at what comes out; Shared
// otherwise. All handlers can interleave but those of begin, end and error probes. A probe's condition
// is a look at its global. Cost: a walk over the program.
func InferSharing(p *ir.Program) {
	read := make([]bool, len(p.Globals))
	written := make([]bool, len(p.Globals))
	look := func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			if !accesses(in.Op) {
				return
			}
			switch w := writes(in.Op); {
			case !w:
				read[in.Glob] = true
			case quiet(in):
				written[in.Glob] = true
			default:
				read[in.Glob], written[in.Glob] = true, true
			}
		})
	}
	reached := reachedFrom(p, concurrent)
	for f := range reached {
		look(f)
	}
	for _, pr := range p.Probes {
		if pr.Cond >= 0 && concurrent(pr) {
			read[pr.Cond] = true
		}
	}
	for i, g := range p.Globals {
		switch {
		case !written[i]:
			g.Sharing = ir.Constant
		case !read[i] || g.Internal: // an element of those belongs to one call, which runs one handler at a time
			g.Sharing = ir.Quiet
		default:
			g.Sharing = ir.Shared
		}
	}
}

// quiet reports whether in adds to a global and drops what it was before: such updates give the same in
// whatever order.
func quiet(in *ir.Instr) bool {
	switch in.Op {
	case ir.OpGAdd, ir.OpMAdd:
		return in.Dst == ir.NoReg
	case ir.OpSAdd:
		return true
	}
	return false
}

// concurrent reports whether pr's handler can run at the same time as others.
func concurrent(pr *ir.Probe) bool {
	for _, s := range pr.Sites {
		switch s.Kind {
		case probe.Begin, probe.End, probe.ErrorEnd, probe.Never:
		default:
			return true
		}
	}
	return false
}

// reachedFrom gives the handlers of the probes that which picks, and the functions that they reach.
func reachedFrom(p *ir.Program, which func(*ir.Probe) bool) map[*ir.Func]bool {
	byName := make(map[string]*ir.Func, len(p.Funcs))
	for _, f := range p.Funcs {
		byName[f.Name] = f
	}
	seen := map[*ir.Func]bool{}
	var work []*ir.Func
	for _, pr := range p.Probes {
		if which(pr) {
			seen[pr.Handler] = true
			work = append(work, pr.Handler)
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		eachInstr(f, func(in *ir.Instr) {
			if c := byName[in.Name]; in.Op == ir.OpCall && c != nil && !seen[c] {
				seen[c] = true
				work = append(work, c)
			}
		})
	}
	return seen
}
