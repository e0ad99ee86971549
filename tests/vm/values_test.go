package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestValues: values of Go and C++ are shown whole by eBPF programs of each kernel, as by its modules (TestScripts).
func TestValues(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		var files = map[string]string{dir: dir}
		command := ""
		for _, s := range scripts {
			prog := filepath.Join(dir, s.fixture)
			cmd := exec.Command("go", "build", "-o", prog, "../fixtures/values")
			switch s.name {
			case "values":
			case "maps":
				cmd = exec.Command("go", "build", "-o", prog, "../fixtures/gomaps")
			case "contexts":
				cmd = exec.Command("go", "build", "-o", prog, "../fixtures/gocontexts")
			case "cplus":
				cmd = exec.Command("g++", "-std=c++17", "-g", "-O1", "-static", "-o", prog,
					"../fixtures/cplusvalues/cplusvalues.cpp")
			default:
				continue
			}
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			command += "echo '== " + s.name + "'; " + dir + "/gostap -e '" +
				strings.ReplaceAll(s.script, "%PROG", prog) + "' -c " + prog + " 2>&1; echo rc $?\n"
		}
		res := guest(t, k, Options{Files: files, Command: command})
		for _, s := range scripts {
			if s.name != "values" && s.name != "cplus" && s.name != "maps" && s.name != "contexts" {
				continue
			}
			part := part(res, s.name)
			for _, w := range s.want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", s.name, w, part)
				}
			}
		}
	})
}
