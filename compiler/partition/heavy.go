package partition

import (
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// heavyInstrs is how many instructions a handler without loops has before it is worth a look at the clock.
const heavyInstrs = 150

// Heavy reports whether a handler may take so long that it is to be timed, for the limit of the share of a CPU that
// handlers take: one with loops or recursion, with a backtrace, or with much to do. What others take is less than
// what the kernel takes for the hit, and next to nothing beside the two looks at the clock.
func Heavy(p *ir.Program, f *ir.Func) bool {
	if ns, _ := p.Limits.Overload(); ns == 0 {
		return false
	}
	w := weight{p: p, open: map[string]bool{}}
	return w.of(f) > heavyInstrs
}

// weight adds up the instructions of a handler and of the functions that it calls.
type weight struct {
	p    *ir.Program
	open map[string]bool // functions that are being added up
}

func (w *weight) of(f *ir.Func) int {
	n := 0
	state := make([]uint8, len(f.Blocks))
	var visit func(b ir.BlockID)
	visit = func(b ir.BlockID) {
		state[b] = 1
		f.Succs(b, func(to ir.BlockID, _ bool) {
			switch state[to] {
			case 0:
				visit(to)
			case 1:
				n += heavyInstrs + 1 // a loop
			}
		})
		state[b] = 2
	}
	visit(0)
	for _, b := range f.Blocks {
		for i := range b.Instrs {
			switch in := &b.Instrs[i]; {
			case in.Op == ir.OpMatch, in.Op == ir.OpIterOpen, in.Op == ir.OpPrintHist, in.Op == ir.OpSprintHist,
				in.Op == ir.OpEmbed, in.Op == ir.OpIntr && in.Builtin().Text.Kind == wire.Stack:
				return n + heavyInstrs + 1
			case in.Op == ir.OpCall:
				callee := w.p.Func(in.Name)
				if callee == nil || w.open[in.Name] {
					return n + heavyInstrs + 1 // recursion
				}
				w.open[in.Name] = true
				n += w.of(callee)
				delete(w.open, in.Name)
			}
			if n++; n > heavyInstrs {
				return n
			}
		}
	}
	return n
}
