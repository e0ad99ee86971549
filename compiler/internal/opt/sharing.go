package opt

import (
	"github.com/gostap/gostap/compiler/ir"
)

// InferSharing finds out how handlers that can interleave use each global: Constant if none of
// them writes it; Quiet if all of them only add to it without looking at what comes out; Private
// if each element belongs to one thread, or to one call (Internal); Shared otherwise. All handlers can
// interleave but those of begin, end and error probes. A probe's condition is a look at its global.
// Cost: a walk over the program.
func InferSharing(p *ir.Program) {
	read := make([]bool, len(p.Globals))
	written := make([]bool, len(p.Globals))
	look := func(f *ir.Func) {
		eachInstr(f, func(in *ir.Instr) {
			eachUse(p, in, func(g int, r, w bool) {
				read[g], written[g] = read[g] || r, written[g] || w
				if w && in.Op == ir.OpEmbed {
					read[g] = true // C may look at what it has written
				}
			})
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
	private := byThread(p)
	for i, g := range p.Globals {
		switch {
		case !written[i]:
			g.Sharing = ir.Constant
		case !read[i]:
			g.Sharing = ir.Quiet
		case g.Internal || private[i]:
			g.Sharing = ir.Private
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
		if !s.Kind.Serial() {
			return true
		}
	}
	return false
}

// reachedFrom gives the handlers of the probes that which picks, and the functions that they reach.
func reachedFrom(p *ir.Program, which func(*ir.Probe) bool) map[*ir.Func]bool {
	var from []*ir.Func
	for _, pr := range p.Probes {
		if which(pr) {
			from = append(from, pr.Handler)
		}
	}
	seen := map[*ir.Func]bool{}
	for f := range p.Reached(from...) {
		seen[f] = true
	}
	return seen
}

// byThread finds the arrays of which every access has tid() in the same column of its key, and is made where a user
// program was interrupted, or makes a system call: a thread is in one such handler at a time, and no handler reaches
// another thread's elements. Where a new element of one thread drives out another's (Wrap) that does not hold.
func byThread(p *ir.Program) []bool {
	cols := make([]uint64, len(p.Globals)) // columns that were tid() so far
	for i, g := range p.Globals {
		if n := len(g.Keys); n > 0 && n < 64 && !g.Wrap {
			cols[i] = 1<<n - 1
		}
	}
	for f := range reachedFrom(p, func(pr *ir.Probe) bool { return concurrent(pr) && !inThread(pr) }) {
		eachInstr(f, func(in *ir.Instr) {
			eachUse(p, in, func(g int, _, _ bool) { cols[g] = 0 })
		})
	}
	for f := range reachedFrom(p, func(pr *ir.Probe) bool { return concurrent(pr) && inThread(pr) }) {
		defs, count := singleDefs(f)
		eachInstr(f, func(in *ir.Instr) {
			if in.Op == ir.OpEmbed {
				eachUse(p, in, func(g int, _, _ bool) { cols[g] = 0 })
			}
			if !accesses(in.Op) || cols[in.Glob] == 0 {
				return
			}
			own := uint64(0)
			if in.Op != ir.OpIterOpen && in.Op != ir.OpMClear {
				for k := range p.Globals[in.Glob].Keys {
					if isTID(in.Args[k], defs, count) {
						own |= 1 << k
					}
				}
			}
			cols[in.Glob] &= own
		})
	}
	out := make([]bool, len(cols))
	for i, c := range cols {
		out[i] = c != 0
	}
	return out
}

// inThread reports whether all sites of pr are instructions of user programs or system calls.
func inThread(pr *ir.Probe) bool {
	for _, s := range pr.Sites {
		if !s.Kind.InThread() {
			return false
		}
	}
	return true
}

// isTID reports whether v is the result of tid(), copies included.
func isTID(v ir.Val, defs []*ir.Instr, count []int32) bool {
	for range 16 {
		if v.Kind != ir.ValReg || count[v.Reg] != 1 || defs[v.Reg] == nil {
			return false
		}
		switch d := defs[v.Reg]; d.Op {
		case ir.OpMov:
			v = d.Args[0]
		case ir.OpIntr:
			return d.Builtin().Thread
		default:
			return false
		}
	}
	return false
}
