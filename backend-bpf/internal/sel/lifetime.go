package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// process.begin is the scheduler's tracepoint behind a successful exec, and in a process that was made by fork its return of
// that system call, which is how it begins: the tracepoint of a fork comes in the parent. process.end is the tracepoint at which a
// thread exits, taken for the last thread of a process. thread.begin and thread.end are the same for the threads that are not
// the first ones of their processes. A path is compared as inode and device of the process's executable, so that
// links and namespaces do not matter. Before Linux 6.16 an exiting process has let go of its memory, and of the
// executable with it, by then; for those kernels programs at exec and fork keep the processes of interest in a map, which begins
// with the ones that run already.

// runs is hook.then where something begins: it goes on only in a process that runs the site's program.
func (g *gen) runs(out *mach.Block) {
	if s := g.h.Sites[0]; s.Path != "" && s.PID == 0 && !s.Target {
		g.executable(&ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}, s.Path, out)
	}
}

// ran is runs where something ends.
func (g *gen) ran(out *mach.Block) {
	if s := g.h.Sites[0]; s.Path != "" && s.PID == 0 && !s.Target && !exitKeepsMemory(g.u) {
		g.watched(s.Path, out)
		return
	}
	g.runs(out)
}

// threadEnds is hook.then at the end of a thread that is not its process's first one.
func (g *gen) threadEnds(out *mach.Block) {
	g.first(asm.JEq, out)
	g.ran(out)
}

// processEnds is hook.then at the end of a process.
func (g *gen) processEnds(out *mach.Block) {
	if g.lastThread(&ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}, out) {
		g.ran(out)
	}
}

// first leaves to out by whether the current thread is the first one of its process: asm.JEq if it is, asm.JNE if not.
func (g *gen) first(op asm.JumpOp, out *mach.Block) {
	process := g.call(asm.FnGetCurrentPidTgid)
	thread := g.copy(process)
	g.aluI(asm.LSh, thread, 32)
	g.aluI(asm.RSh, thread, 32)
	g.aluI(asm.RSh, process, 32)
	g.unless(op, process, thread, out)
}

// makers are the system calls that make processes and threads: clone, fork, vfork, clone3 by the 64-bit table, and by
// the 32-bit one (arch/x86/entry/syscalls).
var makers, makers32 = []int64{56, 57, 58, 435}, []int64{120, 2, 190, 435}

// processBorn is hook.first at what begins by the return of a system call, threadBorn the same for threads.
func (g *gen) processBorn(out *mach.Block) { g.born(asm.JNE, out) }

func (g *gen) threadBorn(out *mach.Block) { g.born(asm.JEq, out) }

// born goes on only where a system call returns that has made the current process, or thread (see first), in it.
// Most hits are not that: it comes before the other filters.
func (g *gen) born(op asm.JumpOp, out *mach.Block) {
	ret := 8
	if g.record {
		ret = recordRet
	}
	g.unlessI(asm.JNE, g.get(g.ctx, ret, asm.DWord), 0, out)
	g.first(op, out)
	status, ok := g.offset(&ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}, "task_struct", "thread_info.status")
	if !ok {
		return
	}
	nr := g.syscallNr()
	old, born := g.block(), g.block()
	g.unlessI(asm.JSet, g.get(g.call(asm.FnGetCurrentTaskBtf), status, asm.Word), tsCompat, old)
	for _, n := range makers {
		g.unlessI(asm.JEq, nr, n, born)
	}
	g.jump(out)
	g.set(old)
	for _, n := range makers32 {
		g.unlessI(asm.JEq, nr, n, born)
	}
	g.jump(out)
	g.set(born)
}

// lastThread goes on only in the last thread of a process. Where the kernel says which one that is (since 6.16) it is asked. By the
// count of those that live, two that end at the same time can both take themselves for the last: the first one
// of them that is here has it.
func (g *gen) lastThread(in *ir.Instr, out *mach.Block) bool {
	if exitKeepsMemory(g.u) {
		if !g.record {
			g.unlessI(asm.JEq, g.get(g.ctx, 8, asm.DWord), 0, out)
			return true
		}
		if at, ok := g.member("trace_event_raw_sched_process_exit", "group_dead"); ok {
			g.unlessI(asm.JEq, g.get(g.ctx, at, asm.Byte), 0, out)
			return true
		}
	}
	sig, ok := g.offset(in, "task_struct", "signal")
	live, ok2 := g.offset(in, "signal_struct", "live")
	leader, ok3 := g.offset(in, "task_struct", "group_leader")
	since, ok4 := g.offset(in, "task_struct", "start_time")
	if !ok || !ok2 || !ok3 || !ok4 {
		return false
	}
	t := g.call(asm.FnGetCurrentTask)
	p := g.kernelWord(t, sig, 8)
	g.unlessI(asm.JNE, g.kernelWord(p, live, 4), 0, out)
	g.u.ended = true
	key := g.temp(endedKey) // a process: its signal_struct, and when it began; and the handler
	g.storeS(key, 0, p, asm.DWord)
	g.storeS(key, 8, g.kernelWord(g.kernelWord(t, leader, 8), since, 8), asm.DWord)
	g.storeIS(key, 16, int64(g.h.Probe), asm.Word)
	g.storeIS(key, 20, int64(g.h.IDs[0]), asm.Word)
	one := g.temp(8)
	g.storeIS(one, 0, 1, asm.DWord)
	r := g.call(asm.FnMapUpdateElem, aMap(plan.MapEnded), aSlot(key, 0), aSlot(one, 0), aImm(updateNew))
	g.condInt(asm.JEq, r, errnoExists, out, g.block())
	return true
}

// executable goes on only if the current process runs the file at path.
func (g *gen) executable(in *ir.Instr, path string, out *mach.Block) {
	ino, dev, err := fileID(path)
	if err != nil {
		g.fail("%v", err)
		return
	}
	p := g.call(asm.FnGetCurrentTask)
	for _, m := range [][2]string{{"task_struct", "mm"}, {"mm_struct", "exe_file"}, {"file", "f_inode"}} {
		off, ok := g.offset(in, m[0], m[1])
		if !ok {
			return
		}
		p = g.kernelWord(p, off, 8)
	}
	inoOff, ok := g.offset(in, "inode", "i_ino")
	sbOff, ok2 := g.offset(in, "inode", "i_sb")
	devOff, ok3 := g.offset(in, "super_block", "s_dev")
	if !ok || !ok2 || !ok3 {
		return
	}
	g.unless(asm.JNE, g.kernelWord(p, inoOff, 8), g.imm(int64(ino)), out)
	g.unless(asm.JNE, g.kernelWord(g.kernelWord(p, sbOff, 8), devOff, 4), g.imm(int64(dev)), out)
}

// exitKeepsMemory reports whether sched_process_exit comes before a process's memory is gone: since 6.16, when the
// tracepoint got a second argument.
func exitKeepsMemory(u *Unit) bool {
	return u.Types != nil && u.Types.TracepointArgs("sched_process_exit") >= 2
}
