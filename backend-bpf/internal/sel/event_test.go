package sel_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"github.com/gostap/gostap/backend-bpf/internal/features"
	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/debuginfo/tracefs"
	"github.com/gostap/gostap/compiler/probe"
)

// attachEvent attaches program i if it is one at a tracepoint or at system calls.
func attachEvent(t *testing.T, b *bench, i int, s *probe.Site) bool {
	t.Helper()
	prog := b.coll.Programs[fmt.Sprintf("p%d", i)]
	var l link.Link
	var err error
	if prog.Type() == ebpf.TracePoint {
		attachRecord(t, prog, map[probe.Kind]string{probe.ProcessSyscall: "raw_syscalls:sys_enter",
			probe.ProcessSyscallReturn: "raw_syscalls:sys_exit", probe.ProcessBegin: "sched:sched_process_exec",
			probe.ProcessEnd: "sched:sched_process_exit", probe.Tracepoint: s.Event}[s.Kind])
		return true
	}
	switch s.Kind {
	case probe.Tracepoint:
		l, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: s.Event[strings.IndexByte(s.Event, ':')+1:],
			Program: prog})
	case probe.ProcessSyscall, probe.ProcessSyscallReturn:
		l, err = link.AttachTracing(link.TracingOptions{Program: prog})
	default:
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return true
}

// attachRecord attaches a program that is given the records of an event.
func attachRecord(t *testing.T, prog *ebpf.Program, event string) {
	t.Helper()
	fs, err := tracefs.Open()
	if err != nil {
		t.Skip(err)
	}
	defer fs.Close()
	system, name, _ := strings.Cut(event, ":")
	id, err := fs.ID(system, name)
	if err != nil {
		t.Fatal(err)
	}
	perf, err := kern.PerfTracepoint(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kern.Close(perf) })
	l, err := kern.LinkPerf(prog.FD(), perf, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kern.Close(l) })
}

// TestEvents reads the arguments of system calls and of a tracepoint. The program calls
// arch_prctl(ARCH_GET_FS, &fs), and munmap(page + 4096, 4096) before it. Programs that are given the arguments of raw
// tracepoints and those that are given the records of events have to say the same.
func TestEvents(t *testing.T) {
	for _, records := range []bool{false, true} {
		t.Run(map[bool]string{false: "arguments", true: "records"}[records], func(t *testing.T) {
			b := newBench(t, strings.ReplaceAll(eventProgram, "%PID", strconv.Itoa(os.Getpid())),
				sel.Features{MayGoto: features.Has(features.MayGoto), FuncIP: true,
					Events: func() bool { return records }})
			b.hit()
			want := [][]string{{"0"}, {"11", "0", "0", "munmap"}, {"4099", "158"}, {"4099", "4099", "158"},
				{"4099", "0"}, {"158", "0", "1", "arch_prctl"}}
			b.want(want)
		})
	}
}

const eventProgram = `
global fork long
probe "enter" {
  site syscall syscall=158 func="arch_prctl"
  long r0, r1, r2, r3
b0:
  r0 = tracearg 0
  r3 = eq r0, 0x1003
  branch r3, b1, b3
b1:
  r3 = intr ppid()
  r3 = eq r3, %PID
  branch r3, b2, b3
b2:
  r2 = tracearg 6
  print "enter %d %d\n"(r0, r2)
  end
b3:
  end
}
probe "trace" {
  site tracepoint event="raw_syscalls:sys_enter"
  long r0, r1, r2, r3
b0:
  r1 = tracearg 1
  r3 = eq r1, 158
  branch r3, b1, b3
b1:
  r3 = intr ppid()
  r3 = eq r3, %PID
  branch r3, b2, b3
b2:
  r0 = tracearg 0
  r3 = add r0, 112
  r3 = load8k r3
  r2 = eq r3, 0x1003
  r0 = add r0, 1
  r0 = sub r0, 1
  r0 = add r0, 112
  r0 = load8k r0
  branch r2, b4, b3
b3:
  end
b4:
  print "trace %d %d %d\n"(r3, r0, r1)
  end
}
probe "traced" {
  site tracepoint event="raw_syscalls:sys_exit"
  long r0, r1, r2, r3
b0:
  r3 = intr ppid()
  r3 = eq r3, %PID
  branch r3, b1, b2
b1:
  r0 = tracearg 0
  r1 = tracearg 1
  r3 = add r0, 120
  r3 = load8k r3
  r3 = eq r3, 158
  branch r3, b3, b2
b2:
  end
b3:
  r2 = add r0, 112
  r2 = load8k r2
  r3 = eq r2, 0x1003
  branch r3, b4, b2
b4:
  print "traced %d %d\n"(r2, r1)
  end
}
probe "return" {
  site syscall.return syscall=11 func="munmap"
  site syscall.return syscall=158 func="arch_prctl"
  long r0, r1, r2, r3, r4
  string r5 20
b0:
  r3 = intr ppid()
  r3 = eq r3, %PID
  branch r3, b1, b2
b1:
  r0 = tracearg 1
  r1 = tracearg 6
  r2 = tracearg 7
  r4 = site "id"
  r5 = site "ppfunc"
  r3 = eq r0, 4096
  branch r3, b3, b4
b2:
  end
b3:
  print "%d %d %d %s\n"(r1, r2, r4, r5)
  end
b4:
  r3 = eq r1, 158
  r3 = eq r3, 0
  branch r3, b2, b5
b5:
  r0 = tracearg 0
  r3 = eq r0, 0x1003
  branch r3, b3, b2
}
probe "fork" {
  site tracepoint event="sched:sched_process_exec"
  long r0, r1, r2, r3
b0:
  r3 = intr ppid()
  r3 = eq r3, %PID
  branch r3, b1, b2
b1:
  r0 = tracearg 2
  r1 = load8k r0
  r1 = tracearg 1
  r2 = intr pid()
  r2 = sub r2, r1
  print "exec %d\n"(r2)
  end
b2:
  end
}
`
