package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// The context of a program at a hook of the security modules is the hook's arguments, a word each. What the program
// gives, 0 or -errno, is the hook's answer: the first that is not 0 decides (kernel/bpf/trampoline.c, fmod_ret). At
// hooks without a result it is ignored. From 6.12 on the verifier wants it to be between -4095 and 0.

// maxErrno is the kernel's MAX_ERRNO (include/linux/err.h).
const maxErrno = 4095

// asked is hook.program of hooks of security modules.
func asked(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.LSM, ebpf.AttachLSMMac, g.H.Sites[0].Event
}

// asking is hook.word there.
func (g *Hook) asking(in *ir.Instr) {
	g.Mov(g.Longs[in.Dst], g.task.Number(g.Get(g.Ctx, 8*int(in.N), asm.DWord)))
}

// denial is the built-in function that answers a hook.
const denial = "lsm_deny"

// Deny is that function: the program's answer is -errno.
func (g *Hook) Deny(in *ir.Instr) {
	switch {
	case g.H.Sites[0].Kind != probe.LSM || !g.H.Sites[0].LSM.Decides:
		g.Refuse(in, "bpf-deny", "%s() answers a hook of the security modules that decides something, which %s is not",
			denial, g.H.Sites[0].Title())
	case g.Steps:
		g.Refuse(in, "bpf-deny", "%s(): on this kernel a handler with loops cannot answer a hook", denial)
	case g.answer == mach.None:
		g.Refuse(in, "bpf-deny", "%s() in a recursive function cannot answer a hook", denial)
	default:
		errno := g.BinI(asm.And, g.Long(in.Args[0]), maxErrno)
		g.MovI(g.answer, 0)
		g.Alu(asm.Sub, g.answer, errno)
	}
}

// Answers prepares the answer of a handler that may give one.
func (g *Hook) Answers() {
	if g.Steps {
		return
	}
	for _, b := range g.H.Body.Blocks {
		for i := range b.Instrs {
			if b.Instrs[i].Op == ir.OpIntr && b.Instrs[i].Name == denial && g.answer == mach.None {
				g.answer = g.Reg()
			}
		}
	}
	g.Withdraw()
}

// Withdraw takes the answer back, of a handler that ends by an error.
func (g *Hook) Withdraw() {
	if g.answer != mach.None {
		g.MovI(g.answer, 0)
	}
}
