package hook

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
)

// A bare "process" is the target of -c or -x and the processes that it has made, and those that these have made: the
// target's family. Who is in it is kept in a map by a program at every fork, by the kernel's own numbers. A number that
// is used again by somebody else is taken out at that fork.

// familyMax is the most processes of a family; beyond, the ones that were not looked for lately drop out.
const familyMax = 1 << 16

// InFamily goes to out unless the current process, whose number is id, is of the target's family.
func (g *Hook) InFamily(id mach.Reg, out *mach.Block) {
	g.U.Family = true
	in := g.Block()
	g.Unless(asm.JEq, id, g.Get(g.MapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word), in)
	key := g.Temp(8)
	g.Index(key, g.task.KernelTgid())
	g.UnlessI(asm.JEq, g.Call(asm.FnMapLookupElem, emit.Map(plan.MapFamily), emit.OnStack(key, 0)), 0, out)
	g.Here(in)
}

// FamilyMap is the map of the processes that the target has made.
func FamilyMap() *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapFamily, Type: ebpf.LRUHash, KeySize: 4, ValueSize: 4, MaxEntries: familyMax}
}

// keepFamily writes the program that keeps the target's family.
func (g *Hook) keepFamily(out *mach.Block) {
	// sched_process_fork(struct task_struct *parent, struct task_struct *child), run by the parent.
	ctx := g.Copy(mach.R1)
	mine, other := g.Block(), g.Block()
	parent, child := g.task.KernelTgid(), mach.None
	if g.Record {
		child = g.forked(ctx, out)
	} else if off, ok := g.task.Member("task_struct", "tgid"); ok {
		child = g.task.KernelWord(g.Get(ctx, 8, asm.DWord), off, 4)
	}
	if child == mach.None {
		g.Fail("this needs the types of the kernel, which this kernel does not publish (CONFIG_DEBUG_INFO_BTF)")
		return
	}
	g.Unless(asm.JEq, parent, child, out) // a thread
	key, val := g.Temp(8), g.Temp(16)
	target := g.Get(g.MapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word)
	g.UnlessI(asm.JEq, target, 0, other)
	g.Unless(asm.JEq, g.task.Tgid(), target, mine)
	g.Index(key, parent)
	g.UnlessI(asm.JEq, g.Call(asm.FnMapLookupElem, emit.Map(plan.MapFamily), emit.OnStack(key, 0)), 0, other)
	g.Here(mine)
	g.Index(key, child)
	g.StoreIS(val, 0, 1, asm.Word)
	g.Call(asm.FnMapUpdateElem, emit.Map(plan.MapFamily), emit.OnStack(key, 0), emit.OnStack(val, 0),
		emit.Const(emit.UpdateAny))
	g.Jump(out)
	g.Set(other)
	g.Index(key, child)
	g.Call(asm.FnMapDeleteElem, emit.Map(plan.MapFamily), emit.OnStack(key, 0))
}

// forked gives the number of what a fork has made, from the event's record, and goes to out if that is a thread: the
// last one in the list of its process's threads. The record does not say. Where two threads make threads at the same
// time one of them may be taken for a process, which does no harm: nobody looks for its number, and who has it later
// comes by here.
func (g *Hook) forked(ctx mach.Reg, out *mach.Block) mach.Reg {
	at, ok := g.task.Member("trace_event_raw_sched_process_fork", "child_pid")
	if !ok {
		return mach.None
	}
	child := g.Get(ctx, at, asm.Word)
	sig, ok := g.task.Member("task_struct", "signal")
	last, ok2 := g.task.Member("signal_struct", "thread_head.prev")
	node, ok3 := g.task.Member("task_struct", "thread_node")
	pid, ok4 := g.task.Member("task_struct", "pid")
	if ok && ok2 && ok3 && ok4 {
		t := g.task.KernelWord(g.task.KernelWord(g.Call(asm.FnGetCurrentTask), sig, 8), last, 8)
		g.Unless(asm.JEq, g.task.KernelWord(t, pid-node, 4), child, out)
	}
	return child
}
