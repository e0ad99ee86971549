package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
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

// filtering is hook.program of netfilter.
func filtering(*gen) (ebpf.ProgramType, ebpf.AttachType, string) {
	return ebpf.Netfilter, ebpf.AttachNetfilter, ""
}

// packet is hook.word where packets come by.
func (g *gen) packet(in *ir.Instr) {
	dst := g.longs[in.Dst]
	switch {
	case in.N == probe.NetSkb:
		g.mov(dst, g.number(g.get(g.ctx, 8, asm.DWord)))
	case in.N == probe.NetVerdict:
		g.refuse(in, "bpf-verdict", "eBPF programs look at packets here and let them go on: there is no $verdict")
		g.movI(dst, 0)
	case in.N < 0 || in.N >= probe.NumNetWords:
		g.refuse(in, "bpf-no-event", "a packet has no argument %d", in.N)
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

// Before 6.15 or so programs of netfilter had no helpers that tell about the current task but the one that gives the task itself, which
// therefore is looked at.

// atPackets reports whether the handler is one of netfilter, on a kernel that says where the members of a task are.
func (g *gen) atPackets() bool {
	if g.h == nil || g.h.Sites[0].Kind.Class() != probe.Packet {
		return false
	}
	_, ok := g.member("task_struct", "tgid")
	return ok
}

// taskWord reads a word of the current task.
func (g *gen) taskWord(path string, size asm.Size) mach.Reg {
	off, _ := g.member("task_struct", path)
	return g.get(g.call(asm.FnGetCurrentTaskBtf), off, size)
}

// pidTgid gives what bpf_get_current_pid_tgid does: the process in the upper half, the thread in the lower one.
func (g *gen) pidTgid() mach.Reg {
	if !g.atPackets() {
		return g.call(asm.FnGetCurrentPidTgid)
	}
	id := g.binI(asm.LSh, g.taskWord("tgid", asm.Word), 32)
	g.alu(asm.Or, id, g.taskWord("pid", asm.Word))
	return id
}

// uidGid gives what bpf_get_current_uid_gid does: the group in the upper half, the user in the lower one.
func (g *gen) uidGid() mach.Reg {
	uid, ok := g.member("cred", "uid")
	gid, ok2 := g.member("cred", "gid")
	if !g.atPackets() || !ok || !ok2 {
		return g.call(asm.FnGetCurrentUidGid)
	}
	cred := g.number(g.taskWord("cred", asm.DWord))
	id := g.binI(asm.LSh, g.kernelWord(cred, gid, 4), 32)
	g.alu(asm.Or, id, g.kernelWord(cred, uid, 4))
	return id
}

// comm writes the name of the current task, 16 bytes with a NUL.
func (g *gen) comm(to mem) {
	const n = 16
	off, ok := g.member("task_struct", "comm")
	if !g.atPackets() || !ok {
		g.call(asm.FnGetCurrentComm, g.argP(to), aImm(n))
		return
	}
	task := g.number(g.call(asm.FnGetCurrentTaskBtf))
	g.call(asm.FnProbeReadKernelStr, g.argP(to), aImm(n), aReg(g.binI(asm.Add, task, int64(off))))
}
