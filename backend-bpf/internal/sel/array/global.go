package array

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// GlobalGet reads a Long scalar.
func (g *Arrays) GlobalGet(dst mach.Reg, i int) {
	gl := &g.U.Layout.Globals[i]
	g.Load(dst, g.MapVal(gl.Map, gl.ValueOff), 0, asm.DWord)
}

// GlobalStr is a String scalar as an operand.
func (g *Arrays) GlobalStr(i int) body.Str {
	gl := &g.U.Layout.Globals[i]
	return body.Padded(emit.At(g.MapVal(gl.Map, gl.ValueOff), 0), g.U.P.Globals[i].Cap)
}

// GlobalSet writes a scalar.
func (g *Arrays) GlobalSet(i int, v ir.Val) {
	gl := &g.U.Layout.Globals[i]
	p := emit.At(g.MapVal(gl.Map, gl.ValueOff), 0)
	if g.U.P.Globals[i].Type == types.String {
		g.str.Pad(p, gl.ValueSize, g.U.P.Globals[i].Cap, g.StrOf(v))
		return
	}
	g.StoreVal(p, v)
}

// GlobalAdd adds to a Long scalar atomically.
func (g *Arrays) GlobalAdd(in *ir.Instr) {
	gl := &g.U.Layout.Globals[in.Glob]
	p := g.MapVal(gl.Map, gl.ValueOff)
	if in.Dst == ir.NoReg || g.Uses[in.Dst] == 0 {
		g.Atomic(asm.AddAtomic, p, 0, g.Long(in.Args[0]), asm.DWord)
		return
	}
	old := g.Reg()
	g.Into(old, in.Args[0])
	g.Atomic(asm.FetchAdd, p, 0, old, asm.DWord)
	g.Mov(g.Longs[in.Dst], old)
}
