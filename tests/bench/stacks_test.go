package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// BenchmarkStacks counts hits by stack as fast as a program makes them: 1024 stacks, ten calls deep. It prints how many
// hits a second there were, how many are missing in the counts, and what a hit costs beside one of the same script
// without stacks.
func BenchmarkStacks(b *testing.B) {
	build(b)
	dir := b.TempDir()
	progs := map[string]string{"go": filepath.Join(dir, "paths"), "c": filepath.Join(dir, "pathsc")}
	for out, cmd := range map[string]*exec.Cmd{
		progs["go"]: exec.Command("go", "build", "-o", progs["go"], "../fixtures/paths"),
		progs["c"]:  exec.Command("gcc", "-O1", "-fomit-frame-pointer", "-o", progs["c"], "../fixtures/pathsc/paths.c"),
	} {
		if msg, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", out, err, msg)
		}
	}
	cases := []struct{ name, prog, leaf, key string }{
		{"Go, n++", "go", "main.leaf", ""},
		{"Go, n[ustack()]++", "go", "main.leaf", "ustack()"},
		{"Go, n[gostack()]++", "go", "main.leaf", "gostack()"},
		{"Go, n[gostack_created()]++", "go", "main.leaf", "gostack_created()"},
		{"C, n++", "c", "leaf", ""},
		{"C without frame pointers, n[ustack()]++", "c", "leaf", "ustack()"},
	}
	const depth, perStack, rounds = 10, 200, 3
	const hits = (perStack + 1) << depth
	type run struct{ ns, rate, lost, stacks []float64 }
	got := make([]run, len(cases))
	for range rounds {
		for i, c := range cases {
			script := fmt.Sprintf("probe process(%q).function(%q) ", progs[c.prog], c.leaf)
			if c.key == "" {
				script = "global n " + script + `{ n++ } probe end { println("sum ", n, " stacks 1") }`
			} else {
				script = "global n " + script + "{ n[" + c.key +
					`]++ } probe end { foreach (s in n) { sum += n[s] m++ } println("sum ", sum, " stacks ", m) }`
			}
			command := fmt.Sprint(progs[c.prog], " ", depth, " ", perStack, " timed")
			cmd := exec.Command(gostap, "-w", "-e", script, "-c", command)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				b.Fatalf("%s: %v\n%s", c.name, err, out)
			}
			m, sum := perCall.FindSubmatch(out), sums.FindSubmatch(out)
			if m == nil || sum == nil {
				b.Fatalf("%s: %s", c.name, out)
			}
			number := func(text []byte) float64 { v, _ := strconv.ParseFloat(string(text), 64); return v }
			got[i].ns = append(got[i].ns, number(m[1]))
			got[i].rate = append(got[i].rate, perStack<<depth/(number(m[2])/1e9))
			got[i].lost = append(got[i].lost, hits-number(sum[1]))
			got[i].stacks = append(got[i].stacks, number(sum[2]))
		}
	}
	bare := 0
	for i, c := range cases {
		if c.key == "" {
			bare = i
		}
		lost := 0.0
		for _, n := range got[i].lost {
			lost += n
		}
		ns := median(got[i].ns)
		fmt.Printf("stacks  %-40s %7.0f hits/s  lost %.0f of %d  %4.0f stacks  %5.0f ns a hit (ratio %.2f)\n", c.name,
			median(got[i].rate), lost, hits*rounds, median(got[i].stacks), ns, ns/median(got[bare].ns))
	}
}

var sums = regexp.MustCompile(`sum (\d+) stacks (\d+)`)
