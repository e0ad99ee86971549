package tests

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the handlers of TestCgo compare: the first argument of each C function is the number of the goroutine that calls
// it, and results follow from arguments. ID, WORK, DEPTH and RESULT are put in, since programs without DWARF of their C
// code know arguments by position.
const cgoScript = `
global n, bad
probe process(@1).function("c_work"), process(@1).function("c_nest"), process(@1).function("c_through"), process(@1).function("c_outside") {
	n[ppfunc() . " 0"]++
	if (longlong_arg(1) != goid()) bad[ppfunc() . " 0"]++
}
probe process(@1).function("c_work").return {
	n[ppfunc() . " 1"]++
	if (@entry(ID) != goid() || RESULT != 2 * @entry(WORK) + 1) bad[ppfunc() . " 1"]++
}
probe process(@1).function("c_nest").return {
	n[ppfunc() . " 1"]++
	if (@entry(ID) != goid() || RESULT != @entry(DEPTH) || @entry(tid()) != tid()) bad[ppfunc() . " 1"]++
}
probe process(@1).function("c_through").return ?, process(@1).function("c_outside").return {
	n[ppfunc() . " 1"]++
	if (goid()) bad[ppfunc() . " 1"]++
}
probe process(@1).function("main.goNest"), process(@1).function("main.goPanic"), process(@1).function("main.goFromC") { n[ppfunc() . " 0"]++ }
probe process(@1).function("main.goNest") { if ($id != goid()) bad[ppfunc() . " 0"]++ }
probe process(@1).function("main.goNest").return {
	n[ppfunc() . " 1"]++
	if (@entry($id) != goid() || @entry($depth) != $return) bad[ppfunc() . " 1"]++
}
probe process(@1).function("main.goFromC").return { n[ppfunc() . " 1"]++; if ($return != 2 * @entry($n) + 1) bad[ppfunc() . " 1"]++ }
probe end { foreach (f+ in n) printf("%s %d bad %d\n", f, n[f], bad[f]) }
`

// TestCgo: C functions in a Go program, entries and returns, while Go and C call each other from 16 goroutines and 8
// threads of C, stacks grow in callbacks, panics end calls of C or are recovered in callbacks, the collector runs and a
// profiler's signals come in. The program says how many calls there were; each is seen once at its entry and, unless a
// panic ended it, once at its return, by the goroutine that the program says.
func TestCgo(t *testing.T) {
	needRoot(t)
	for _, c := range []struct {
		name, trace, run string
		positions        bool
	}{
		{"external", "cgocalls", "cgocalls", false},
		{"pie", "cgocalls-pie", "cgocalls-pie", false},
		{"internal", "cgocalls-int", "cgocalls-int", true},
		{"shared", "cgocalls.so", "cgohost " + filepath.Join(binDir, "cgocalls.so"), false},
		{"archive", "cgolinked", "cgolinked", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.trace == "cgolinked" {
				out, err := exec.Command("gcc", "-O1", "-g", "-o", filepath.Join(binDir, "cgolinked"),
					"fixtures/cgohost/linked.c", bin(t, "cgocalls.a"), "-pthread").CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			} else {
				bin(t, c.trace)
			}
			if c.name == "shared" {
				bin(t, "cgohost")
			}
			names := strings.NewReplacer("ID", "$id", "WORK", "$n", "DEPTH", "$depth", "RESULT", "$return")
			if c.positions {
				names = strings.NewReplacer("ID", "longlong_arg(1)", "WORK", "longlong_arg(2)", "DEPTH",
					"longlong_arg(2)", "RESULT", "returnval()")
			}
			s := begin(t, "--no-global-var-display", "-e", names.Replace(cgoScript), filepath.Join(binDir, c.trace),
				"-c", filepath.Join(binDir, c.run)+" 16 100 8")
			status, out := s.end(), s.stdout()
			if status != 0 || s.stderr() != "" {
				t.Errorf("status %d\n%s", status, s.stderr())
			}
			var work, nest, through, outside, goNest, goPanic, goFromC int
			told := regexp.MustCompile(`(?m)^work .*$`).FindString(out)
			if _, err := fmt.Sscanf(told, "work %d nest %d through %d outside %d goNest %d goPanic %d goFromC %d",
				&work, &nest, &through, &outside, &goNest, &goPanic, &goFromC); err != nil || work == 0 {
				t.Fatalf("the program: %q %v\n%s%s", told, err, out, s.stderr())
			}
			want := fmt.Sprintf(`server 97 serve 447
%s
c_nest 0 %d bad 0
c_nest 1 %[2]d bad 0
c_outside 0 %d bad 0
c_outside 1 %[3]d bad 0
c_through 0 %d bad 0
c_work 0 %d bad 0
c_work 1 %[5]d bad 0
main.goFromC 0 %d bad 0
main.goFromC 1 %[6]d bad 0
main.goNest 0 %d bad 0
main.goNest 1 %[7]d bad 0
main.goPanic 0 %d bad 0
`, told, nest, outside, through, work, goFromC, goNest, goPanic)
			if out != want {
				t.Errorf("got\n%swant\n%s", out, want)
			}
		})
	}
}
