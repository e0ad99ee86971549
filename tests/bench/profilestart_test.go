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

// startSource works for half a second with four goroutines that hand a number around, and tells when it began and
// ended. With an argument it writes the runtime's trace of that.
const startSource = `package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"time"
)

//go:noinline
func work(n int) (x int) {
	for i := range 20000 {
		x += i * n
	}
	return x
}

func main() {
	begun := time.Now()
	if len(os.Args) > 1 {
		f, _ := os.Create(os.Args[1])
		trace.Start(f)
	}
	c := make(chan int)
	for range 4 {
		go func() {
			for n := range c {
				c <- work(n)
			}
		}()
	}
	c <- 1
	time.Sleep(500 * time.Millisecond)
	if len(os.Args) > 1 {
		trace.Stop()
	}
	fmt.Printf("began %d ended %d\n", begun.UnixNano(), time.Now().UnixNano())
}
`

// BenchmarkProfileStart measures what a profile takes besides the time that is profiled: from the command to the first
// statement of the program, from the program's last one to functions with their times that can be read, the greatest
// memory of any of the processes that do it, and their CPU time. What the machine does besides changes that least.
func BenchmarkProfileStart(b *testing.B) {
	build(b)
	dir := b.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	prog := in("app")
	for name, text := range map[string]string{"main.go": startSource, "go.mod": "module app\n\ngo 1.25\n"} {
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", prog, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	contestants := []struct {
		name string
		do   [][]string
	}{
		{"gostap profile", [][]string{{gostap, "profile", "-c", prog}}},
		{"gostap profile --what wall", [][]string{{gostap, "profile", "--what", "wall", "-c", prog}}},
		{"perf record -g, perf report", [][]string{{"perf", "record", "-q", "-F", "997", "-g", "-o", in("perf"), prog},
			{"perf", "report", "-q", "-i", in("perf"), "--stdio", "--no-children", "-g", "none"}}},
		{"bpftrace profile:hz:997, stacks", [][]string{{"bpftrace", "-c", prog, "-e",
			"profile:hz:997 /pid == cpid/ { @[ustack()] = count() }"}}},
		{"runtime/trace, go tool trace", [][]string{{prog, in("trace")}, {"sh", "-c",
			"go tool trace -pprof=sched " + in("trace") + " >" + in("pprof"),
		}, {"go", "tool", "pprof", "-top", in("pprof")}}},
		{"alone", [][]string{{prog}}},
	}
	const rounds = 3
	for range b.N {
		type figures struct{ start, end, mb, cpu []float64 }
		got := make([]figures, len(contestants))
		for range rounds {
			for i, c := range contestants {
				var most int64
				var used time.Duration
				var out bytes.Buffer
				begun := time.Now()
				for _, args := range c.do {
					cmd := exec.Command(args[0], args[1:]...)
					cmd.Stdout, cmd.Stderr = &out, &out
					if err := cmd.Run(); err != nil {
						b.Fatalf("%s: %v\n%s", c.name, err, out.String())
					}
					used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
					most = max(most, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				}
				done := time.Now()
				var first, last int64
				at := strings.Index(out.String(), "began ")
				if at < 0 {
					b.Fatalf("%s: %s", c.name, out.String())
				}
				fmt.Sscanf(out.String()[at:], "began %d ended %d", &first, &last)
				g := &got[i]
				g.start = append(g.start, float64(first-begun.UnixNano())/1e6)
				g.end = append(g.end, float64(done.UnixNano()-last)/1e6)
				g.mb, g.cpu = append(g.mb, float64(most)/1024), append(g.cpu, used.Seconds()*1000)
			}
		}
		middle := func(v []float64) float64 { return slices.Sorted(slices.Values(v))[len(v)/2] }
		own, alone := got[0], got[len(got)-1]
		for i, c := range contestants {
			g := got[i]
			b.Logf("%-32s begins after %6.0f ms (%5.2f), is read %6.0f ms after the end (%5.2f), %4.0f MB (%4.2f), "+
				"%5.0f ms of CPU more than alone (%4.2f)", c.name,
				middle(g.start), middle(g.start)/middle(own.start), middle(g.end), middle(g.end)/middle(own.end),
				middle(g.mb), middle(g.mb)/middle(own.mb), middle(g.cpu)-middle(alone.cpu),
				(middle(g.cpu)-middle(alone.cpu))/(middle(own.cpu)-middle(alone.cpu)))
		}
	}
}
