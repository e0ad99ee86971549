package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// PtRegs gives the offset in struct pt_regs (amd64) of each DWARF register: the System V ABI numbers
// RAX 0, RDX 1, RCX 2, RBX 3, RSI 4, RDI 5, RBP 6, RSP 7, R8 to R15, and 16 the return address column, which
// here is RIP.
var PtRegs = [...]int{80, 96, 88, 40, 104, 112, 32, 152, 72, 64, 56, 48, 24, 16, 8, 0, 128}

const (
	RegIP = 16
	RegSP = 7
	// RegsCS is the offset of cs, whose lowest bits are 3 where a program was interrupted.
	RegsCS = 136
)

// Register reads a register of the probed context.
func (g *Hook) Register(in *ir.Instr) {
	if in.N < 0 || in.N >= int64(len(PtRegs)) {
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
	if n == RegIP {
		g.Mov(dst, g.IP())
		return
	}
	g.ReadRegs |= 1 << n
	g.Load(dst, g.Ctx, PtRegs[n], asm.DWord)
}
