package tests

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestStackTools: tools that print stacks print names of functions, of programs and of the kernel.
func TestStackTools(t *testing.T) {
	needRoot(t)
	gostap, prog := bin(t, "gostap"), bin(t, "inlines-c")
	bare := regexp.MustCompile(`(?m)^ (0x[0-9a-f]+) : 0x[0-9a-f]+$`)
	for _, c := range []struct {
		want string
		bare int // addresses may be without a name
		args []string
	}{
		{" : leaf+0x0 at ", 0, []string{"stackcount", `process("` + prog + `").function("leaf")`, "--user",
			"-c", prog}},
		{" : __schedule+0x", 0, []string{"stackcount", `kernel.trace("sched:sched_switch")`, "-c", "sleep 0.1"}},
		{"+0x", 0, []string{"offcputime", "-c", "sleep 0.1"}},
		{" : __schedule+0x", 0, []string{"offcputime", "--kernel", "-c", "sleep 0.1"}},
		{"+0x", 1, []string{"faultstacks", "-c", bin(t, "held") + " 1"}}, // the code that starts it
		{" : try_to_wake_up+0x", 0, []string{"wakeuptime", "--stack", "-T", "1"}},
	} {
		out, err := exec.Command(gostap, c.args...).Output()
		if err != nil || !strings.Contains(string(out), c.want) || len(bare.FindAll(out, -1)) > c.bare {
			t.Errorf("%s: %v, want %s\n%.3000s", strings.Join(c.args, " "), err, c.want, out)
		}
	}
}
