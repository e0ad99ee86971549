package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
)

// The context of a program at a hook of the security modules is the hook's arguments, a word each. What the program
// gives, 0 or -errno, is the hook's answer: the first that is not 0 decides (kernel/bpf/trampoline.c, fmod_ret). At
// hooks without a result it is ignored. From 6.12 on the verifier wants it to be between -4095 and 0.

// asked is hook.program of hooks of security modules.
func asked(g *Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.LSM, ebpf.AttachLSMMac, g.H.Sites[0].Event
}

// asking is hook.word there.
func (g *Hook) asking(in *ir.Instr) {
	g.Mov(g.Longs[in.Dst], g.task.Number(g.Get(g.Ctx, 8*int(in.N), asm.DWord)))
}
