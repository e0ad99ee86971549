package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// cpu runs a command n times and gives the median of the milliseconds of CPU it took.
func cpu(tb testing.TB, n int, name string, args ...string) float64 {
	var all []float64
	for range n {
		cmd := exec.Command(name, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		all = append(all, float64(u.Utime.Nano()+u.Stime.Nano())/1e6)
	}
	return median(all)
}

// manyLines is a script of n lines, of what scripts hold.
func manyLines(n int) string {
	var b strings.Builder
	b.WriteString("global a, b, s\n")
	for i := 1; i+10 <= n; i += 10 {
		fmt.Fprintf(&b, `function f%d(x:long, y:string) {
	if (x > %d && y != "none") {
		a[x, y] += x * 2 + strlen(y)
		s <<< x
	} else
		printf("%%d %%s\n", x, substr(y, 0, 5))
	foreach ([k, l] in a- limit 3)
		b[k] = l . "suffix"
	return x > 0 ? x - 1 : f%d(x + 1, y)
}
`, i, i, i)
	}
	b.WriteString("probe begin { println(f1(1, \"x\")) exit() }\n")
	return b.String()
}

// buildTree makes what stap wants to see of a kernel's build tree before it parses anything.
func buildTree(tb testing.TB) string {
	dir := tb.TempDir()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		tb.Fatal(err)
	}
	r := strings.TrimSpace(string(release))
	for name, text := range map[string]string{
		".config": "", "Module.symvers": "", "include/config/kernel.release": r + "\n",
		"include/generated/utsrelease.h": fmt.Sprintf("#define UTS_RELEASE %q\n", r),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// BenchmarkFront compares the front end with that of stap, where it is installed: the CPU time of -p1 and
// -p2 of a line, and of a thousand lines.
func BenchmarkFront(b *testing.B) {
	build(b)
	const line = `probe begin { printf("hello %d\n", 42) exit() }`
	text := manyLines(1000)
	file := filepath.Join(b.TempDir(), "thousand.stp")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	stap, err := exec.LookPath("stap")
	if err != nil {
		b.Log("stap is not installed: no ratios (apt-get install systemtap)")
	}
	tree := buildTree(b)
	for b.Loop() {
		var parse []float64
		for range 20 {
			var fs source.FileSet
			start := time.Now()
			_, ds := grammar.Parse(fs.Add("thousand.stp", []byte(text)),
				grammar.Options{Files: &fs, Cond: grammar.Conditions{Kernel: "6.18"}})
			parse = append(parse, float64(time.Since(start).Microseconds())/1000)
			if ds.HasErrors() {
				b.Fatal(ds[0].Message)
			}
		}
		b.Logf("%-28s %8.2f ms", "parse 1,000 lines in place", median(parse))
		b.ReportMetric(median(parse), "ms/1000lines")
		for _, c := range []struct {
			what string
			args []string
		}{
			{"-p1 of a line", []string{"-p1", "-e", line}}, {"-p2 of a line", []string{"-p2", "-e", line}},
			{"-p1 of 1,000 lines", []string{"-p1", file}}, {"-p2 of 1,000 lines", []string{"-p2", file}},
		} {
			ours := cpu(b, 15, gostap, append([]string{"-w"}, c.args...)...)
			if c.what == "-p2 of a line" {
				b.ReportMetric(ours, "ms/p2line")
			}
			if stap == "" {
				b.Logf("%-28s %8.2f ms CPU", c.what, ours)
				continue
			}
			theirs := cpu(b, 5, stap, append([]string{"-w", "-r", tree}, c.args...)...)
			b.Logf("%-28s %8.2f ms CPU, stap %8.2f ms: %.1f times", c.what, ours, theirs, ratio(theirs, ours))
		}
	}
}
