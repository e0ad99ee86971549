package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// The context of a program of netfilter is struct bpf_nf_ctx { const struct nf_hook_state *state; struct sk_buff *skb;
// } (include/linux/netfilter.h, net/netfilter/nf_bpf_link.c). The packet goes on whatever the handler does: all ways
// out of a program give nfAccept.

// nfAccept is NF_ACCEPT.
const nfAccept = 1

// packetWords say where the words of a site of netfilter are in struct nf_hook_state.
var packetWords = [probe.NumNetWords]string{probe.NetIn: "in", probe.NetOut: "out", probe.NetHooknum: "hook",
	probe.NetFamily: "pf", probe.NetSock: "sk", probe.NetNamespace: "net"}

// filtering is hook.program of netfilter.
func filtering(*Hook) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Netfilter, ebpf.AttachNetfilter, ""
}

// packet is hook.word where packets come by.
func (g *Hook) packet(in *ir.Instr) {
	dst := g.Longs[in.Dst]
	switch {
	case in.N == probe.NetSkb:
		g.Mov(dst, g.task.Number(g.Get(g.Ctx, 8, asm.DWord)))
	case in.N == probe.NetVerdict:
		g.Refuse(in, "bpf-verdict", "eBPF programs look at packets here and let them go on: there is no $verdict")
		g.MovI(dst, 0)
	case in.N < 0 || in.N >= probe.NumNetWords:
		g.Refuse(in, "bpf-no-event", "a packet has no argument %d", in.N)
		g.MovI(dst, 0)
	default:
		off, ok := g.task.Offset(in, "nf_hook_state", packetWords[in.N])
		state := g.Get(g.Ctx, 0, asm.DWord)
		switch {
		case !ok:
			g.MovI(dst, 0)
		case in.N == probe.NetHooknum, in.N == probe.NetFamily: // u8
			g.Load(dst, state, off, asm.Byte)
		default:
			g.Mov(dst, g.task.Number(g.Get(state, off, asm.DWord)))
		}
	}
}

// Before 6.15 or so programs of netfilter had no helpers that tell about the current task but the one that gives the
// task itself, which therefore is looked at.
