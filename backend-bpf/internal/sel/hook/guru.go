package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
)

// Leave has the program go on elsewhere than at the probed instruction, which the kernel then leaves out: those that
// take registers back do that too.
func (g *Hook) Leave(in *ir.Instr) {
	if !g.H.Sites[0].Kind.InUser() {
		g.Refuse(in, "bpf-write", "eBPF programs can change registers only where a user program was probed")
		return
	}
	if m := g.U.P.On(); g.Can(in, g.U.Feat.WriteRegs, "leaving out a function of the traced program") {
		g.Store(g.Ctx, m.Offset(m.IP), g.Long(in.Args[0]), asm.DWord)
		g.Store(g.Ctx, m.Offset(m.SP), g.Long(in.Args[1]), asm.DWord)
	}
}

// Override has the probed kernel function return at once.
func (g *Hook) Override(in *ir.Instr) {
	for _, s := range g.H.Sites {
		switch {
		case s.Kind != probe.Kprobe || !partition.WholeFunc(s):
			g.Refuse(in, "bpf-override", "override_return() leaves out a function of the kernel where it is entered, "+
				"which %s is not", s.Title())
			return
		case g.U.Feat.Overridable == nil:
		default:
			if err := g.U.Feat.Overridable(s.Kernel.Symbol); err != nil {
				g.Refuse(in, "bpf-override", "override_return(): %v", err)
				return
			}
		}
	}
	if g.Can(in, g.U.Feat.Override, "having kernel functions return at once") {
		g.Call(asm.FnOverrideReturn, emit.InReg(g.Ctx), emit.InReg(g.Long(in.Args[0])))
	}
}

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

// SetCallWord refuses to change an argument or the result of a system call.
func SetCallWord(g *Hook, in *ir.Instr) {
	what := "arguments of a system call"
	if in.Args[0].Int == ir.SyscallRet {
		what = "the result of a system call"
	}
	g.Refuse(in, "bpf-write", "%s cannot be changed: the kernel lets eBPF programs only read the registers of a call; "+
		"memory that arguments lead to can be written, as by set_user_int8()", what)
}
