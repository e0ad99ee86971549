package vm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scripts run as modules on programs of tests/fixtures; %PROG is the program's path, the same in the guest.
var scripts = []struct {
	name, fixture, script string
	want                  []string
}{
	{"args", "stap", `probe process("%PROG").function("main.traceme") { printf("%d and %d\n", $a, $b) }`, []string{"1 and 2\n", "ret 3", "rc 0"}},
	{"result", "stap", `probe process("%PROG").function("main.traceme").return { printf("%d \n", $return) }`, []string{"\n3 \n", "rc 0"}},
	{"guru", "stap", `probe process("%PROG").function("main.traceme") { $a = 40 }`, []string{"ret 42", "rc 0"}},
	{"growth", "grow", `global calls, rets
		probe process("%PROG").function("main.work") { calls++ }
		probe process("%PROG").function("main.work").return { rets++ }
		probe end { printf("equal %d some %d\n", calls == rets, calls > 100) }`, []string{"equal 1 some 1\n", "rc 0"}},
	{"arrays", "grow", `global cnt, depth
		probe process("%PROG").function("main.work") { cnt[goid() > 0, execname()]++; depth <<< $depth }
		probe process("%PROG").end { println("over") }
		probe end { foreach ([k, name] in cnt) printf("%d %s %d\n", k, name, cnt[k, name] > 100); printf("%d\n", @min(depth)) }`,
		[]string{"1 grow 1\n", "over\n", "rc 0"}},
	{"errors", "stap", `probe process("%PROG").function("main.traceme") { try { printf("%d\n", $a / ($b - 2)) } catch (m) { println("caught ", m) } error("gone") }`,
		[]string{"caught division by 0\n", "ERROR: gone", "rc 1"}},
}

// TestScripts takes scripts from their text to the output of a module.
func TestScripts(t *testing.T) {
	each(t, func(t *testing.T, k *Kernel, b *bench) {
		kdir, err := k.BuildDir()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		cache := filepath.Join(dir, "cache")
		run := filepath.Join(b.dir, "kmodrun")
		files := map[string]string{run: run, cache: cache, dir + "/progs": dir + "/progs"}
		command := ""
		for _, s := range scripts {
			prog := filepath.Join(dir, "progs", s.fixture)
			if !exists(prog) {
				cmd := exec.Command("go", "build", "-o", prog, "../fixtures/"+s.fixture)
				cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("build %s: %v\n%s", s.fixture, err, out)
				}
			}
			text := strings.ReplaceAll(s.script, "%PROG", prog)
			out, err := exec.CommandContext(context.Background(), run, "-v", "-r", kdir, "-cache", cache, "-name", s.name, "-c", prog, "-build", "-e", text).CombinedOutput()
			if err != nil {
				t.Fatalf("build %s: %v\n%s", s.name, err, out)
			}
			if gccWarning.Match(out) {
				t.Errorf("%s: gcc warns:\n%s", s.name, out)
			}
			command += "echo '== " + s.name + "'; " + run + " -cache " + cache + " -name " + s.name + " -c " + prog + " -e '" + text + "'; echo rc $?\n"
		}
		res := guest(t, k, Options{Files: files, Command: command})
		for _, s := range scripts {
			_, part, _ := strings.Cut(res.Output, "== "+s.name+"\n")
			part, _, _ = strings.Cut(part, "== ")
			for _, w := range s.want {
				if !strings.Contains("\n"+part, w) {
					t.Errorf("%s: no %q in\n%s", s.name, w, part)
				}
			}
		}
		if t.Failed() {
			t.Logf("console: %s", res.Console)
		}
	})
}
