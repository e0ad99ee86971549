package task

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Numbers of processes are those of the tracer's pid namespace: what it is given (-x), what it prints and what it looks
// up under /proc are one and the same. In the first namespace these are the kernel's own numbers.

// nestedMax is how many levels of namespaces below the first one are looked through for the tracer's.
const nestedMax = 5

// Tgid gives the number of the current process, 0 if it has none in the tracer's namespace.
func (g *Task) Tgid() mach.Reg { return g.CurrentID(false) }

// CurrentID gives the number of the current process or thread.
func (g *Task) CurrentID(thread bool) mach.Reg {
	if !g.U.OtherPidNS {
		id := g.PidTgid()
		if thread {
			g.AluI(asm.LSh, id, 32)
		}
		g.AluI(asm.RSh, id, 32)
		return id
	}
	// struct bpf_pidns_info: u32 pid (of the thread), u32 tgid. The helper knows only tasks whose own namespace it is.
	slot := g.Temp(8)
	g.StoreIS(slot, 0, 0, asm.DWord)
	ctl := g.MapVal(plan.MapControl, 0)
	r := g.Call(asm.FnGetNsCurrentPidTgid, emit.InReg(g.Get(ctl, plan.CtlPidNSDev, asm.DWord)),
		emit.InReg(g.Get(ctl, plan.CtlPidNSIno, asm.DWord)), emit.OnStack(slot, 0), emit.Const(8))
	off := 4
	if thread {
		off = 0
	}
	id := g.GetS(slot, off, asm.Word)
	nested, done := g.Cold(), g.Block()
	g.CondI(asm.JNE, r, 0, nested, done)
	g.Set(nested)
	if p, ok := g.currentPid(thread, g.Member); ok {
		g.Mov(id, g.numberOf(p))
	} else {
		g.MovI(id, 0)
	}
	g.Jump(done)
	g.Set(done)
	return id
}

// Kinds of numbers (enum pid_type of include/linux/pid_types.h).
const (
	pidTgid  = 1
	PidGroup = 2
	PidSess  = 3
)

// upidSize is the size of struct upid: int nr; struct pid_namespace *ns.
const upidSize = 16

// offsets finds a member of a structure of the kernel, as gen.member and what gen.needed gives do.
type offsets func(structure, path string) (int, bool)

// Member finds a member of a structure of the kernel, if this kernel tells where it is.
func (g *Task) Member(structure, path string) (int, bool) {
	if g.U.Types == nil {
		return 0, false
	}
	off, _, err := g.U.Types.Offset(structure, path)
	return off, err == nil
}

// needed finds members that in cannot do without: what this kernel does not tell is refused.
func (g *Task) needed(in *ir.Instr) offsets {
	return func(structure, path string) (int, bool) { return g.Offset(in, structure, path) }
}

// currentPid gives the address of the struct pid of the current process or thread.
func (g *Task) currentPid(thread bool, find offsets) (mach.Reg, bool) {
	task := g.Call(asm.FnGetCurrentTask)
	if thread {
		via, ok := find("task_struct", "thread_pid")
		return g.KernelWord(task, via, 8), ok
	}
	return g.pidOf(task, pidTgid, find)
}

// pidOf gives the address of a struct pid of a task by its kind.
func (g *Task) pidOf(task mach.Reg, kind int, find offsets) (mach.Reg, bool) {
	sig, ok := find("task_struct", "signal")
	pids, ok2 := find("signal_struct", "pids")
	if !ok || !ok2 {
		return task, false
	}
	return g.KernelWord(g.KernelWord(task, sig, 8), pids+8*kind, 8), true
}

// numberOf gives the number that a struct pid has in the tracer's namespace, 0 if it has none there.
func (g *Task) numberOf(p mach.Reg) mach.Reg {
	id := g.Imm(0)
	numbers, ok := g.Member("pid", "numbers")
	if !ok {
		return id
	}
	if !g.U.OtherPidNS {
		g.Mov(id, g.KernelWord(p, numbers, 4)) // numbers[0].nr
		return id
	}
	level, ok := g.Member("pid", "level")
	inum, ok2 := g.Member("pid_namespace", "ns.inum")
	if !ok || !ok2 {
		return id
	}
	ino := g.Get(g.MapVal(plan.MapControl, 0), plan.CtlPidNSIno, asm.Word)
	last := g.KernelWord(p, level, 4)
	done := g.Block()
	for i := 1; i <= nestedMax; i++ {
		g.UnlessI(asm.JLT, last, int64(i), done)
		ns := g.KernelWord(p, numbers+upidSize*i+8, 8)
		next := g.Block()
		g.Unless(asm.JNE, g.KernelWord(ns, inum, 4), ino, next)
		g.Mov(id, g.KernelWord(p, numbers+upidSize*i, 4))
		g.Jump(done)
		g.Set(next)
	}
	g.Here(done)
	return id
}
