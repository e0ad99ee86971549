package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
)

// SetRegister changes a register of the traced program. The kernel takes the context of a uprobe back as it is,
// so a store there is all; from which release on it permits that is found out by trying.
func (g *Hook) SetRegister(in *ir.Instr) {
	if !g.H.Sites[0].Kind.InUser() {
		g.Refuse(in, "bpf-write", "eBPF programs can change registers only where a user program was probed")
		return
	}
	if !g.U.P.On().CanSet(in.N) {
		g.Fail("register %d cannot be set", in.N)
		return
	}
	if g.Can(in, g.U.Feat.WriteRegs, "changing registers of the traced program") {
		g.Store(g.Ctx, g.U.P.On().Offset(int(in.N)), g.Long(in.Args[0]), asm.DWord)
	}
}
