package cdwarf

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
)

// TestCallsOfFunctions compares with what a disassembler and, in optimised code, the debug information say about calls.
func TestCallsOfFunctions(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("no objdump: ", err)
	}
	line := regexp.MustCompile(`(?m)^ *([0-9a-f]+):\s+(?:bnd )?call +(\*?)(.*)$`)
	described := 0
	for name := range builds {
		path := build(t, name)
		out, err := exec.Command("objdump", "-d", "-j", ".text", "--no-show-raw-insn", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		im := open(t, path)
		want := map[uint64]uint64{} // the calls of functions with debug information; 0 without a target
		for _, m := range line.FindAllStringSubmatch(string(out), -1) {
			var pc, to uint64
			fmt.Sscanf(m[1], "%x", &pc)
			if m[2] == "" {
				fmt.Sscanf(m[3], "%x", &to)
			}
			if f := im.FuncAt(pc); f != nil && !startup[f.Name] && f.File != "" {
				want[pc] = to
			}
		}
		fs, err := im.Funcs("*")
		if err != nil {
			t.Fatal(err)
		}
		got := map[uint64]bool{}
		for _, f := range fs {
			if f.File == "" {
				continue
			}
			calls, err := im.Calls(f)
			if err != nil {
				t.Errorf("%s: %s: %v", name, f.Name, err)
				continue
			}
			fn, err := im.of(f)
			if err != nil {
				t.Fatal(err)
			}
			sites := map[uint64]*godwarf.Tree{}
			callSites(fn.tree, sites)
			for _, c := range calls {
				if c.Jump {
					continue
				}
				got[c.PC] = true
				to, ok := want[c.PC]
				// A stub's function, or one that debug information names for a call through a register, has another
				// address.
				if !ok || to != c.Target && c.Name == "" && to != 0 {
					t.Errorf("%s: %s calls %#x at %#x, the disassembler says %#x, %t", name, f.Name, c.Target, c.PC, to,
						ok)
				}
				if c.Name != "" && c.Target == 0 && im.named().symbolFor(c.Target, c.Name) != "" {
					t.Errorf("%s: %s calls %s without an address", name, f.Name, c.Name)
				}
				if sites[c.Ret] != nil {
					described++
					delete(sites, c.Ret)
				}
			}
			for ret, s := range sites {
				if tail, _ := s.Val(0x82).(bool); !tail { // DW_AT_call_tail_call
					if tail, _ := s.Val(0x2115).(bool); !tail { // DW_AT_GNU_tail_call
						t.Errorf("%s: %s: no call returns to %#x", name, f.Name, ret)
					}
				}
			}
			if copies, err := im.Copies(f); err != nil {
				t.Errorf("%s: %s: %v", name, f.Name, err)
			} else {
				for _, c := range copies {
					if c.In != f || len(c.Into) > 0 && slices.Contains(c.Into, f.Name) {
						t.Errorf("%s: %+v in %s", name, c, f.Name)
					}
				}
			}
		}
		for pc := range want {
			if !got[pc] {
				t.Errorf("%s: the call at %#x is not found", name, pc)
			}
		}
		if len(want) < 20 {
			t.Errorf("%s: only %d calls", name, len(want))
		}
		// All copies of a function are those that its callers have.
		inl, err := im.Inlined("*")
		if err != nil && len(fs) > 0 && strings.Contains(name, "O2") {
			t.Errorf("%s: %v", name, err)
		}
		n := 0
		for _, f := range fs {
			copies, _ := im.Copies(f)
			n += len(copies)
		}
		if n != len(inl) {
			t.Errorf("%s: %d copies in functions, %d of functions", name, n, len(inl))
		}
	}
	if described < 20 {
		t.Errorf("debug information describes %d calls", described)
	}
}
