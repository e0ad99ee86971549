package sel_test

import (
	"fmt"
	"testing"

	"github.com/cilium/ebpf/link"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/probe"
)

// attachEvent attaches program i if it is one at a tracepoint or at system calls.
func attachEvent(t *testing.T, b *bench, i int, s *probe.Site) bool {
	t.Helper()
	prog := b.coll.Programs[fmt.Sprintf("p%d", i)]
	var l link.Link
	var err error
	switch s.Kind {
	case probe.Tracepoint:
		l, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: s.Event[len("sched:"):], Program: prog})
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

// TestEvents reads the arguments of system calls and of a tracepoint. The program calls
// arch_prctl(ARCH_GET_FS, &fs), and munmap(page + 4096, 4096) before it.
func TestEvents(t *testing.T) {
	b := newBench(t, `
global fork long
probe "enter" {
  site syscall syscall=158 func="arch_prctl"
  long r0, r1, r2, r3
  string r4 15
b0:
  r0 = tracearg 0
  r3 = eq r0, 0x1003
  branch r3, b1, b3
b1:
  r4 = intr execname()
  r3 = scmp r4, "t"
  r3 = eq r3, 0
  branch r3, b2, b3
b2:
  r2 = tracearg 6
  print "enter %d %d\n"(r0, r2)
  end
b3:
  end
}
probe "return" {
  site syscall.return syscall=11 func="munmap"
  site syscall.return syscall=158 func="arch_prctl"
  long r0, r1, r2, r3, r6
  string r4 15, r5 20
b0:
  r4 = intr execname()
  r3 = scmp r4, "t"
  r3 = eq r3, 0
  branch r3, b1, b2
b1:
  r0 = tracearg 1
  r1 = tracearg 6
  r2 = tracearg 7
  r6 = site "id"
  r5 = site "ppfunc"
  r3 = eq r0, 4096
  branch r3, b3, b4
b2:
  end
b3:
  print "%d %d %d %s\n"(r1, r2, r6, r5)
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
  string r4 15
b0:
  r4 = intr execname()
  r3 = scmp r4, "t"
  r3 = eq r3, 0
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
`, sel.Features{MayGoto: true, FuncIP: true})
	b.hit()
	b.want([][]string{{"0"}, {"11", "0", "0", "munmap"}, {"4099", "158"}, {"158", "0", "1", "arch_prctl"}})
}
