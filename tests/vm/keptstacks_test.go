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

// TestWalkedStacks: each kernel walks stacks of code without frame pointers as the host does.
func TestWalkedStacks(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, _ *bench) {
		dir := t.TempDir()
		prog := filepath.Join(dir, "unframed")
		cmd := exec.Command("gcc", "-static", "-g", "-O2", "-fomit-frame-pointer", "-pthread", "-o", prog,
			"../fixtures/unframed/unframed.c")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := goBuild(filepath.Join(dir, "gostap"), "../../cmd/gostap"); err != nil {
			t.Fatal(err)
		}
		handler := `{ print("HIT\n") print_ubacktrace() print("=\n", ustack()) }`
		run := dir + "/gostap -s 64 -D MAXBACKTRACE=60 -e "
		res := guest(t, k, Options{Files: map[string]string{dir: dir}, Command: run + `'probe process("` + prog +
			`").function("leaf") ` + handler + "' -c " + prog + " 2>&1; " + run +
			"'probe timer.profile { if (pid() == target()) " + handler + " }' -c '" + prog + " 500' 2>&1\n"})
		same, deep := 0, false
		for _, hit := range strings.Split(res.Output, "HIT\n")[1:] {
			want, got, _ := strings.Cut(hit, "=\n")
			got = strings.ReplaceAll(got, "\r", "")
			want = strings.ReplaceAll(want, "\r", "")
			whole, cut := strings.CutSuffix(got, " ...\n")
			top, short := strings.CutSuffix(want, " ...\n")
			switch {
			case got == want:
				same++
				deep = deep || strings.Contains(got, "handler") && strings.Contains(got, "start_thread")
			case short && strings.HasPrefix(got, top), cut && strings.HasPrefix(want, whole), got == "" && short:
			default:
				t.Errorf("two stacks of one hit:\n%s\nof the kernel:\n%s", want, got)
			}
		}
		if same < 150 || !deep {
			t.Errorf("%d stacks are the same\n%.4000s", same, res.Output)
		}
	})
}
