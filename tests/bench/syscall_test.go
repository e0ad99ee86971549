package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// callsProgram is a program that calls getpgid as often as its argument says.
func callsProgram(b *testing.B) string {
	prog := filepath.Join(b.TempDir(), "calls")
	if out, err := exec.Command("gcc", "-O1", "-o", prog, "../fixtures/calls/calls.c").CombinedOutput(); err != nil {
		b.Fatalf("build calls.c: %v\n%s", err, out)
	}
	return prog
}

// BenchmarkSyscall measures what a probe adds to a call of getpgid, in CPU ns, and how long it takes to probe all
// calls.
func BenchmarkSyscall(b *testing.B) {
	build(b)
	peer := havePeer(b)
	prog := callsProgram(b)
	const calls = 1000000
	run := func() float64 {
		cmd := exec.Command("taskset", "-c", lastCPU(), prog, strconv.Itoa(calls))
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		return float64(u.Utime.Nano()+u.Stime.Nano()) / calls
	}
	type contestant struct {
		name  string
		start func() func()
	}
	tracing := func(script string) func() func() {
		return func() func() { t := gostapRun(b, script); return func() { t.stop() } }
	}
	all := []contestant{
		{"no probe", func() func() { return func() {} }},
		{"empty tp_btf program", func() func() { return emptyEnter(b) }},
		{"gostap syscall.getpgid { n++ }", tracing("global n probe syscall.getpgid { n++ }")},
		{"gostap syscall.* { n[name]++ }", tracing("global n probe syscall.* { n[name]++ }")},
		{"gostap syscall.open { n++ }", tracing("global n probe syscall.open { n++ }")},
	}
	if peer {
		for _, s := range []string{"tracepoint:syscalls:sys_enter_getpgid { @ = count(); }",
			"tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }"} {
			all = append(all, contestant{"bpftrace " + s, func() func() {
				t := bpftraceTraced(b, s)
				time.Sleep(200 * time.Millisecond)
				return func() { t.stop() }
			}})
		}
	}
	for range b.N {
		got := make([][]float64, len(all))
		for range 5 {
			for i, c := range all {
				stop := c.start()
				got[i] = append(got[i], run())
				stop()
			}
		}
		bare := median(got[0])
		for i, c := range all {
			b.Logf("%-60s %6.1f ns, added %5.1f", c.name, median(got[i]), median(got[i])-bare)
		}
		added := func(i int) float64 { return median(got[i]) - bare }
		b.ReportMetric(added(2)/added(1), "n++/empty")
		if peer {
			b.ReportMetric(added(2)/added(5), "n++/bpftrace")
			b.ReportMetric(added(3)/added(6), "by-name/bpftrace-by-number")
		}
	}
	for _, script := range []string{"probe syscall.* { n[name]++ }", `probe syscall.* { n[argstr]++ }`} {
		var took []float64
		for range 5 {
			start := time.Now()
			t := gostapRun(b, "global n "+script)
			took = append(took, float64(time.Since(start).Milliseconds()))
			t.stop()
		}
		b.Logf("%s: attached after %.0f ms", script, median(took))
	}
}

// BenchmarkSyscallLatency measures what it costs to time each call of getpgid, in CPU ns for a call, where one process
// calls and where one does on each CPU.
func BenchmarkSyscallLatency(b *testing.B) {
	build(b)
	peer := havePeer(b)
	prog := callsProgram(b)
	const calls = 1000000
	run := func(processes int) float64 {
		cmds := make([]*exec.Cmd, processes)
		for i := range cmds {
			cmds[i] = exec.Command("taskset", "-c", strconv.Itoa(i), prog, strconv.Itoa(calls))
			if err := cmds[i].Start(); err != nil {
				b.Fatal(err)
			}
		}
		took := 0.0
		for _, cmd := range cmds {
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
			u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			took += float64(u.Utime.Nano()+u.Stime.Nano()) / calls
		}
		return took / float64(processes)
	}
	const script = `global t, d probe syscall.getpgid { t[tid()] = gettimeofday_ns() }
		probe syscall.getpgid.return {
			if (tid() in t) { d <<< gettimeofday_ns() - t[tid()]; delete t[tid()] }
		}`
	const theirs = `tracepoint:syscalls:sys_enter_getpgid { @t[tid] = nsecs }
		tracepoint:syscalls:sys_exit_getpgid /@t[tid]/ { @d = stats(nsecs - @t[tid]); delete(@t[tid]) }`
	for range b.N {
		for _, processes := range []int{1, runtime.NumCPU()} {
			var bare, ours, peers []float64
			for range 5 {
				bare = append(bare, run(processes))
				t := gostapRun(b, script)
				ours = append(ours, run(processes))
				t.stop()
				if peer {
					t := bpftraceTraced(b, theirs)
					time.Sleep(200 * time.Millisecond)
					peers = append(peers, run(processes))
					t.stop()
				}
			}
			added := median(ours) - median(bare)
			b.Logf("%d at a time: bare %.1f ns, gostap adds %.1f", processes, median(bare), added)
			if peer {
				b.Logf("%d at a time: bpftrace adds %.1f", processes, median(peers)-median(bare))
				b.ReportMetric(added/(median(peers)-median(bare)), fmt.Sprintf("latency-%d/bpftrace", processes))
			}
		}
	}
}

// bpftraceTraced runs bpftrace with a tracefs of its own, in case nobody has mounted one.
func bpftraceTraced(tb testing.TB, script string) *tracer {
	return start(tb, "Attaching", "unshare", "-m", "sh", "-c",
		"mount -t debugfs none /sys/kernel/debug; mount -t tracefs none /sys/kernel/tracing; exec bpftrace -e \"$0\"",
		script)
}

// emptyEnter attaches a program that does nothing to sys_enter.
func emptyEnter(tb testing.TB) func() {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
		AttachTo: "sys_enter", License: "GPL", Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
	if err != nil {
		tb.Fatal(err)
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: p})
	if err != nil {
		tb.Fatal(err)
	}
	return func() { l.Close(); p.Close() }
}
