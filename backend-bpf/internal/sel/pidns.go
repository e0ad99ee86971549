package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// Numbers of processes are those of the tracer's pid namespace: what it is given (-x), what it prints and what it looks
// up under /proc are one and the same. In the first namespace these are the kernel's own numbers.

// nestedMax is how many levels of namespaces below the first one are looked through for the tracer's.
const nestedMax = 5

// tgid gives the number of the current process, 0 if it has none in the tracer's namespace.
func (g *gen) tgid() mach.Reg { return g.currentID(false) }

// currentID gives the number of the current process or thread.
func (g *gen) currentID(thread bool) mach.Reg {
	if !g.u.OtherPidNS {
		id := g.pidTgid()
		if thread {
			g.aluI(asm.LSh, id, 32)
		}
		g.aluI(asm.RSh, id, 32)
		return id
	}
	// struct bpf_pidns_info: u32 pid (of the thread), u32 tgid. The helper knows only tasks whose own namespace it is.
	slot := g.temp(8)
	g.storeIS(slot, 0, 0, asm.DWord)
	ctl := g.mapVal(plan.MapControl, 0)
	r := g.call(asm.FnGetNsCurrentPidTgid, aReg(g.get(ctl, plan.CtlPidNSDev, asm.DWord)), aReg(g.get(ctl, plan.CtlPidNSIno, asm.DWord)),
		aSlot(slot, 0), aImm(8))
	off := 4
	if thread {
		off = 0
	}
	id := g.getS(slot, off, asm.Word)
	nested, done := g.cold(), g.block()
	g.condI(asm.JNE, r, 0, nested, done)
	g.set(nested)
	if p, ok := g.currentPid(thread, g.member); ok {
		g.mov(id, g.numberOf(p))
	} else {
		g.movI(id, 0)
	}
	g.jump(done)
	g.set(done)
	return id
}

// Kinds of numbers (enum pid_type of include/linux/pid_types.h).
const (
	pidTgid  = 1
	pidGroup = 2
	pidSess  = 3
)

// upidSize is the size of struct upid: int nr; struct pid_namespace *ns.
const upidSize = 16

// offsets finds a member of a structure of the kernel, as gen.member and what gen.needed gives do.
type offsets func(structure, path string) (int, bool)

// member finds a member of a structure of the kernel, if this kernel tells where it is.
func (g *gen) member(structure, path string) (int, bool) {
	if g.u.Types == nil {
		return 0, false
	}
	off, _, err := g.u.Types.Offset(structure, path)
	return off, err == nil
}

// needed finds members that in cannot do without: what this kernel does not tell is refused.
func (g *gen) needed(in *ir.Instr) offsets {
	return func(structure, path string) (int, bool) { return g.offset(in, structure, path) }
}

// currentPid gives the address of the struct pid of the current process or thread.
func (g *gen) currentPid(thread bool, find offsets) (mach.Reg, bool) {
	task := g.call(asm.FnGetCurrentTask)
	if thread {
		via, ok := find("task_struct", "thread_pid")
		return g.kernelWord(task, via, 8), ok
	}
	return g.pidOf(task, pidTgid, find)
}

// pidOf gives the address of a struct pid of a task by its kind.
func (g *gen) pidOf(task mach.Reg, kind int, find offsets) (mach.Reg, bool) {
	sig, ok := find("task_struct", "signal")
	pids, ok2 := find("signal_struct", "pids")
	if !ok || !ok2 {
		return task, false
	}
	return g.kernelWord(g.kernelWord(task, sig, 8), pids+8*kind, 8), true
}

// numberOf gives the number that a struct pid has in the tracer's namespace, 0 if it has none there.
func (g *gen) numberOf(p mach.Reg) mach.Reg {
	id := g.imm(0)
	numbers, ok := g.member("pid", "numbers")
	if !ok {
		return id
	}
	if !g.u.OtherPidNS {
		g.mov(id, g.kernelWord(p, numbers, 4)) // numbers[0].nr
		return id
	}
	level, ok := g.member("pid", "level")
	inum, ok2 := g.member("pid_namespace", "ns.inum")
	if !ok || !ok2 {
		return id
	}
	ino := g.get(g.mapVal(plan.MapControl, 0), plan.CtlPidNSIno, asm.Word)
	last := g.kernelWord(p, level, 4)
	done := g.block()
	for i := 1; i <= nestedMax; i++ {
		g.unlessI(asm.JLT, last, int64(i), done)
		ns := g.kernelWord(p, numbers+upidSize*i+8, 8)
		next := g.block()
		g.unless(asm.JNE, g.kernelWord(ns, inum, 4), ino, next)
		g.mov(id, g.kernelWord(p, numbers+upidSize*i, 4))
		g.jump(done)
		g.set(next)
	}
	g.here(done)
	return id
}
