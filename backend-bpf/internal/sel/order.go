package sel

import (
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/types"
)

// inOrder lists the blocks of the current function in the order in which they are translated: as they stand, unless a
// text is used in one that stands before the one which makes it. Of texts that the host makes the place of use has to
// know what they are made of, so then each block comes behind those that all ways to it lead through.
func (g *gen) inOrder() []ir.BlockID {
	out := make([]ir.BlockID, len(g.Fn.Blocks))
	made := map[ir.Reg]int{}
	for i, b := range g.Fn.Blocks {
		out[i] = ir.BlockID(i)
		for k := range b.Instrs {
			if in := &b.Instrs[k]; in.Op == ir.OpIntr && in.Dst != ir.NoReg && g.Fn.Regs[in.Dst].Type == types.String {
				made[in.Dst] = i
			}
		}
	}
	for i, b := range g.Fn.Blocks {
		early := func(v ir.Val) bool { return v.Kind == ir.ValReg && made[v.Reg] > i }
		for k := range b.Instrs {
			if slices.ContainsFunc(b.Instrs[k].Args, early) {
				return g.dominators()
			}
		}
		// At its end a handler uses what it sends to its other part.
		if b.Term.Kind == ir.TermEnd && g.Fn == g.H.Body &&
			slices.ContainsFunc(g.H.Values, func(v partition.Value) bool { return early(ir.R(v.Reg)) }) {
			return g.dominators()
		}
	}
	return out
}

// dominators lists all blocks, each behind those that every way to it from the first one leads through; ones that no
// way leads to come last.
func (g *gen) dominators() []ir.BlockID {
	seen := make([]bool, len(g.Fn.Blocks))
	var out []ir.BlockID // the other way round
	var walk func(b ir.BlockID)
	walk = func(b ir.BlockID) {
		seen[b] = true
		g.Fn.Succs(b, func(to ir.BlockID, _ bool) {
			if !seen[to] {
				walk(to)
			}
		})
		out = append(out, b)
	}
	walk(0)
	slices.Reverse(out)
	for b := range seen {
		if !seen[b] {
			out = append(out, ir.BlockID(b))
		}
	}
	return out
}

// stringTest reports whether in and the instruction behind it are a comparison of strings for a
// condition: "t = scmp a, b; c = OP t, 0", with t used nowhere else.
func (g *gen) stringTest(b *ir.Block, i int) bool {
	if i+1 >= len(b.Instrs) {
		return false
	}
	in, next := &b.Instrs[i], &b.Instrs[i+1]
	return in.Op == ir.OpSCmp && (next.Op == ir.OpEq || next.Op == ir.OpNe) && len(next.Args) == 2 &&
		next.Args[0].IsReg() && next.Args[0].Reg == in.Dst && next.Args[1] == ir.I(0) && g.Uses[in.Dst] == 1
}
