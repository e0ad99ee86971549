package opt

import (
	"math"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
)

// DropBudgets takes the counting of statements out of handlers that cannot run as many as are
// allowed: those without loops and calls and with few statements. Elsewhere it counts at once what
// nothing that could be noticed separates. Cost: linear.
func DropBudgets(p *ir.Program) {
	eachFunc(p, func(f *ir.Func) {
		for _, b := range f.Blocks {
			joinBudgets(p, b)
		}
	})
	limit := int64(min(p.Limits.MaxAction, p.Limits.MaxActionInt))
	for _, pr := range p.Probes {
		if n, ok := statements(pr.Handler); !ok || n > limit {
			continue
		}
		for _, b := range pr.Handler.Blocks {
			b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpBudget })
		}
	}
}

func joinBudgets(p *ir.Program, b *ir.Block) {
	last := -1
	for i := range b.Instrs {
		switch in := &b.Instrs[i]; {
		case in.Op == ir.OpBudget && last >= 0:
			b.Instrs[last].N = min(b.Instrs[last].N+in.N, math.MaxInt32) // as much as is known of anything
			in.Op = ir.OpNone
		case in.Op == ir.OpBudget:
			last = i
		case in.Op == ir.OpPrint || writes(in.Op) || visible(p, in):
			last = -1
		}
	}
	b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpNone })
}

// statements bounds the statements that f runs; false when a loop or a call makes that hard.
func statements(f *ir.Func) (int64, bool) {
	n := int64(0)
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			switch b.Instrs[i].Op {
			case ir.OpBudget:
				n += b.Instrs[i].N
			case ir.OpCall:
				return 0, false
			}
		}
	}
	return n, !cyclic(f)
}

// cyclic reports whether f has a loop.
func cyclic(f *ir.Func) bool {
	const open, closed = 1, 2
	state := make([]uint8, len(f.Blocks))
	var visit func(b ir.BlockID) bool
	visit = func(b ir.BlockID) bool {
		state[b] = open
		loop := false
		f.Succs(b, func(to ir.BlockID, _ bool) {
			loop = loop || state[to] == open || state[to] == 0 && visit(to)
		})
		state[b] = closed
		return loop
	}
	return visit(0)
}
