package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serverSource is a server of 10,000 goroutines that wait for requests. A request is a send to one of them: two
// switches. It does 200,000, and tells what CPU time one took. With an argument it writes the runtime's trace of that.
const serverSource = `package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"syscall"
)

//go:noinline
func serve(c chan int) {
	for range c {
	}
}

func used() int64 {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func main() {
	if len(os.Args) > 1 {
		f, _ := os.Create(os.Args[1])
		trace.Start(f)
		defer trace.Stop()
	}
	all := make([]chan int, 10000)
	for i := range all {
		all[i] = make(chan int)
		go serve(all[i])
	}
	const n = 200000
	begun := used()
	for i := range n {
		all[i*7919%len(all)] <- i
	}
	fmt.Println("request", (used()-begun)/n)
}
`

// BenchmarkProfile measures what profilers take of a server with 10,000 goroutines: CPU time of the server for a
// request, the least of rounds in which all take turns, since others on the machine can only add to it; what it takes
// at 25,000 requests a second, which is 50,000 switches; and the profiler's own memory and CPU time.
func BenchmarkProfile(b *testing.B) {
	build(b)
	dir := b.TempDir()
	prog := filepath.Join(dir, "server")
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"main.go": serverSource, "go.mod": "module server\n\ngo 1.25\n"} {
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", prog, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	ours := func(args ...string) []string {
		return append([]string{gostap, "profile", "-o", in("out.pb.gz"), "-c", prog}, args...)
	}
	uprobes := fmt.Sprintf(`uprobe:%[1]s:runtime.gopark { @[ustack()] = count() }
		uprobe:%[1]s:runtime.ready, uprobe:%[1]s:runtime.execute { @n = count() }`, prog)
	contestants := []struct {
		name string
		args []string
	}{
		{"alone", []string{prog}},
		{"gostap profile", ours()},
		{"gostap profile --what wall", ours("--what", "wall")},
		{"gostap profile --what chan", ours("--what", "chan")},
		{"gostap profile --what lock", ours("--what", "lock")},
		{"gostap profile --what wall --each", ours("--what", "wall", "--each", "--buffer", "256")},
		{"gostap profile --what wall --sample", ours("--what", "wall", "--sample")},
		{"gostap profile --what wall --threads", ours("--what", "wall", "--threads")},
		{"perf record -F 997 -g", []string{"perf", "record", "-q", "-F", "997", "-g", "-o", in("perf"), prog}},
		{"perf sched record", []string{"perf", "sched", "record", "-q", "-o", in("sched"), prog}},
		{"bpftrace profile:hz:997, stacks", []string{"bpftrace", "-c", prog, "-e",
			"profile:hz:997 /pid == cpid/ { @[ustack()] = count() }"}},
		{"bpftrace, uprobes on gopark, ready, execute", []string{"bpftrace", "-c", prog, "-e", uprobes}},
		{"runtime/trace", []string{prog, in("trace")}},
	}
	for range b.N {
		least := make([]int64, len(contestants))
		memory, cpu, wall := make([]int64, len(contestants)), make([]float64, len(contestants)), make([]float64,
			len(contestants))
		said := make([]string, len(contestants))
		for round := range 5 {
			for i, c := range contestants {
				cmd := exec.Command(c.args[0], c.args[1:]...)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				begun := time.Now()
				err := cmd.Run()
				took := time.Since(begun).Seconds()
				var ns int64
				at := strings.Index(out.String(), "request ")
				if at >= 0 {
					fmt.Sscanf(out.String()[at:], "request %d", &ns)
				}
				if err != nil || ns == 0 {
					b.Logf("%s: %v: %s", c.name, err, out.String())
					continue
				}
				u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
				if round == 0 || ns < least[i] {
					least[i] = ns
				}
				if used := float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9; round == 0 || used < cpu[i] {
					cpu[i] = used // with the server, which it has waited for
				}
				if round == 0 || took < wall[i] {
					wall[i] = took
				}
				memory[i] = max(memory[i], u.Maxrss>>10)
				if k := strings.Index(strings.ToLower(out.String()), "lost"); k >= 0 {
					said[i] = strings.SplitN(out.String()[k:], "\n", 2)[0]
				}
			}
		}
		for i, c := range contestants {
			more := least[i] - least[0]
			b.Logf("%-44s %6d ns a request, %6d more: %5.1f %% of a processor at 25,000 a second; "+
				"%4d MB, %5.2f s of CPU and %5.2f s in all %s", c.name, least[i], more, float64(more)*25000/1e7,
				memory[i], cpu[i], wall[i], said[i])
		}
		for i, c := range contestants {
			if slices.Contains([]int{2, 6, 8, 11, 12}, i) {
				b.ReportMetric(float64(least[i])/float64(least[0]), strings.ReplaceAll(c.name, " ", "_")+"/alone")
			}
		}
		for _, name := range []string{"perf", "sched", "trace", "out.pb.gz"} {
			if st, err := os.Stat(in(name)); err == nil {
				b.Logf("%s: %d kB", name, st.Size()/1000)
			}
		}
	}
}
