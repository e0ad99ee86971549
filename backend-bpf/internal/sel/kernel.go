package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/place"
)

// wholeFuncs reports whether all sites are functions of the kernel: at their first byte or their return.
func (g *gen) wholeFuncs() bool {
	for _, s := range g.h.Sites {
		if !s.Kind.InKernel() || !place.WholeFunc(s) {
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

// multi reports whether a kprobe.multi link can serve the handler.
func (g *gen) multi() bool { return g.wholeFuncs() && g.readRegs&^g.hook().multi == 0 }

// probedInKernel is hook.program of instructions of the kernel.
func probedInKernel(g *gen) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Kprobe, ebpf.AttachNone, g.h.Sites[0].Place()
}

// kprobeIP is hook.ip: a probe stands behind its breakpoint, or behind where that would be.
func (g *gen) kprobeIP() mach.Reg {
	if g.wholeFuncs() {
		return g.call(asm.FnGetFuncIp, aReg(g.ctx))
	}
	return g.binI(asm.Sub, g.get(g.ctx, ptRegs[regIP], asm.DWord), 1)
}

// userIP gives the address at which the process that is in the kernel goes on, 0 if there is none.
func (g *gen) userIP() mach.Reg {
	regs := g.taskRegs()
	out := g.imm(0)
	done := g.block()
	g.unlessI(asm.JNE, g.binI(asm.And, g.get(regs, regsCS, asm.DWord), 3), 3, done)
	g.load(out, regs, ptRegs[regIP], asm.DWord)
	g.here(done)
	return out
}
