package tests

import (
	"strconv"
	"strings"
	"testing"
)

// TestStacks: a handler that is in the middle of its work when another thread, or many processes, run it on the same
// CPU keeps its values: every line shows one number in all its columns, and no hit is missing.
func TestStacks(t *testing.T) {
	needRoot(t)
	path := bin(t, "stacks")
	for _, c := range []struct {
		name, run, script string
		lines             int
	}{
		// The handler sleeps until the page is there; meanwhile the others run.
		{"page", path + " wait", `println($a, " ", $b, " ", user_string($text), " ", $c, " ", user_string($text), " ", $d, " ", $a + $b - $c, " ", strtol(user_string($text), 10))`, 39},
		{"loop", path + " wait", `s = user_string($text) for (i = 0; i < 3; i++) s = s . " " . sprint($a + i - i) println($b, " ", s, " ", $c, " ", $d)`, 39},
		{"library", path + " wait", `s = user_string_quoted($text) println($a, " ", str_replace(s, "\"", ""), " ", $b, " ", $c, " ", $d, " ", cmdline_str() != "" ? $a : 0)`, 39},
		{"processes", path, `if (target_set_pid(pid())) println($a, " ", user_string($text), " ", pid(), " ", user_string($text), " ", tid(), " ", $d)`, 7200},
		{"numbers", path, `if (target_set_pid(pid())) println($a, " ", $b, " ", pid(), " ", $c, " ", tid(), " ", $d)`,
			7200},
		{"return", path, `if (target_set_pid(pid())) println(user_string(@entry($text)), " ", @entry($a), " ", pid(), " ", $return / 4, " ", tid())`, 7200},
	} {
		t.Run(c.name, func(t *testing.T) {
			point := `probe process("` + path + `").function("work")`
			if c.name == "return" {
				point += ".return"
			}
			s := begin(t, "--no-global-var-display", "-e", point+" { "+c.script+" }", "-c", c.run)
			status, out := s.end(), strings.TrimSpace(s.stdout())
			if strings.Contains(s.stderr(), "userfaultfd") {
				t.Skipf("the kernel has no userfaultfd: %s", s.stderr())
			}
			if status != 0 {
				t.Errorf("status %d\n%s", status, s.stderr())
			}
			wrong := 0
			for _, line := range strings.Split(out, "\n") {
				columns := strings.Fields(line)
				for i := range columns {
					if columns[i] != columns[0] {
						wrong++
						t.Log(line)
						break
					}
				}
			}
			lines := strings.Count(out, "\n") + 1
			if c.lines == 39 {
				for n := 1; n < 40; n++ {
					if v := strconv.Itoa(n); strings.Count("\n"+out, "\n"+v+" ") != 1 {
						t.Errorf("%d is not there once", n)
					}
				}
			}
			if lines != c.lines || wrong > 0 {
				t.Errorf("%d lines of %d, %d wrong\n%s", lines, c.lines, wrong, s.stderr())
			}
		})
	}
}
