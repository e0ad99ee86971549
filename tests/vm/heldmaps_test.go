package vm

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dynlink"
)

// TestHeldMaps: each kernel's tree of what a process has mapped is read though another thread has its lock, and nothing
// else tells what it is: gostap runs in a pid namespace of its own.
func TestHeldMaps(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		prog := filepath.Join(dir, "held")
		if out, err := exec.Command("gcc", "-g", "-O2", "-pthread", "-o", prog,
			"../fixtures/held/held.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{dir: dir, "/lib64/ld-linux-x86-64.so.2": "/lib64/ld-linux-x86-64.so.2"}
		libs, err := dynlink.Needed(prog, dynlink.Search{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range libs {
			for _, p := range l.Paths {
				files[p] = p
			}
		}
		res := guest(t, k, Options{Files: files, Command: "unshare -p -f --mount-proc " + dir +
			`/gostap --folded -e 'global n probe process.function("leaf") { n[ustack()]++ }' -c '` +
			prog + ` 300' 2>&1`})
		hits := strings.Count(res.Output, ";main;bsearch;compare;leaf ")
		if hits == 0 || strings.Count(res.Output, "_start;") != hits || strings.Contains(res.Output, "...;") ||
			!strings.Contains(res.Output, "compare;leaf 300") {
			t.Errorf("%s", res.Output)
		}
	})
}
