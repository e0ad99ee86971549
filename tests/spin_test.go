package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// spinProgram is a program of Go whose time is in two functions, one three parts of four.
const spinProgram = `package main

import "time"

//go:noinline
func turn(until time.Time) (n int) {
	for time.Now().Before(until) {
		n++
	}
	return n
}

//go:noinline
func often() int { return turn(time.Now().Add(30*time.Millisecond)) }

//go:noinline
func seldom() int { return turn(time.Now().Add(10*time.Millisecond)) }

func main() {
	for n := 0; ; time.Sleep(5*time.Millisecond) {
		n += often() + seldom()
	}
}
`

// buildSpin builds it, as a program of this name.
func buildSpin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": spinProgram, "go.mod": "module spin\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", "spinning", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "spinning")
}

// spun are the samples of each function of the program, in folded lines, and of all.
func spun(text string) (often, seldom, all int) {
	sum := func(name string) (n int) {
		for _, m := range regexp.MustCompile(`(?m)^.*`+name+`.* (\d+)$`).FindAllStringSubmatch(text, -1) {
			k, _ := strconv.Atoi(m[1])
			n += k
		}
		return n
	}
	return sum(`main\.main;main\.often;`), sum(`main\.main;main\.seldom;`), sum("")
}

// TestStackRights: stacks of programs that no script names are whole for who may trace and look at processes, and no
// more, as agents in clusters; also where what a process has mapped cannot be had itself.
func TestStackRights(t *testing.T) {
	needRoot(t)
	prog := exec.Command(buildSpin(t))
	if err := prog.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { prog.Process.Kill(); prog.Wait() })
	for _, more := range []string{"", ",+checkpoint_restore", ",+sys_admin"} {
		cmd := exec.Command("setpriv", "--bounding-set=-all,+bpf,+perfmon,+sys_ptrace"+more, "--inh-caps=-all",
			bin(t, "gostap"), "--folded", "-w", "-T", "4", "-e",
			`global h probe perf.type(1).config(0).hz(99) { if (pid() == `+strconv.Itoa(prog.Process.Pid)+
				`) h[ustack()]++ }`)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		// The rest is in the runtime, between them.
		often, seldom, all := spun(string(out))
		if err != nil || often < 2*seldom || seldom < 5 || often+seldom < all*3/4 {
			t.Errorf("%q: %v, often %d, seldom %d of %d\n%s%s", more, err, often, seldom, all, out, said.String())
		}
	}
}
