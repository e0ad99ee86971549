package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestValues: values of Go are shown whole by eBPF programs of each kernel, as by its modules (TestScripts).
func TestValues(t *testing.T) {
	i := 0
	for scripts[i].name != "values" {
		i++
	}
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
			strings.ReplaceAll(scripts[i].script, "%PROG", prog) + "' -c " + prog + " 2>&1; echo rc $?\n"})
		for _, w := range scripts[i].want {
			if !strings.Contains("\n"+res.Output, w) {
				t.Errorf("no %q in\n%s", w, res.Output)
			}
		}
	})
}
