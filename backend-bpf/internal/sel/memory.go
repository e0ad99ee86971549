package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// memory reads 1 to 8 bytes of the traced process or of the kernel.
func (g *gen) memory(in *ir.Instr) {
	n := int(in.N)
	s := g.Temp(8)
	g.readTo(s, in, int64(n), in.Kernel)
	if in.Dst == ir.NoReg {
		return
	}
	dst := g.Longs[in.Dst]
	g.LoadS(dst, s, 0, emit.Size(n))
	if in.Signed && n < 8 {
		g.AluI(asm.LSh, dst, int64(64-8*n))
		g.AluI(asm.ArSh, dst, int64(64-8*n))
	}
}

// readTo reads n bytes at the address that in has as its first argument; in raises an error where they are not there.
func (g *gen) readTo(s mach.Slot, in *ir.Instr, n int64, kernel bool) {
	addr, bad := g.Long(in.Args[0]), g.Cold()
	g.ReadMem(kernel, emit.OnStack(s, 0), emit.Const(n), addr, bad)
	on := g.Cur
	g.Set(bad)
	g.Raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	g.Set(on)
}

// mostBlock is the most bytes that user_block reads.
const mostBlock = 64

// block reads a few words of the traced program at once.
func (g *gen) block(in *ir.Instr) {
	if g.words == mach.NoSlot {
		g.words = g.F.NewSlot(mostBlock)
	}
	g.readTo(g.words, in, min(max(in.Args[1].Int, 8), mostBlock), false)
}

// blockWord is one of the words that block has read.
func (g *gen) blockWord(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	if g.words == mach.NoSlot { // nothing was read
		g.MovI(g.Longs[in.Dst], 0)
		return
	}
	g.LoadS(g.Longs[in.Dst], g.words, int(8*min(max(in.Args[0].Int, 0), mostBlock/8-1)), asm.DWord)
}

// storeMemory changes memory of the traced program. The helper does not wait for a page that is not in memory; where
// the program may sleep, the page is brought in by reading it, and the helper called once more. A page
// that would have to be copied first (private and not yet written to) stays refused.
func (g *gen) storeMemory(in *ir.Instr) {
	if in.Kernel {
		g.Refuse(in, "bpf-write", "eBPF programs cannot change memory of the kernel")
		return
	}
	if !g.Can(in, g.U.Feat.WriteUser, "changing memory of the traced program") {
		return
	}
	n := int(in.N)
	addr := g.Long(in.Args[0])
	s := g.Temp(8)
	g.StoreS(s, 0, g.Long(in.Args[1]), emit.Size(n))
	write := func() mach.Reg {
		return g.Call(asm.FnProbeWriteUser, emit.InReg(addr), emit.OnStack(s, 0), emit.Const(int64(n)))
	}
	bad, on := g.Cold(), g.Block()
	if g.MaySleep() {
		slow := g.Cold()
		g.CondI(asm.JNE, write(), 0, slow, on)
		g.Set(slow)
		g.UnlessI(asm.JNE, g.Call(asm.FnCopyFromUser, emit.OnStack(g.Temp(8), 0), emit.Const(int64(n)),
			emit.InReg(addr)), 0, bad)
	}
	g.CondI(asm.JNE, write(), 0, bad, on)
	g.Set(bad)
	g.Raise(ir.ErrWrite, addr, mach.None, in.OnErr)
	g.Set(on)
}
