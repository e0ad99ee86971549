package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// slotsPerCPU is how many handlers may hold scratch memory on one CPU: handlers of user probes can be
// preempted by others, and then the first keeps its slot.
const slotsPerCPU = 4

// scratchSize is the size that a scratch slot needs for this handler. What is added is never touched: the
// verifier adds the longest offset to the longest copy.
func (g *gen) scratchSize() int {
	if !g.Frame.Used {
		return 0
	}
	n := g.Frame.Size + 2*emit.Mask(g.U.P.Limits.MaxString) + 128
	if g.Frame.Raw {
		n += body.PageSize
	}
	return n
}

// acquire writes the code that takes a scratch slot of this CPU: whoever changes its first word from 0 to 1
// has it. If all are taken the hit is skipped and counted. It gives the index of the slot in the map.
func (g *gen) acquire(out *mach.Block) mach.Reg {
	cpu := g.Call(asm.FnGetSmpProcessorId)
	idx := g.BinI(asm.LSh, cpu, 2)
	k := g.Temp(8)
	got, none := g.Block(), g.Cold()
	for try := range slotsPerCPU {
		next := g.Cold()
		if try == slotsPerCPU-1 {
			next = none
		}
		g.Index(k, idx)
		v := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapScratch), emit.OnStack(k, 0))
		g.UnlessI(asm.JEq, v, 0, none)
		mine := g.Imm(1)
		g.Atomic(asm.Xchg, v, 0, mine, asm.Word)
		g.UnlessI(asm.JNE, mine, 0, next)
		g.Mov(g.Frame.Scratch, v)
		g.Jump(got)
		g.Set(next)
		if next != none {
			g.AluI(asm.Add, idx, 1)
		}
	}
	g.Count(ir.SkipScratch)
	g.Jump(out)
	g.Set(got)
	return idx
}
