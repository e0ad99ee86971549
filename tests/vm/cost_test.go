package vm

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// costs are handlers whose instructions are counted, and what each may add to an empty one at most. The probe
// itself takes about a thousand.
var costs = []struct {
	name, globals, handler string
	most                   int
}{
	{"empty", "", "", 0},
	{"target", "", "", 15}, // a bare process: is this one of the family?
	{"count", "global n", "n++", 20},
	{"scalar", "global s", "s <<< $b", 60},
	{"element", "global a", "a[$b]++", 170},
	{"text", "global a", "a[execname()]++", 340},
	{"aggregate", "global s", "s[$b] <<< $a", 180},
	{"histogram", "global s", "s[$b] <<< $a", 210},
}

func (b *bench) script(i int) string {
	c := costs[i]
	end := ""
	if c.name == "histogram" {
		end = " probe end { print(@hist_log(s[1])) }"
	}
	where := `process("` + b.prog + `")`
	if c.name == "target" {
		where = "process"
	}
	return fmt.Sprintf(`%s probe %s.function("main.quick") { %s }%s`, c.globals, where, c.handler, end)
}

// TestCost counts the instructions that handlers take, on one CPU of a machine whose clock is instructions.
func TestCost(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		const calls = 20000
		res := b.runs(t, k, Options{Count: true}, len(costs), b.script, fmt.Sprintf("%s %d time 1", b.prog, calls), `
for i in 1 2; do prog 20000 time 1; done`)
		base := 0
		for i, c := range costs {
			n := number(part(res, "s"+strconv.Itoa(i)), "call ")
			if c.name == "empty" {
				base = n
			}
			t.Logf("%-10s %5d instructions a call, %4d more than an empty handler", c.name, n, n-base)
			if n == 0 || n-base > c.most {
				t.Errorf("%s adds %d instructions, at most %d are allowed", c.name, n-base, c.most)
			}
		}
	})
}

// contended are handlers that several CPUs run at the same time on the same array, with what must come out.
var contended = []string{
	`global a probe process("%PROG").function("main.quick") { a[$b]++ }
	probe end { foreach (k in a) n += a[k] printf("all %d\n", n) }`,
	`global a probe process("%PROG").function("main.quick") { a["one"]++ } probe end { printf("all %d\n", a["one"]) }`,
	`global s probe process("%PROG").function("main.quick") { s[$b] <<< $a }
	probe end { foreach (k in s) n += @count(s[k]) printf("all %d\n", n) }`,
	`global s, last probe process("%PROG").function("main.quick") { s[$a] <<< $b } probe process("%PROG").function("main.quick") { last[$a, $b]++ }
	probe end { foreach (k in s) n += @count(s[k]) foreach ([i, j] in last) m += last[i, j] printf("all %d %d\n", n, m) }`,
}

// TestContended: on two CPUs every hit is counted, none is skipped.
func TestContended(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		const calls = 100000
		script := func(i int) string { return strings.ReplaceAll(contended[i], "%PROG", b.prog) }
		res := b.runs(t, k, Options{Parallel: true}, len(contended), script, fmt.Sprintf("%s %d time 2", b.prog, calls),
			"")
		for i := range contended {
			out := part(res, "s"+strconv.Itoa(i))
			// Where the host takes a CPU away from who holds the lock, a hit may be skipped, and then is counted so.
			n, skipped := number(out, "all "), number(out, "WARNING: Number of errors: 0, skipped probes: ")
			if n+skipped != 2*calls || skipped > calls/1000 {
				t.Errorf("%d of %d hits were counted:\n%s", n, 2*calls, out)
			}
			lines := 2 * min(skipped, 1)
			if strings.Count(out, "skipped") != lines || strings.Count(out, "WARNING") != lines {
				t.Errorf("%s", out)
			}
			t.Logf("%d ns a call", number(out, "call "))
		}
	})
}

// runs builds n scripts for a command and runs them in one guest, and something more before.
func (b *bench) runs(t *testing.T, k *Kernel, o Options, n int, script func(int) string, command,
	before string) *Result {
	t.Helper()
	kdir, err := k.BuildDir()
	if err != nil {
		t.Fatal(err)
	}
	run, cache := filepath.Join(b.dir, "kmodrun"), filepath.Join(t.TempDir(), "cache")
	o.Files = map[string]string{run: run, cache: cache, b.prog: b.prog, "/lab/prog": b.prog}
	o.Command = before + "\n"
	for i := range n {
		name := "s" + strconv.Itoa(i)
		text := script(i)
		out, err := exec.Command(run, "-r", kdir, "-cache", cache, "-name", name, "-c", command, "-build", "-e",
			text).CombinedOutput()
		if err != nil {
			t.Fatalf("build %s: %v\n%s", text, err, out)
		}
		o.Command += fmt.Sprintf("echo '== %s'; %s -cache %s -name %s -c '%s' -e '%s' 2>&1; echo rc $?\n", name, run,
			cache, name, command, text)
	}
	return guest(t, k, o)
}

// number is the one behind a word, 0 if there is none.
func number(text, word string) int {
	_, s, _ := strings.Cut("\n"+text, "\n"+word)
	n := 0
	fmt.Sscan(s, &n)
	return n
}
