package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
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

// A kprobe.multi link calls the program with the registers of a call (System V: rdi, rsi, rdx, rcx, r8, r9, the stack
// pointer, and rax, which the kernel saves along) or of a return (rax, rdx and the stack pointer); what stands in the
// other places of its struct pt_regs is left over from something else.
const (
	callRegs   = 1<<0 | 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<7 | 1<<8 | 1<<9
	returnRegs = 1<<0 | 1<<1 | 1<<7
)

// Multi reports whether a kprobe.multi link can serve the handler.
func (g *Hook) Multi() bool { return g.wholeFuncs() && g.ReadRegs&^g.Row().multi == 0 }

// probedInKernel is hook.program of instructions of the kernel.
func probedInKernel(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Kprobe, ebpf.AttachNone, g.H.Sites[0].Place()
}

// kprobeIP is hook.ip: a probe stands behind its breakpoint, or behind where that would be.
func (g *Hook) kprobeIP() mach.Reg {
	if g.wholeFuncs() {
		return g.Call(asm.FnGetFuncIp, emit.InReg(g.Ctx))
	}
	return g.BinI(asm.Sub, g.Get(g.Ctx, PtRegs[RegIP], asm.DWord), 1)
}

// UserIP gives the address at which the process that is in the kernel goes on, 0 if there is none.
func (g *Hook) UserIP() mach.Reg {
	regs := g.task.TaskRegs()
	out := g.Imm(0)
	done := g.Block()
	g.UnlessI(asm.JNE, g.BinI(asm.And, g.Get(regs, RegsCS, asm.DWord), 3), 3, done)
	g.Load(out, regs, PtRegs[RegIP], asm.DWord)
	g.Here(done)
	return out
}
