package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// ptRegs gives the offset in struct pt_regs (amd64) of each DWARF register: the System V ABI numbers
// RAX 0, RDX 1, RCX 2, RBX 3, RSI 4, RDI 5, RBP 6, RSP 7, R8 to R15, and 16 the return address column, which
// here is RIP.
var ptRegs = [...]int{80, 96, 88, 40, 104, 112, 32, 152, 72, 64, 56, 48, 24, 16, 8, 0, 128}

const (
	regIP = 16
	regSP = 7
	// regsCS is the offset of cs, whose lowest bits are 3 where a program was interrupted.
	regsCS = 136
)

// register reads a register of the probed context.
func (g *gen) register(in *ir.Instr) {
	if in.N < 0 || in.N >= int64(len(ptRegs)) {
		g.refuse(in, "bpf-register", "eBPF programs cannot read register %d: vector and control registers are not in their context", in.N)
		g.movI(g.longs[in.Dst], 0)
		return
	}
	if g.userRegs(in, "a register") {
		g.readReg(g.longs[in.Dst], int(in.N))
	}
}

// readReg loads a register of the probed context by its DWARF number.
func (g *gen) readReg(dst mach.Reg, n int) {
	if n == regIP {
		g.mov(dst, g.ip())
		return
	}
	g.readRegs |= 1 << n
	g.load(dst, g.ctx, ptRegs[n], asm.DWord)
}

// memory reads 1 to 8 bytes of the traced process or of the kernel.
func (g *gen) memory(in *ir.Instr) {
	n := int(in.N)
	addr := g.long(in.Args[0])
	s := g.temp(8)
	bad := g.cold()
	g.readMem(in.Kernel, aSlot(s, 0), aImm(int64(n)), addr, bad)
	if in.Dst != ir.NoReg {
		dst := g.longs[in.Dst]
		g.loadS(dst, s, 0, size(n))
		if in.Signed && n < 8 {
			g.aluI(asm.LSh, dst, int64(64-8*n))
			g.aluI(asm.ArSh, dst, int64(64-8*n))
		}
	}
	on := g.cur
	g.set(bad)
	g.raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	g.set(on)
}
