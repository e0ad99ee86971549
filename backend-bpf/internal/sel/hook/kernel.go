package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/machine"
	"github.com/gostap/gostap/compiler/partition"
)

// wholeFuncs reports whether all sites are functions of the kernel: at their first byte or their return.
func (g *Hook) wholeFuncs() bool {
	for _, s := range g.H.Sites {
		if !s.Kind.InKernel() || !partition.WholeFunc(s) {
			return false
		}
	}
	return true
}

// A kprobe.multi link calls the program with the registers of a call or of a return (machine.Machine.AtCall, AtReturn);
// what stands in the other places of its struct pt_regs is left over from something else.
func callRegs(m *machine.Machine) uint64   { return m.AtCall }
func returnRegs(m *machine.Machine) uint64 { return m.AtReturn }

// Multi reports whether a kprobe.multi link can serve the handler.
func (g *Hook) Multi() bool {
	have := g.Row().multi
	return g.wholeFuncs() && (g.ReadRegs == 0 || have != nil && g.ReadRegs&^have(g.U.P.On()) == 0)
}

// probedInKernel is hook.program of instructions of the kernel.
func probedInKernel(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Kprobe, ebpf.AttachNone, g.H.Sites[0].Place()
}

// kprobeIP is hook.ip: a probe stands behind its breakpoint, or behind where that would be.
func (g *Hook) kprobeIP() mach.Reg {
	if g.wholeFuncs() {
		return g.Call(asm.FnGetFuncIp, emit.InReg(g.Ctx))
	}
	m := g.U.P.On()
	return g.BinI(asm.Sub, g.RegIn(g.Ctx, m.IP), m.TrapAdvance)
}

// UserIP gives the address at which the process that is in the kernel goes on, 0 if there is none.
func (g *Hook) UserIP() mach.Reg {
	regs := g.task.TaskRegs()
	out := g.Imm(0)
	done := g.Block()
	m := g.U.P.On()
	g.UnlessI(asm.JNE, g.BinI(asm.And, g.Get(regs, m.Mode.Offset, asm.DWord), m.Mode.Mask), m.Mode.User, done)
	g.Load(out, regs, m.Offset(m.IP), asm.DWord)
	g.Here(done)
	return out
}
