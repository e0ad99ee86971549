package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRunning: S17. A program that already runs is followed by -x.
func TestRunning(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	for _, point := range []string{`process`, `process("` + v.path + `")`, `process(` + v.pid() + `)`} {
		s := begin(t, "-e", `probe `+point+
			`.function("main.step") { printf("%d %d %d\n", pid(), target(), $n >= 0) exit() }`, "-x", v.pid())
		if status := s.end(); status != 0 || s.stdout() != v.pid()+" "+v.pid()+" 1\n" || s.stderr() != "" {
			t.Errorf("%s: status %d\n%s%s", point, status, s.stdout(), s.stderr())
		}
	}
	unpatched(t, v.Process.Pid, v.path)
	v.runsOn(t)
}

// TestOtherNamespaces: S17. The program lies in a file system that only it sees, and has
// another number there.
func TestOtherNamespaces(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	script := `mount -t tmpfs none "$1" && cp "$0" "$1/inside" && ln -s "$1/inside" "$1/link" && mount --bind "$1/inside" "$1/inside" && exec "$1/inside"`
	cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script,
		bin(t, "busy"), dir)
	v := startProgram(t, cmd, dir+"/inside")
	pid := ""
	for range 1000 {
		kids, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", v.Process.Pid))
		if f := strings.Fields(string(kids)); len(f) == 1 {
			if exe, _ := os.Readlink("/proc/" + f[0] + "/exe"); strings.HasSuffix(exe, "/inside") {
				pid = f[0]
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	if pid == "" {
		t.Skip("namespaces cannot be made here")
	}
	if _, err := os.Stat(dir + "/inside"); err == nil {
		t.Fatal("the program can be seen from outside")
	}
	for _, point := range []string{`process`, `process("` + dir + `/inside")`, `process("` + dir + `/link")`,
		`process(` + pid + `)`} {
		s := begin(t, "-e", `probe `+point+
			`.function("main.step") { printf("%d %d %d %s %s\n", pid(), ns_pid(), target(), $name$, usymname(uaddr())) exit() }`, "-x", pid)
		want := pid + " 1 " + pid + ` "tick" main.step` + "\n"
		if status := s.end(); status != 0 || s.stdout() != want || s.stderr() != "" {
			t.Errorf("%s: status %d\n%swant %s%s", point, status, s.stdout(), want, s.stderr())
		}
	}
	out, err := exec.Command(bin(t, "gostap"), "-x", pid, "-L", `process("`+dir+
		`/inside").function("main.step")`).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "$n:int $name:string") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := exec.Command(bin(t, "gostap"), "-l", `process("`+dir+
		`/inside").function("main.step")`).Output(); err == nil {
		t.Error("without -x the program was found")
	}
}

// TestTargetEnds: the session ends with the program of -x.
func TestTargetEnds(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	s := begin(t, "-e", `probe begin { println("begun") } probe process.function("main.step") { n++ if (n == 1) println("hit") } global n probe end { println("ended") }`, "-x", v.pid())
	s.line("hit")
	v.Process.Signal(syscall.SIGKILL)
	v.Wait()
	if status := s.end(); status != 0 || !strings.HasSuffix(s.stdout(), "ended\n") {
		t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
}

// TestReplacedWhileTraced: the program's file is replaced during the session. The running
// one is traced on, and what starts anew is not: that is said.
func TestReplacedWhileTraced(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "app")
	install := func() {
		t.Helper()
		data, err := os.ReadFile(bin(t, "busy"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	install()
	v := startProgram(t, exec.Command(path), path)
	s := begin(t, "-e", `probe process("`+path+
		`").function("main.step") { if (n++ % 100 == 0) println("hit ", n) } global n`, "-w")
	s.line("hit")
	install()
	s.line("hit")
	s.line("hit")
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	if !strings.Contains(s.stderr(), path+" was replaced") {
		t.Errorf("nothing is said of the replaced file: %s", s.stderr())
	}
	v.runsOn(t)

	// -x of a program whose file is another now: what runs is traced.
	s = begin(t, "-e", `probe process.function("main.step") { println(pid()) exit() }`, "-x", v.pid())
	if status := s.end(); status != 0 || s.stdout() != v.pid()+"\n" {
		t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s = begin(t, "-e", `probe process.function("main.step") { println(pid()) exit() }`, "-x", v.pid())
	if status := s.end(); status != 0 || s.stdout() != v.pid()+"\n" {
		t.Errorf("deleted file: status %d\n%s%s", status, s.stdout(), s.stderr())
	}
}

// TestHundredRuns: S18. No run crashes, and every call and return is counted.
func TestHundredRuns(t *testing.T) {
	needRoot(t)
	path := bin(t, "grow")
	script := `global e, r
		probe process("` + path + `").function("main.work") { e++ }
		probe process("` + path + `").function("main.work").return { r++ }
		probe end { printf("entries %d returns %d\n", e, r) }`
	runs := `for i in $(seq 25); do for p in 1 2 4 16; do GOMAXPROCS=$p ` + path + ` 12 120 || exit 1; done; done`
	s := begin(t, "-e", script, "-c", runs)
	want := strings.Repeat("calls 1452 returns 1452\n", 100) + "entries 145200 returns 145200\n"
	if status := s.end(); status != 0 || s.stdout() != want || s.stderr() != "" {
		out := s.stdout()
		t.Errorf("status %d, want 100 runs and 145200 of each\n%s%s", status, out[max(0, len(out)-500):], s.stderr())
	}
}
