package alike

import (
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// TestPlaces: what may fail at different places of the source is not shared, what cannot fail is.
func TestPlaces(t *testing.T) {
	p := &ir.Program{Globals: []*ir.Global{{Name: "a", Type: types.Long, Keys: []ir.Key{{Type: types.Long}}, Size: 4}}}
	handler := func(gadd, mset source.Pos) *ir.Func {
		return &ir.Func{Regs: []ir.RegInfo{{Type: types.Long}}, Blocks: []*ir.Block{{Instrs: []ir.Instr{
			{Op: ir.OpTraceArg, Dst: 0, Glob: -1, OnErr: ir.NoBlock, Pos: gadd},
			{Op: ir.OpMSet, Dst: ir.NoReg, Args: []ir.Val{ir.R(0), ir.I(1)}, OnErr: ir.NoBlock, Pos: mset},
		}, Term: ir.Term{Kind: ir.TermEnd, OnErr: ir.NoBlock}}}}
	}
	for _, c := range []struct {
		gadd, mset source.Pos
		suffix     int
	}{{1, 2, 2}, {3, 2, 2}, {1, 3, 0}} {
		if m := At(p, handler(1, 2), handler(c.gadd, c.mset), 0, 0); m == nil || m.Suffix != c.suffix {
			t.Errorf("%+v: %+v", c, m)
		}
	}
}
