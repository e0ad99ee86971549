package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// globalGet reads a Long scalar.
func (g *gen) globalGet(dst mach.Reg, i int) {
	gl := &g.u.Layout.Globals[i]
	g.load(dst, g.mapVal(gl.Map, gl.ValueOff), 0, asm.DWord)
}

// globalStr is a String scalar as an operand.
func (g *gen) globalStr(i int) str {
	gl := &g.u.Layout.Globals[i]
	return padded(at(g.mapVal(gl.Map, gl.ValueOff), 0), g.u.P.Globals[i].Cap)
}

func (g *gen) globalSet(i int, v ir.Val) {
	gl := &g.u.Layout.Globals[i]
	p := at(g.mapVal(gl.Map, gl.ValueOff), 0)
	if g.u.P.Globals[i].Type == types.String {
		g.pad(p, gl.ValueSize, g.u.P.Globals[i].Cap, g.strOf(v))
		return
	}
	g.storeVal(p, v)
}

// globalAdd adds to a Long scalar atomically.
func (g *gen) globalAdd(in *ir.Instr) {
	gl := &g.u.Layout.Globals[in.Glob]
	p := g.mapVal(gl.Map, gl.ValueOff)
	if in.Dst == ir.NoReg || g.uses[in.Dst] == 0 {
		g.atomic(asm.AddAtomic, p, 0, g.long(in.Args[0]), asm.DWord)
		return
	}
	old := g.reg()
	g.into(old, in.Args[0])
	g.atomic(asm.FetchAdd, p, 0, old, asm.DWord)
	g.mov(g.longs[in.Dst], old)
}
