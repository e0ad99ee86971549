package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// setRegister changes a register of the traced program. The kernel takes the context of a uprobe back as it is,
// so a store there is all; from which release on it permits that is found out by trying.
func (g *gen) setRegister(in *ir.Instr) {
	if !g.h.Sites[0].Kind.InUser() {
		g.refuse(in, "bpf-write", "eBPF programs can change registers only where a user program was probed")
		return
	}
	if !ir.CanSetReg(in.N) {
		g.fail("register %d cannot be set", in.N)
		return
	}
	if g.can(in, g.u.Feat.WriteRegs, "changing registers of the traced program") {
		g.store(g.ctx, ptRegs[in.N], g.long(in.Args[0]), asm.DWord)
	}
}

// storeMemory changes memory of the traced program. The helper does not wait for a page that is not in memory; where the
// program may sleep, the page is brought in by reading it, and the helper called once more. A page
// that would have to be copied first (private and not yet written to) stays refused.
func (g *gen) storeMemory(in *ir.Instr) {
	if in.Kernel {
		g.refuse(in, "bpf-write", "eBPF programs cannot change memory of the kernel")
		return
	}
	if !g.can(in, g.u.Feat.WriteUser, "changing memory of the traced program") {
		return
	}
	n := int(in.N)
	addr := g.long(in.Args[0])
	s := g.temp(8)
	g.storeS(s, 0, g.long(in.Args[1]), size(n))
	write := func() mach.Reg { return g.call(asm.FnProbeWriteUser, aReg(addr), aSlot(s, 0), aImm(int64(n))) }
	bad, on := g.cold(), g.block()
	if g.maySleep() {
		slow := g.cold()
		g.condI(asm.JNE, write(), 0, slow, on)
		g.set(slow)
		g.unlessI(asm.JNE, g.call(asm.FnCopyFromUser, aSlot(g.temp(8), 0), aImm(int64(n)), aReg(addr)), 0, bad)
	}
	g.condI(asm.JNE, write(), 0, bad, on)
	g.set(bad)
	g.raise(ir.ErrWrite, addr, mach.None, in.OnErr)
	g.set(on)
}

// can reports whether the kernel permits what try tries; if not, that is a diagnostic.
func (g *gen) can(in *ir.Instr, try func() error, what string) bool {
	if try == nil {
		return true
	}
	err := try()
	if err != nil {
		g.refuse(in, "bpf-write", "%s: %v", what, err)
	}
	return err == nil
}
