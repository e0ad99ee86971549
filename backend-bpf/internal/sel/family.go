package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
)

// A bare "process" is the target of -c or -x and the processes that it has made, and those that these have made: the
// target's family. Who is in it is kept in a map by a program at every fork, by the kernel's own numbers. A number that is
// used again by somebody else is taken out at that fork.

// familyMax is the most processes of a family; beyond, the ones that were not looked for lately drop out.
const familyMax = 1 << 16

// inFamily goes to out unless the current process, whose number is id, is of the target's family.
func (g *gen) inFamily(id mach.Reg, out *mach.Block) {
	g.u.family = true
	in := g.block()
	g.unless(asm.JEq, id, g.get(g.mapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word), in)
	key := g.temp(8)
	g.storeS(key, 0, g.kernelTgid(), asm.Word)
	g.unlessI(asm.JEq, g.call(asm.FnMapLookupElem, aMap(plan.MapFamily), aSlot(key, 0)), 0, out)
	g.here(in)
}

// kernelTgid gives the number of the current process in the first namespace.
func (g *gen) kernelTgid() mach.Reg {
	id := g.pidTgid()
	g.aluI(asm.RSh, id, 32)
	return id
}

func familyMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapFamily, Type: ebpf.LRUHash, KeySize: 4, ValueSize: 4, MaxEntries: familyMax}
}

// keepFamily writes the program that keeps the target's family.
func (g *gen) keepFamily(out *mach.Block) {
	// sched_process_fork(struct task_struct *parent, struct task_struct *child), run by the parent.
	ctx := g.copy(mach.R1)
	mine, other := g.block(), g.block()
	parent, child := g.kernelTgid(), mach.None
	if g.record {
		child = g.forked(ctx, out)
	} else if off, ok := g.member("task_struct", "tgid"); ok {
		child = g.kernelWord(g.get(ctx, 8, asm.DWord), off, 4)
	}
	if child == mach.None {
		g.fail("this needs the types of the kernel, which this kernel does not publish (CONFIG_DEBUG_INFO_BTF)")
		return
	}
	g.unless(asm.JEq, parent, child, out) // a thread
	key, val := g.temp(8), g.temp(16)
	target := g.get(g.mapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word)
	g.unlessI(asm.JEq, target, 0, other)
	g.unless(asm.JEq, g.tgid(), target, mine)
	g.storeS(key, 0, parent, asm.Word)
	g.unlessI(asm.JEq, g.call(asm.FnMapLookupElem, aMap(plan.MapFamily), aSlot(key, 0)), 0, other)
	g.here(mine)
	g.storeS(key, 0, child, asm.Word)
	g.storeIS(val, 0, 1, asm.Word)
	g.call(asm.FnMapUpdateElem, aMap(plan.MapFamily), aSlot(key, 0), aSlot(val, 0), aImm(updateAny))
	g.jump(out)
	g.set(other)
	g.storeS(key, 0, child, asm.Word)
	g.call(asm.FnMapDeleteElem, aMap(plan.MapFamily), aSlot(key, 0))
}

// forked gives the number of what a fork has made, from the event's record, and goes to out if that is a thread: the last one in
// the list of its process's threads. The record does not say. Where two threads make threads at the same time one of them may
// be taken for a process, which does no harm: nobody looks for its number, and who has it later comes by here.
func (g *gen) forked(ctx mach.Reg, out *mach.Block) mach.Reg {
	at, ok := g.member("trace_event_raw_sched_process_fork", "child_pid")
	if !ok {
		return mach.None
	}
	child := g.get(ctx, at, asm.Word)
	sig, ok := g.member("task_struct", "signal")
	last, ok2 := g.member("signal_struct", "thread_head.prev")
	node, ok3 := g.member("task_struct", "thread_node")
	pid, ok4 := g.member("task_struct", "pid")
	if ok && ok2 && ok3 && ok4 {
		t := g.kernelWord(g.kernelWord(g.call(asm.FnGetCurrentTask), sig, 8), last, 8)
		g.unless(asm.JEq, g.kernelWord(t, pid-node, 4), child, out)
	}
	return child
}
