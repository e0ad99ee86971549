package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/probe"
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
func (g *gen) multi() bool {
	regs := uint32(callRegs)
	if g.h.Sites[0].Kind == probe.Kretprobe {
		regs = returnRegs
	}
	return g.wholeFuncs() && g.readRegs&^regs == 0
}

// ip gives the address of the probed instruction; at a return probe of the kernel, that of the instruction to which the
// function returns.
func (g *gen) ip() mach.Reg {
	switch {
	case g.h.Sites[0].Kind != probe.Kprobe:
		return g.get(g.ctx, ptRegs[regIP], asm.DWord)
	case g.wholeFuncs():
		return g.call(asm.FnGetFuncIp, aReg(g.ctx))
	}
	// A probe stands behind its breakpoint, or behind where that would be.
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
