package godwarf

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestCalls compares with what a disassembler says about the calls of a program's own functions.
func TestCalls(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("no objdump: ", err)
	}
	path := fixture(t, "default")
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	out, err := exec.Command("objdump", "-d", "-j", ".text", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]uint64{}
	for _, m := range regexp.MustCompile(`(?m)^ *([0-9a-f]+):\s+call +(\*?)(\S*)`).FindAllStringSubmatch(string(out),
		-1) {
		var pc, to uint64
		fmt.Sscanf(m[1], "%x", &pc)
		if m[2] == "" {
			fmt.Sscanf(m[3], "%x", &to)
		}
		if f := im.FuncAt(pc); f != nil && strings.HasPrefix(f.Name, "main.") && !im.isMore(to) {
			want[pc] = to
		}
	}
	fs, err := im.Funcs("main.*")
	if err != nil {
		t.Fatal(err)
	}
	n, indirect := 0, 0
	for _, f := range fs {
		calls, err := im.Calls(f)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, c := range calls {
			if c.Jump {
				continue
			}
			if to, ok := want[c.PC]; !ok || to != c.Target {
				t.Errorf("%s calls %#x at %#x, the disassembler says %#x, %t", f.Name, c.Target, c.PC, to, ok)
			}
			n++
			if c.Target == 0 {
				indirect++
			}
		}
		copies, err := im.Copies(f)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, c := range copies {
			if c.In != f {
				t.Errorf("a copy in %s is said to be in %s", f.Name, c.In.Name)
			}
		}
	}
	if n < 50 || indirect == 0 {
		t.Errorf("%d calls, %d of them through registers", n, indirect)
	}
}
