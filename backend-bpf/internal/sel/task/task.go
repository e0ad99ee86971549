// Package task writes the code that asks who runs: processes and threads by number, in the namespace of the tracer or
// their own, names, users, and the kernel's structures behind them.
//
// In: what is asked. Out: registers with the answers.
package task

import (
	"github.com/cilium/ebpf/asm"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// Task writes what handlers ask of the thread that they run in.
type Task struct{ *body.Body }

// New gives the Task of a handler.
func New(b *body.Body) *Task { return &Task{b} }

// Offset finds a member of a kernel structure.
func (g *Task) Offset(in *ir.Instr, structure, path string) (int, bool) {
	if g.U.Types == nil {
		g.Refuse(in, "bpf-kernel-types",
			"this needs the types of the kernel, which this kernel does not publish (CONFIG_DEBUG_INFO_BTF)")
		return 0, false
	}
	off, _, err := g.U.Types.Offset(structure, path)
	if err != nil {
		g.Refuse(in, "bpf-kernel-types", "this kernel's %s has no %s: %v", structure, path, err)
		return 0, false
	}
	return off, true
}

// KernelWord reads n bytes of kernel memory at p + off; what cannot be read is 0.
func (g *Task) KernelWord(p mach.Reg, off, n int) mach.Reg {
	s := g.Temp(8)
	g.StoreIS(s, 0, 0, asm.DWord)
	g.Call(asm.FnProbeReadKernel, emit.OnStack(s, 0), emit.Const(int64(n)), emit.InReg(g.BinI(asm.Add, p, int64(off))))
	v := g.GetS(s, 0, asm.DWord)
	g.Free(s)
	return v
}

// memberType is the structure that a pointer member of task_struct leads to.
var memberType = map[string]string{"real_parent": "task_struct", "cred": "cred"}

// TaskInt reads an int behind a pointer of the current task.
func (g *Task) TaskInt(in *ir.Instr, via, field string) {
	a, ok := g.Offset(in, "task_struct", via)
	b, ok2 := g.Offset(in, memberType[via], field)
	if !ok || !ok2 {
		g.Result(in, g.Imm(0))
		return
	}
	p := g.KernelWord(g.Call(asm.FnGetCurrentTask), a, 8)
	g.Result(in, g.KernelWord(p, b, 4))
}

// TaskPid reads the number of the current task's process group or session.
func (g *Task) TaskPid(in *ir.Instr, kind int) {
	find := g.needed(in)
	p, ok := g.pidOf(g.Call(asm.FnGetCurrentTask), kind, find)
	if _, ok2 := find("pid", "numbers"); !ok || !ok2 {
		g.Result(in, g.Imm(0))
		return
	}
	g.Result(in, g.numberOf(p))
}

// Ppid reads the number of the parent of the current process.
func (g *Task) Ppid(in *ir.Instr) {
	if !g.U.OtherPidNS {
		g.TaskInt(in, "real_parent", "tgid")
		return
	}
	par, ok := g.Offset(in, "task_struct", "real_parent")
	p, ok2 := g.pidOf(g.KernelWord(g.Call(asm.FnGetCurrentTask), par, 8), pidTgid, g.needed(in))
	if !ok || !ok2 {
		g.Result(in, g.Imm(0))
		return
	}
	g.Result(in, g.numberOf(p))
}

// NsPid gives the number of the current process, or thread, in its own pid namespace: the last of the numbers
// that its struct pid holds, one for each namespace from the first one down.
func (g *Task) NsPid(in *ir.Instr, thread bool) {
	find := g.needed(in)
	level, ok := find("pid", "level")
	numbers, ok2 := find("pid", "numbers")
	p, ok3 := g.currentPid(thread, find)
	if !ok || !ok2 || !ok3 {
		g.Result(in, g.Imm(0))
		return
	}
	n := g.KernelWord(p, level, 4)
	g.Result(in, g.KernelWord(g.Bin(asm.Add, p, g.BinI(asm.Mul, n, upidSize)), numbers, 4))
}

// TLS is OpTLS: the thread's pointer to what is its own, as the kernel keeps it. It is set through the kernel, so what
// the kernel keeps is right for the running thread too.
func (g *Task) TLS(in *ir.Instr) {
	off, ok := g.Offset(in, "task_struct", g.U.P.On().Thread)
	if !ok {
		g.MovI(g.Longs[in.Dst], 0)
		return
	}
	g.Load(g.Longs[in.Dst], g.Call(asm.FnGetCurrentTaskBtf), off, asm.DWord)
}

// KernelTgid gives the number of the current process in the first namespace.
func (g *Task) KernelTgid() mach.Reg {
	id := g.PidTgid()
	g.AluI(asm.RSh, id, 32)
	return id
}

// atPackets reports whether the handler is one of netfilter, on a kernel that says where the members of a task are.
func (g *Task) atPackets() bool {
	if g.H == nil || g.H.Sites[0].Kind.Class() != probe.Packet {
		return false
	}
	_, ok := g.Member("task_struct", "tgid")
	return ok
}

// taskWord reads a word of the current task.
func (g *Task) taskWord(path string, size asm.Size) mach.Reg {
	off, _ := g.Member("task_struct", path)
	return g.Get(g.Call(asm.FnGetCurrentTaskBtf), off, size)
}

// PidTgid gives what bpf_get_current_pid_tgid does: the process in the upper half, the thread in the lower one.
func (g *Task) PidTgid() mach.Reg {
	if !g.atPackets() {
		return g.Call(asm.FnGetCurrentPidTgid)
	}
	id := g.BinI(asm.LSh, g.taskWord("tgid", asm.Word), 32)
	g.Alu(asm.Or, id, g.taskWord("pid", asm.Word))
	return id
}

// UidGid gives what bpf_get_current_uid_gid does: the group in the upper half, the user in the lower one.
func (g *Task) UidGid() mach.Reg {
	uid, ok := g.Member("cred", "uid")
	gid, ok2 := g.Member("cred", "gid")
	if !g.atPackets() || !ok || !ok2 {
		return g.Call(asm.FnGetCurrentUidGid)
	}
	cred := g.Number(g.taskWord("cred", asm.DWord))
	id := g.BinI(asm.LSh, g.KernelWord(cred, gid, 4), 32)
	g.Alu(asm.Or, id, g.KernelWord(cred, uid, 4))
	return id
}

// Comm writes the name of the current task, 16 bytes with a NUL.
func (g *Task) Comm(to emit.Mem) {
	const n = 16
	off, ok := g.Member("task_struct", "comm")
	if !g.atPackets() || !ok {
		g.Call(asm.FnGetCurrentComm, g.ArgP(to), emit.Const(n))
		return
	}
	task := g.Number(g.Call(asm.FnGetCurrentTaskBtf))
	g.Call(asm.FnProbeReadKernelStr, g.ArgP(to), emit.Const(n), emit.InReg(g.BinI(asm.Add, task, int64(off))))
}

// TaskRegs gives the registers with which the current thread has entered the kernel.
func (g *Task) TaskRegs() mach.Reg {
	return g.Call(asm.FnTaskPtRegs, emit.InReg(g.Call(asm.FnGetCurrentTaskBtf)))
}

// Number makes a plain number of a pointer, which the verifier does not let a handler calculate with: it is written to
// the stack and read from there as memory of the kernel.
func (g *Task) Number(p mach.Reg) mach.Reg {
	from := g.Temp(8)
	g.StoreS(from, 0, p, asm.DWord)
	to := g.Temp(8)
	g.StoreIS(to, 0, 0, asm.DWord)
	g.Call(asm.FnProbeReadKernel, emit.OnStack(to, 0), emit.Const(8), emit.OnStack(from, 0))
	return g.GetS(to, 0, asm.DWord)
}
