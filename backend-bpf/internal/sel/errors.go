package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// raise ends the current block with an error; a and b are its arguments or None.
func (g *gen) raise(c ir.Code, a, b mach.Reg, to ir.BlockID) {
	g.movI(g.faults.code, int64(c)|int64(g.pos)<<32)
	for i, r := range [2]mach.Reg{a, b} {
		dst := [2]mach.Reg{g.faults.a, g.faults.b}[i]
		if r == mach.None {
			g.movI(dst, 0)
		} else {
			g.mov(dst, r)
		}
	}
	if to != ir.NoBlock {
		g.jump(g.blocks[to])
		return
	}
	if g.report == nil {
		g.report = g.cold()
	}
	g.jump(g.report)
}

// reportError sends an Error record and counts it; too many end the session.
func (g *gen) reportError() {
	const n = wire.HeaderSize + 16 + 2*16
	r := g.reserve(n)
	g.header(r, wire.Error, 0)
	g.store(r, 8, g.faults.code, asm.DWord)
	g.storeI(r, 16, int64(g.h.Probe)|2<<32, asm.DWord)
	g.storeI(r, 24, int64(wire.Int), asm.DWord)
	g.store(r, 32, g.faults.a, asm.DWord)
	g.storeI(r, 40, int64(wire.Int), asm.DWord)
	g.store(r, 48, g.faults.b, asm.DWord)
	g.submit(r)
	ctl := g.mapVal(plan.MapControl, 0)
	old := g.imm(1)
	g.atomic(asm.FetchAdd, ctl, plan.CtlErrors, old, asm.Word)
	done := g.cold()
	g.unlessI(asm.JLT, old, int64(g.u.P.Limits.MaxErrors), done)
	g.storeI(ctl, plan.CtlState, int64(wire.Failed), asm.Word)
	g.here(done)
	g.countAt(int(ir.NumCauses))
}

// count adds to the counter of a cause.
func (g *gen) count(c ir.Cause) { g.countAt(int(c)) }

func (g *gen) countAt(i int) {
	k := g.temp(8)
	g.storeIS(k, 0, int64(i), asm.Word)
	v := g.call(asm.FnMapLookupElem, aMap(plan.MapCounters), aSlot(k, 0))
	done := g.cold()
	g.unlessI(asm.JEq, v, 0, done)
	g.atomic(asm.AddAtomic, v, 0, g.imm(1), asm.DWord)
	g.here(done)
}
