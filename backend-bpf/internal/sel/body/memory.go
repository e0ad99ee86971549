package body

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// The helpers that read memory of the traced program do not wait for a page that is not there yet, such as one of
// constants that the program has not touched. Where the program may sleep, a read that failed is tried once more with
// the page brought in; the usual way is the same.

// MaySleep reports whether the program may wait for pages, and makes it one that does.
func (g *Body) MaySleep() bool {
	if g.H.Sites[0].Kind.InUser() && g.U.Feat.Sleepable != nil && g.U.Feat.Sleepable() {
		g.Sleeps = true
	}
	return g.Sleeps
}

// ReadMem reads n bytes at addr of the kernel or the traced program into dst; bad is gone to if they cannot be read.
func (g *Body) ReadMem(kernel bool, dst, n emit.Arg, addr mach.Reg, bad *mach.Block) {
	if kernel {
		g.UnlessI(asm.JNE, g.Call(asm.FnProbeReadKernel, dst, n, emit.InReg(addr)), 0, bad)
		return
	}
	r := g.Call(asm.FnProbeReadUser, dst, n, emit.InReg(addr))
	if !g.MaySleep() {
		g.UnlessI(asm.JNE, r, 0, bad)
		return
	}
	slow, on := g.Cold(), g.Block()
	g.CondI(asm.JNE, r, 0, slow, on)
	g.Set(slow)
	g.CondI(asm.JNE, g.Call(asm.FnCopyFromUser, dst, n, emit.InReg(addr)), 0, bad, on)
	g.Set(on)
}

// PageSize is the least that the kernel maps.
const PageSize = 4096

// FaultIn brings in the page of addr, or goes to bad, and calls again, which reads once more and leaves if that went
// well; then those of the next n bytes, as long as there are any, else failed is gone to.
func (g *Body) FaultIn(addr mach.Reg, n int, bad, failed *mach.Block, again func()) {
	one := emit.OnStack(g.Temp(8), 0)
	g.UnlessI(asm.JNE, g.Call(asm.FnCopyFromUser, one, emit.Const(1), emit.InReg(addr)), 0, bad)
	again()
	page := g.BinI(asm.And, addr, ^int64(PageSize-1))
	for ; n > 0; n -= PageSize {
		g.AluI(asm.Add, page, PageSize)
		g.UnlessI(asm.JNE, g.Call(asm.FnCopyFromUser, one, emit.Const(1), emit.InReg(page)), 0, failed)
		again()
	}
}

// Can reports whether the kernel permits what try tries; if not, that is a diagnostic.
func (g *Body) Can(in *ir.Instr, try func() error, what string) bool {
	if try == nil {
		return true
	}
	err := try()
	if err != nil {
		g.Refuse(in, "bpf-write", "%s: %v", what, err)
	}
	return err == nil
}
