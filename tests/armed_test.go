package tests

import "testing"

// TestTwoTracers: a second session on the function that a first one traces reads the program's own instructions, not the first
// one's breakpoints, and both count all calls.
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
