package tests

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestTwoTracers: a second session on the function that a first one traces reads the program's own instructions, not
// the first one's breakpoints, and both count all calls.
func TestTwoTracers(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	script := `global n probe process("` + path + `").function("main.step") { n++ } probe end { println("calls ", n) }`
	first := begin(t, "-v", "-e", script)
	attached(t, first)
	second := begin(t, "-e", script, "-c", path+" 1000 >/dev/null")
	if status := second.end(); status != 0 || second.stdout() != "calls 1050\n" {
		t.Errorf("status %d\n%s%s", status, second.stdout(), second.stderr())
	}
	first.signal(2)
	if status := first.end(); status != 0 || first.stdout() != "calls 1050\n" {
		t.Errorf("status %d\n%s%s", status, first.stdout(), first.stderr())
	}
}

// TestArmed: conditions of probes over globals that handlers in the kernel and on the host change.
func TestArmed(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	step, inner := `process.function("main.step")`, `process.function("main.inner")`
	for _, c := range []struct{ name, script, want string }{
		// main.step calls main.inner once: 1050 times each.
		{"kernel", `global on, n, hits probe ` + step + ` { if (++n == 100) on = 1 if (n == 300) on = 0 }
			probe ` + inner + ` if (on) { hits++ } probe end { println(n, " ", hits) }`, "1050 200\n"},
		{"itself", `global left = 7, hits probe ` + inner +
			` if (left) { hits++ left-- } probe end { println(hits, " ", left) }`, "7 0\n"},
		{"expression", `global n, lo = 100, hi, hits, both, name probe begin { hi = lo * 2 name = "on" }
			probe ` + step + ` { n++ if (n == 1000) name = "off" }
			probe ` + inner + ` if (n >= lo && n < hi || !(n % 100)) { hits++ } probe ` + inner +
			` if (name == "on" && (n & 1)) { both++ }
			probe end { println(hits, " ", both) }`, "109 500\n"},
		{"return", `global n, hits, vals probe ` + step + ` { n++ } probe ` + step +
			`.return if (n > 1040) { hits++ vals += @entry($n) >= 0 }
			probe end { println(hits, " ", vals) }`, "10 10\n"},
		{"from the host", `global on, hits, off probe begin { on = 1 } probe ` + inner + ` if (on) { hits++ } probe ` +
			inner + ` if (!on) { off++ }
			probe end if (on) { println(hits, " ", off) } probe end if (!on) { println("never") }`, "1050 0\n"},
		{"begin arms begin", `global on probe begin(2) if (on) { println("second") } probe begin(1) { println("first") on = 1 } probe begin(0) if (on) { println("never") }`,
			"first\nsecond\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, opt := range []string{"-w", "-u"} {
				s := begin(t, opt, "--no-global-var-display", "-e", c.script, "-c", path+" 1000")
				if status := s.end(); status != 0 ||
					!regexp.MustCompile(`^calls .*\n`+c.want+`$|^`+c.want+`calls .*\n$`).MatchString(s.stdout()) {
					t.Errorf("%s: status %d\n%s%s", opt, status, s.stdout(), s.stderr())
				}
			}
		})
	}
}

// TestArmedByTimer: a timer on the host arms and disarms a probe. What it lets through is what another probe at the
// same place finds armed; at each change the two may see different states once.
func TestArmedByTimer(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	s := begin(t, "-e", `global on, all, should, hits, changes probe process.function("main.step") { all++ if (on) should++ }
		probe process.function("main.inner") if (on) { hits++ }
		probe timer.ms(70) { on = !on if (++changes == 9) exit() } probe end { printf("%d %d %d\n", all, should, hits) }`, "-x", v.pid())
	if status := s.end(); status != 0 {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	var all, should, hits int
	if _, err := fmt.Sscan(s.stdout(), &all, &should, &hits); err != nil || hits == 0 || hits >= all ||
		hits-should > 9 || should-hits > 9 {
		t.Errorf("got %s%s", s.stdout(), s.stderr())
	}
}

// TestOrder: errors and warnings come behind what the same handler has printed before, and in front of what it prints
// behind them. Both streams are one file here.
func TestOrder(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	script := `global n function f(k) { println("in f") if (k == 3) error("three") println("f ends") }
		probe process.function("main.step") { if (++n > 3) next
			println("first ", n) printf("second\n") warn(sprintf("warned %d", n)) println("third") f(n) x = 1 / (n - 2) println("last ", x) }`
	want := `first 1
second
WARNING: warned 1
third
in f
f ends
last -1
first 2
second
WARNING: warned 2
third
in f
f ends
ERROR: division by 0
first 3
second
WARNING: warned 3
third
in f
ERROR: three
`
	for _, opt := range []string{"-w", "-u"} {
		cmd := exec.Command(bin(t, "gostap"), opt, "--no-global-var-display", "-D", "MAXERRORS=10", "-e", script, "-c",
			path+" 3 >/dev/null")
		out, err := cmd.CombinedOutput()
		got := regexp.MustCompile(`ERROR: (division by 0|three).*`).ReplaceAllString(string(out), "ERROR: $1")
		if _, ok := err.(*exec.ExitError); !ok || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v, got\n%swant\n%s", opt, err, out, want)
		}
	}
}
