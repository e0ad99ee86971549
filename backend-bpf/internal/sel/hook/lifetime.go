package hook

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// process.begin is the scheduler's tracepoint behind a successful exec, and in a process that was made by fork its
// return of that system call, which is how it begins: the tracepoint of a fork comes in the parent. process.end is the
// tracepoint at which a thread exits, taken for the last thread of a process. thread.begin and thread.end are the same
// for the threads that are not the first ones of their processes. A path is compared as inode and device of the
// process's executable, so that links and namespaces do not matter. Before Linux 6.16 an exiting process has let go of
// its memory, and of the executable with it, by then; for those kernels programs at exec and fork keep the processes of
// interest in a map, which begins with the ones that run already.

// runs is hook.then where something begins: it goes on only in a process that runs the site's program.
func (g *Hook) runs(out *mach.Block) {
	if s := g.H.Sites[0]; s.Program.Path != "" && s.Program.PID == 0 && !s.Program.Target {
		g.Executable(&ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}, s.Program.Path, out)
	}
}

// ran is runs where something ends.
func (g *Hook) ran(out *mach.Block) {
	if s := g.H.Sites[0]; s.Program.Path != "" && s.Program.PID == 0 && !s.Program.Target && !ExitKeepsMemory(g.U) {
		g.watched(s.Program.Path, out)
		return
	}
	g.runs(out)
}

// threadEnds is hook.then at the end of a thread that is not its process's first one.
func (g *Hook) threadEnds(out *mach.Block) {
	g.first(asm.JEq, out)
	g.ran(out)
}

// processEnds is hook.then at the end of a process.
func (g *Hook) processEnds(out *mach.Block) {
	if g.lastThread(&ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}, out) {
		g.ran(out)
	}
}

// first leaves to out by whether the current thread is the first one of its process: asm.JEq if it is, asm.JNE if not.
func (g *Hook) first(op asm.JumpOp, out *mach.Block) {
	process := g.Call(asm.FnGetCurrentPidTgid)
	thread := g.Copy(process)
	g.AluI(asm.LSh, thread, 32)
	g.AluI(asm.RSh, thread, 32)
	g.AluI(asm.RSh, process, 32)
	g.Unless(op, process, thread, out)
}

// processBorn is hook.first at what begins by the return of a system call, threadBorn the same for threads.
func (g *Hook) processBorn(out *mach.Block) { g.born(asm.JNE, out) }

func (g *Hook) threadBorn(out *mach.Block) { g.born(asm.JEq, out) }

// born goes on only where a system call returns that has made the current process, or thread (see first), in it.
// Most hits are not that: it comes before the other filters.
func (g *Hook) born(op asm.JumpOp, out *mach.Block) {
	ret := 8
	if g.Record {
		ret = recordRet
	}
	g.UnlessI(asm.JNE, g.Get(g.Ctx, ret, asm.DWord), 0, out)
	g.first(op, out)
	calls := g.U.P.On().Syscall
	status := 0
	if calls.Compat != nil {
		var ok bool
		pos := &ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}
		if status, ok = g.task.Offset(pos, "task_struct", calls.Compat.Status); !ok {
			return
		}
	}
	nr := g.syscallNr()
	old, born := g.Block(), g.Block()
	if calls.Compat != nil {
		g.UnlessI(asm.JSet, g.Get(g.Call(asm.FnGetCurrentTaskBtf), status, asm.Word), calls.Compat.Mask, old)
	}
	for _, n := range calls.Makers {
		g.UnlessI(asm.JEq, nr, n, born)
	}
	g.Jump(out)
	if calls.Compat != nil {
		g.Set(old)
		for _, n := range calls.Compat.Makers {
			g.UnlessI(asm.JEq, nr, n, born)
		}
		g.Jump(out)
	}
	g.Set(born)
}

// lastThread goes on only in the last thread of a process. Where the kernel says which one that is (since 6.16) it is
// asked. By the count of those that live, two that end at the same time can both take themselves for the last: the
// first one of them that is here has it.
func (g *Hook) lastThread(in *ir.Instr, out *mach.Block) bool {
	if ExitKeepsMemory(g.U) {
		if !g.Record {
			g.UnlessI(asm.JEq, g.Get(g.Ctx, 8, asm.DWord), 0, out)
			return true
		}
		if at, ok := g.task.Member("trace_event_raw_sched_process_exit", "group_dead"); ok {
			g.UnlessI(asm.JEq, g.Get(g.Ctx, at, asm.Byte), 0, out)
			return true
		}
	}
	sig, ok := g.task.Offset(in, "task_struct", "signal")
	live, ok2 := g.task.Offset(in, "signal_struct", "live")
	leader, ok3 := g.task.Offset(in, "task_struct", "group_leader")
	since, ok4 := g.task.Offset(in, "task_struct", "start_time")
	if !ok || !ok2 || !ok3 || !ok4 {
		return false
	}
	t := g.Call(asm.FnGetCurrentTask)
	p := g.task.KernelWord(t, sig, 8)
	g.UnlessI(asm.JNE, g.task.KernelWord(p, live, 4), 0, out)
	g.U.Ended = true
	key := g.Temp(endedKey) // a process: its signal_struct, and when it began; and the handler
	g.StoreS(key, 0, p, asm.DWord)
	g.StoreS(key, 8, g.task.KernelWord(g.task.KernelWord(t, leader, 8), since, 8), asm.DWord)
	g.StoreIS(key, 16, int64(g.H.Probe), asm.Word)
	g.StoreIS(key, 20, int64(g.H.IDs[0]), asm.Word)
	one := g.Temp(8)
	g.StoreIS(one, 0, 1, asm.DWord)
	r := g.Call(asm.FnMapUpdateElem, emit.Map(plan.MapEnded), emit.OnStack(key, 0), emit.OnStack(one, 0),
		emit.Const(emit.UpdateNew))
	g.CondInt(asm.JEq, r, emit.ErrnoExists, out, g.Block())
	return true
}

// Executable goes on only if the current process runs the file at path.
func (g *Hook) Executable(in *ir.Instr, path string, out *mach.Block) {
	ino, dev, err := fileID(path)
	if err != nil {
		g.Fail("%v", err)
		return
	}
	p := g.Call(asm.FnGetCurrentTask)
	for _, m := range [][2]string{{"task_struct", "mm"}, {"mm_struct", "exe_file"}, {"file", "f_inode"}} {
		off, ok := g.task.Offset(in, m[0], m[1])
		if !ok {
			return
		}
		p = g.task.KernelWord(p, off, 8)
	}
	inoOff, ok := g.task.Offset(in, "inode", "i_ino")
	sbOff, ok2 := g.task.Offset(in, "inode", "i_sb")
	devOff, ok3 := g.task.Offset(in, "super_block", "s_dev")
	if !ok || !ok2 || !ok3 {
		return
	}
	g.Unless(asm.JNE, g.task.KernelWord(p, inoOff, 8), g.Imm(int64(ino)), out)
	g.Unless(asm.JNE, g.task.KernelWord(g.task.KernelWord(p, sbOff, 8), devOff, 4), g.Imm(int64(dev)), out)
}

// ExitKeepsMemory reports whether sched_process_exit comes before a process's memory is gone: since 6.16, when the
// tracepoint got a second argument.
func ExitKeepsMemory(u *body.Unit) bool {
	return u.Types != nil && u.Types.TracepointArgs("sched_process_exit") >= 2
}
