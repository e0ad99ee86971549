package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// took is CPU time (milliseconds), the most memory (MB, with the pages of the traced file that are mapped) and the
// lines of output of a command.
type took struct {
	cpu, memory float64
	lines       int
}

// run runs a command.
func run(tb testing.TB, env []string, name string, args ...string) took {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return took{float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6, float64(u.Maxrss) / 1e3, strings.Count(string(out), "\n")}
}

// BenchmarkLarge is about a large Go program, which GOSTAP_BENCH_LARGE names (with GOSTAP_BENCH_FUNCTION, that has an
// argument called GOSTAP_BENCH_ARGUMENT), else gostap itself: the list of all its functions and inlined copies, against
// those who list its symbols alone, and the time until one variable of it is found, first and with what that has left.
// GOSTAP_BENCH_BEFORE is another gostap to hold it against.
func BenchmarkLarge(b *testing.B) {
	build(b)
	named := func(name, or string) string {
		if v := os.Getenv(name); v != "" {
			return v
		}
		return or
	}
	path := named("GOSTAP_BENCH_LARGE", gostap)
	script := `probe process("` + path + `").function("` + named("GOSTAP_BENCH_FUNCTION",
		"github.com/gostap/gostap/cmd/internal/cli.(*command).shown") + `") { println($` +
		named("GOSTAP_BENCH_ARGUMENT", "c") + `) }`
	cache := []string{"XDG_CACHE_HOME=" + b.TempDir()}
	if st, err := os.Stat(path); err == nil {
		b.Logf("%s, %d MB", filepath.Base(path), st.Size()/1e6)
	}
	type contestant struct {
		what string
		run  func() took
	}
	contestants := []contestant{
		{"gostap -l", func() took { return run(b, cache, gostap, "-w", "-l", `process("`+path+`").function("*")`) }},
		{"go tool nm", func() took { return run(b, nil, "go", "tool", "nm", path) }},
		{"bpftrace -l", func() took { return run(b, nil, "bpftrace", "-l", "uprobe:"+path+":*") }},
		{"a variable, first", func() took {
			return run(b, []string{"XDG_CACHE_HOME=" + b.TempDir()}, gostap, "-w", "-p4", "-e", script)
		}},
		{"a variable, later", func() took { return run(b, cache, gostap, "-w", "-p4", "-e", script) }},
	}
	if !havePeer(b) {
		contestants = slices.Delete(contestants, 2, 3)
	}
	if old := os.Getenv("GOSTAP_BENCH_BEFORE"); old != "" {
		contestants = append([]contestant{
			{"-l before", func() took { return run(b, cache, old, "-w", "-l", `process("`+path+`").function("*")`) }},
			{"a variable before", func() took { return run(b, cache, old, "-w", "-p4", "-e", script) }},
		}, contestants...)
	}
	for b.Loop() {
		cpus, memories, lines := map[string][]float64{}, map[string][]float64{}, map[string]int{}
		contestants[len(contestants)-1].run() // leaves what it finds for later
		for range 5 {
			for _, c := range contestants {
				t := c.run()
				cpus[c.what], memories[c.what] = append(cpus[c.what], t.cpu), append(memories[c.what], t.memory)
				lines[c.what] = t.lines
			}
		}
		for _, c := range contestants {
			b.Logf("%-18s %7.0f ms CPU, %4.0f MB, %7d lines; to go tool nm %.2f", c.what, median(cpus[c.what]),
				median(memories[c.what]), lines[c.what], ratio(median(cpus[c.what]), median(cpus["go tool nm"])))
		}
		b.ReportMetric(median(cpus["gostap -l"]), "ms/list")
		b.ReportMetric(median(cpus["a variable, later"]), "ms/variable")
	}
}
