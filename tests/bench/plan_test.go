package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkPlan measures from the command to the first event, of a script and of its plan, in turns: times, CPU of the
// tracer, and the size of the plan.
func BenchmarkPlan(b *testing.B) {
	build(b)
	target := exec.Command(busy)
	if err := target.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { target.Process.Kill(); target.Wait() }()
	scripts := []struct{ name, text string }{
		{"a function",
			fmt.Sprintf("probe process(%q).function(\"main.step\") { printf(\"HIT %%d\\n\", $n) exit() }", busy)},
		{"and a tracepoint", fmt.Sprintf(`global n
probe kernel.trace("sched:sched_switch") { n[$prev->pid, kernel_string($next->comm)]++ }
probe process(%q).function("main.step") { printf("HIT %%d\n", $n) exit() }`, busy)},
	}
	run := func(args ...string) (first, cpu float64) {
		cmd := exec.Command(gostap, args...)
		r, w, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		cmd.Stdout, cmd.Stderr = w, w
		t0 := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		w.Close()
		sc := bufio.NewScanner(r)
		for sc.Scan() && first == 0 {
			if strings.HasPrefix(sc.Text(), "HIT") {
				first = time.Since(t0).Seconds()
			}
		}
		io.Copy(io.Discard, r)
		cmd.Wait()
		if first == 0 {
			b.Fatalf("%v printed no event", args)
		}
		return first, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	for _, s := range scripts {
		plan := filepath.Join(b.TempDir(), "p.plan")
		if out, err := exec.Command(gostap, "-p4", "-o", plan, "-e", s.text).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		st, err := os.Stat(plan)
		if err != nil {
			b.Fatal(err)
		}
		var f1, c1, f2, c2 []float64
		for range 15 {
			f, c := run("-e", s.text)
			f1, c1 = append(f1, f), append(c1, c)
			f, c = run("run", plan)
			f2, c2 = append(f2, f), append(c2, c)
		}
		fmt.Printf("plan    %-16s %d bytes; to the first event %5.1f ms, script %5.1f ms, ratio %.2f; CPU %5.1f ms, "+
			"script %5.1f ms, ratio %.2f\n", s.name, st.Size(), median(f2)*1000, median(f1)*1000,
			ratio(median(f2), median(f1)), median(c2)*1000, median(c1)*1000, ratio(median(c2), median(c1)))
	}
}
