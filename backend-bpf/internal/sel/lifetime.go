package sel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// process.begin is the scheduler's tracepoint behind a successful exec, process.end the one at which a
// thread exits, taken for the last thread of a process. A path is compared as inode and device of the
// process's executable, so that links and namespaces do not matter. Before Linux 6.16 an exiting
// process has let go of its memory, and of the executable with it, by then; for those kernels a
// program at exec keeps the processes of interest in a map, which begins with the ones that run already.

//
// process.thread.begin is where the system call that makes threads returns in the new one, and process.thread.end the exit of a thread that
// is not its process's first.

func lifetime(k probe.Kind) bool { return k >= probe.ProcessBegin && k <= probe.ThreadEnd }

// The system calls that make threads; both give 0 in the new one.
const (
	callClone  = unix.SYS_CLONE
	callClone3 = unix.SYS_CLONE3
)

// threadFilter drops hits at process.thread.begin that are not a new thread's, which are most: it comes before the other filters.
func (g *gen) threadFilter(out *mach.Block) {
	if g.h.Sites[0].Kind != probe.ThreadBegin {
		return
	}
	ret := 8
	if g.record {
		ret = recordRet
	}
	g.unlessI(asm.JNE, g.get(g.ctx, ret, asm.DWord), 0, out)
	made, other := g.block(), g.block()
	nr := g.syscallNr()
	g.condI(asm.JEq, nr, callClone, made, other)
	g.set(other)
	g.unlessI(asm.JNE, nr, callClone3, out)
	g.jump(made)
	g.set(made)
	g.unless(asm.JEq, g.currentID(true), g.currentID(false), out)
}

// lifetimeFilter drops processes that the site is not for, and threads that are not their process's last.
func (g *gen) lifetimeFilter(out *mach.Block) {
	s := g.h.Sites[0]
	if !lifetime(s.Kind) {
		return
	}
	in := &ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}
	if s.Kind == probe.ProcessEnd && !g.lastThread(in, out) {
		return
	}
	if s.Kind == probe.ThreadEnd {
		g.unless(asm.JEq, g.currentID(true), g.currentID(false), out)
	}
	if s.Path == "" || s.PID != 0 || s.Target {
		return
	}
	if s.Kind == probe.ThreadEnd && !g.u.ExitKeepsMemory() {
		g.u.refuse(in.Pos, "bpf-probe-kind", "before Linux 6.16 a thread that ends has no memory any more that tells its program: process.thread.end of -c or -x works, process(\"file\").thread.end does not")
		return
	}
	if s.Kind == probe.ProcessEnd && !g.u.ExitKeepsMemory() {
		key := g.temp(8)
		g.storeS(key, 0, g.tgid(), asm.Word)
		// Of two threads that find all others gone, one gets it out of the map.
		g.unlessI(asm.JNE, g.call(asm.FnMapDeleteElem, aMap(g.u.watch(s.Path)), aSlot(key, 0)), 0, out)
		return
	}
	g.executable(in, s.Path, out)
}

// lastThread goes on only in the last thread of a process. Where the kernel says which one that is (since 6.16) it is asked; by the count of
// those that live, two that end at the same time can both take themselves for the last.
func (g *gen) lastThread(in *ir.Instr, out *mach.Block) bool {
	if g.u.ExitKeepsMemory() {
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
	if !ok || !ok2 {
		return false
	}
	p := g.kernelWord(g.call(asm.FnGetCurrentTask), sig, 8)
	g.unlessI(asm.JNE, g.kernelWord(p, live, 4), 0, out)
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

// fileID gives a file's inode number and the device in the kernel's own form (include/linux/kdev_t.h).
func fileID(path string) (ino uint64, dev uint32, err error) {
	fi, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, fmt.Errorf("%s: no inode", path)
	}
	return st.Ino, unix.Major(st.Dev)<<20 | unix.Minor(st.Dev), nil
}

// ExitKeepsMemory reports whether sched_process_exit comes before a process's memory is gone: since 6.16, when the
// tracepoint got a second argument.
func (u *Unit) ExitKeepsMemory() bool {
	return u.Types != nil && u.Types.TracepointArgs("sched_process_exit") >= 2
}

// watch gives the map of the processes that run path.
func (u *Unit) watch(path string) string {
	if u.watched == nil {
		u.watched = map[string]string{}
	}
	if u.watched[path] == "" {
		u.watched[path] = fmt.Sprintf("gostap_procs%d", len(u.watched))
	}
	return u.watched[path]
}

// running lists the processes that run the file at path.
func running(path string) []int {
	ino, dev, err := fileID(path)
	if err != nil {
		return nil
	}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	var out []int
	for _, l := range links {
		if i, d, err := fileID(l); err == nil && i == ino && d == dev && len(out) < maxWatched {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(l))); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}
