package body

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/ir"
)

// Faults is the pending error: ir.Code and the place of the instruction that raised it in one register, the
// arguments in two more, the text of error() in a string. They are set on the way out of the
// instruction, so an error that is not raised costs nothing.
type Faults struct {
	Code, A, B mach.Reg
	Text       *StrVar
	Codes      map[ir.Code]bool // that are raised
}

// Raise ends the current block with an error; a and b are its arguments or None.
func (g *Body) Raise(c ir.Code, a, b mach.Reg, to ir.BlockID) {
	f := &g.Faults
	if f.Codes == nil {
		f.Codes = map[ir.Code]bool{}
		f.Code, f.A, f.B = g.Reg(), g.Reg(), g.Reg()
	}
	f.Codes[c] = true
	g.MovI(f.Code, int64(c)|int64(g.Pos)<<32)
	for i, r := range [2]mach.Reg{a, b} {
		dst := [2]mach.Reg{f.A, f.B}[i]
		if r == mach.None {
			g.MovI(dst, 0)
		} else {
			g.Mov(dst, r)
		}
	}
	if to != ir.NoBlock {
		g.Jump(g.Blocks[to])
		return
	}
	g.Uncaught(c)
}

// Count adds to the counter of a cause.
func (g *Body) Count(c ir.Cause) { g.CountAt(int(c)) }

// CountAt adds to the counter of a number: ir.Causes and behind them those of errors and hits.
func (g *Body) CountAt(i int) {
	n := g.BinI(asm.Mul, g.Call(asm.FnGetSmpProcessorId), int64(plan.CounterRow))
	g.AluI(asm.Add, n, int64(i))
	k := g.Temp(8)
	g.Index(k, n)
	v := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapCounters), emit.OnStack(k, 0))
	done := g.Cold()
	g.UnlessI(asm.JEq, v, 0, done)
	g.Atomic(asm.AddAtomic, v, 0, g.Imm(1), asm.DWord)
	g.Here(done)
}

// Fail notes the first thing that the translation fails by.
func (g *Body) Fail(format string, args ...any) {
	if g.Err == nil {
		g.Err = fmt.Errorf(format, args...)
	}
}

// Refuse says that in is something that eBPF programs cannot do.
func (g *Body) Refuse(in *ir.Instr, code diag.Code, format string, args ...any) {
	refuse(g.U, g.U.P.Probes[g.H.Probe], in, code, format, args...)
}
