package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/runtime/wire"
)

// reserve takes n bytes of the ring buffer. The record must be submitted on every way from here on; when there
// is no room, that is counted and the handler ends.
func (g *gen) reserve(n int) mach.Reg {
	r := g.call(asm.FnRingbufReserve, aMap(plan.MapOutput), aImm(int64(n)), aImm(0))
	lost := g.cold()
	g.unlessI(asm.JEq, r, 0, lost)
	on := g.cur
	g.set(lost)
	g.count(ir.LostRing)
	g.jump(g.end)
	g.set(on)
	return r
}

// header writes a record's header.
func (g *gen) header(r mach.Reg, k wire.Kind, f wire.Flags) {
	cpu := g.call(asm.FnGetSmpProcessorId)
	g.aluI(asm.LSh, cpu, 32)
	g.aluI(asm.Or, cpu, int64(k)|int64(f)<<8)
	g.store(r, 0, cpu, asm.DWord)
}

// submit hands over a reserved record.
func (g *gen) submit(r mach.Reg) {
	g.args([]arg{aReg(r), aImm(plan.OutputFlags)})
	g.emit(mach.Ins{Op: mach.Call, Imm: int64(asm.FnRingbufSubmit), NArgs: 2, Dst: mach.None, Src: mach.None, Slot: mach.NoSlot})
}
