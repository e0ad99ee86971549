package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// The helpers that read memory of the traced program do not wait for a page that is not there yet, such as one of constants
// that the program has not touched. Where the program may sleep, a read that failed is tried once more with
// the page brought in; the usual way is the same.

// maySleep reports whether the program may wait for pages, and makes it one that does.
func (g *gen) maySleep() bool {
	if g.h.Sites[0].Kind.InUser() && g.u.Feat.Sleepable != nil && g.u.Feat.Sleepable() {
		g.sleeps = true
	}
	return g.sleeps
}

// readMem reads n bytes at addr of the kernel or the traced program into dst; bad is gone to if they cannot be read.
func (g *gen) readMem(kernel bool, dst, n arg, addr mach.Reg, bad *mach.Block) {
	if kernel {
		g.unlessI(asm.JNE, g.call(asm.FnProbeReadKernel, dst, n, aReg(addr)), 0, bad)
		return
	}
	r := g.call(asm.FnProbeReadUser, dst, n, aReg(addr))
	if !g.maySleep() {
		g.unlessI(asm.JNE, r, 0, bad)
		return
	}
	slow, on := g.cold(), g.block()
	g.condI(asm.JNE, r, 0, slow, on)
	g.set(slow)
	g.condI(asm.JNE, g.call(asm.FnCopyFromUser, dst, n, aReg(addr)), 0, bad, on)
	g.set(on)
}

const pageSize = 4096

// faultIn brings in the page of addr, or goes to bad, and calls again, which reads once more and leaves if that went well;
// then those of the next n bytes, as long as there are any, else failed is gone to.
func (g *gen) faultIn(addr mach.Reg, n int, bad, failed *mach.Block, again func()) {
	one := aSlot(g.temp(8), 0)
	g.unlessI(asm.JNE, g.call(asm.FnCopyFromUser, one, aImm(1), aReg(addr)), 0, bad)
	again()
	page := g.binI(asm.And, addr, ^int64(pageSize-1))
	for ; n > 0; n -= pageSize {
		g.aluI(asm.Add, page, pageSize)
		g.unlessI(asm.JNE, g.call(asm.FnCopyFromUser, one, aImm(1), aReg(page)), 0, failed)
		again()
	}
}
