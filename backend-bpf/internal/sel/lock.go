package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// take takes a lock by exchanging its word, 0, for 1 + the CPU; after MAXTRYLOCK tries the hit is skipped.
// There is no waiting in between: handlers cannot sleep.
func (g *gen) take(class int) {
	p := g.mapVal(plan.MapControl, plan.CtlLocks+4*class)
	me := g.call(asm.FnGetSmpProcessorId)
	g.aluI(asm.Add, me, 1)
	left := g.imm(int64(max(g.u.P.Limits.MaxTryLock, 1)))
	head, got, busy, none := g.block(), g.block(), g.cold(), g.cold()
	g.here(head)
	g.bounded(head)
	g.movI(mach.R0, 0)
	g.atomic(asm.CmpXchg, p, 0, me, asm.Word)
	old := g.copy(mach.R0)
	g.condI(asm.JEq, old, 0, got, busy)
	g.set(busy)
	g.aluI(asm.Sub, left, 1)
	g.condI(asm.JEq, left, 0, none, head)
	g.set(none)
	g.skip(ir.SkipLock)
	g.set(got)
	g.lock = class
}

// unlock releases the lock that is held, if any.
func (g *gen) unlock() {
	if g.lock == lockUnknown {
		g.unlockUnknown()
	} else if g.lock >= 0 {
		g.storeI(g.mapVal(plan.MapControl, plan.CtlLocks+4*g.lock), 0, 0, asm.Word)
	}
}
