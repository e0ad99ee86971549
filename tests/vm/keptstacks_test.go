package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptStacks: each kernel keeps stacks that are keys of arrays.
func TestKeptStacks(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		prog := filepath.Join(dir, "values")
		cmd := exec.Command("go", "build", "-o", prog, "../fixtures/values")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: dir + "/gostap -e '" +
			`global n probe process("` + prog + `").function("main.get") { n[ustack()]++ }
			probe process("` + prog + `").function("main.take") { n[ustack()]++ }
			probe end { foreach (s in n) println(n[s], " hits at\n", s) }` + "' -c " + prog + " 2>&1; echo rc $?\n"})
		for _, w := range []string{"8 hits at\n 0x", "1 hits at\n 0x", " : main.get+0x", " : main.take+0x",
			"runtime.main", "rc 0"} {
			if !strings.Contains(res.Output, w) {
				t.Errorf("no %q in\n%s", w, res.Output)
			}
		}
	})
}
