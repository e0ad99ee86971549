package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// The context of a program of netfilter is struct bpf_nf_ctx { const struct nf_hook_state *state; struct sk_buff *skb; }
// (include/linux/netfilter.h, net/netfilter/nf_bpf_link.c). The packet goes on whatever the handler does: all ways out of a program
// give nfAccept.

// nfAccept is NF_ACCEPT.
const nfAccept = 1

// packetWords say where the words of a site of netfilter are in struct nf_hook_state.
var packetWords = [probe.NumNetWords]string{probe.NetIn: "in", probe.NetOut: "out", probe.NetHooknum: "hook", probe.NetFamily: "pf",
	probe.NetSock: "sk", probe.NetNamespace: "net"}

// packet is OpTraceArg where packets come by.
func (g *gen) packet(in *ir.Instr) {
	dst := g.longs[in.Dst]
	switch {
	case in.N == probe.NetSkb:
		g.mov(dst, g.number(g.get(g.ctx, 8, asm.DWord)))
	case in.N == probe.NetVerdict:
		g.u.refuse(in.Pos, "bpf-verdict", "eBPF programs look at packets here and let them go on: there is no $verdict")
		g.movI(dst, 0)
	case in.N < 0 || in.N >= probe.NumNetWords:
		g.u.refuse(in.Pos, "bpf-no-event", "a packet has no argument %d", in.N)
		g.movI(dst, 0)
	default:
		off, ok := g.offset(in, "nf_hook_state", packetWords[in.N])
		state := g.get(g.ctx, 0, asm.DWord)
		switch {
		case !ok:
			g.movI(dst, 0)
		case in.N == probe.NetHooknum, in.N == probe.NetFamily: // u8
			g.load(dst, state, off, asm.Byte)
		default:
			g.mov(dst, g.number(g.get(state, off, asm.DWord)))
		}
	}
}
