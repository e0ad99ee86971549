package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// Register reads a register of the probed context.
func (g *Hook) Register(in *ir.Instr) {
	if !g.U.P.On().General(in.N) {
		g.Refuse(in, "bpf-register", "eBPF programs cannot read register %d: vector and control registers are not in "+
			"their context", in.N)
		g.MovI(g.Longs[in.Dst], 0)
		return
	}
	if g.UserRegs(in, "a register") {
		g.ReadReg(g.Longs[in.Dst], int(in.N))
	}
}

// ReadReg loads a register of the probed context by its DWARF number.
func (g *Hook) ReadReg(dst mach.Reg, n int) {
	m := g.U.P.On()
	if n == m.IP {
		g.Mov(dst, g.IP())
		return
	}
	g.ReadRegs |= 1 << n
	g.Load(dst, g.Ctx, m.Offset(n), asm.DWord)
}

// RegIn gives general register n of the struct pt_regs at regs.
func (g *Hook) RegIn(regs mach.Reg, n int) mach.Reg {
	return g.Get(regs, g.U.P.On().Offset(n), asm.DWord)
}

// UnlessUser goes to out where the struct pt_regs at regs is of a program and continues here otherwise.
func (g *Hook) UnlessUser(regs mach.Reg, out *mach.Block) {
	m, here := g.U.P.On().Mode, g.Block()
	yes, no := out, here
	if m.User == 0 {
		yes, no = here, out
	}
	g.CondI(asm.JSet, g.Get(regs, m.Offset, asm.DWord), m.Mask, yes, no)
	g.Set(here)
}
