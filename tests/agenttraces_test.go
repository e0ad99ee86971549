package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// standing is a "gostap agent --traces" under test.
type standing struct {
	*session
	dir, state string
}

func beginStanding(t *testing.T, dir, state string, args ...string) *standing {
	t.Helper()
	s := begin(t, append([]string{"agent", "--traces", dir, "--state", state}, args...)...)
	s.said("running what is in " + dir)
	return &standing{s, dir, state}
}

func standingDirs(t *testing.T) (dir, state string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "traces")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(t.TempDir(), "a", "state")
}

// await waits until a trace has a phase, and gives the message.
func (s *standing) await(name, phase string) string {
	s.t.Helper()
	var st struct{ Phase, Message string }
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(20 * time.Millisecond) {
		b, err := os.ReadFile(filepath.Join(s.state, name+".status"))
		if err == nil && json.Unmarshal(b, &st) == nil && st.Phase == phase {
			return st.Message
		}
	}
	s.t.Fatalf("%s is not %s: %+v\n%s", name, phase, st, s.stderr())
	return ""
}

// put puts a file there as who manages a host does: by a rename.
func (s *standing) put(file, text string) {
	s.t.Helper()
	tmp := filepath.Join(s.dir, ".new")
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(s.dir, file)); err != nil {
		s.t.Fatal(err)
	}
}

// childOf is the process of a session of which the command line has a text.
func (s *standing) childOf(text string) *session {
	s.t.Helper()
	b, _ := exec.Command("pgrep", "-P", fmt.Sprint(s.cmd.Process.Pid), "-f", text).Output()
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.t.Fatalf("not one session of %s: %q", text, b)
	}
	return &session{t: s.t, cmd: &exec.Cmd{Process: &os.Process{Pid: pid}}}
}

// TestAgentTraces: a file in the directory counts the calls of a program exactly; nothing listens. When it is removed
// its end probe runs. A script that is wrong is refused with its caret, a tool runs for its time.
func TestAgentTraces(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busy")
	dir, state := standingDirs(t)
	a := beginStanding(t, dir, state, "--metrics", "127.0.0.1:0")
	trace := "apiVersion: gostap.dev/v1alpha1\nkind: Trace\nmetadata: {name: calls}\nspec:\n" +
		"  limits: {seconds: 600}\n" +
		"  args: [%q]\n  script: |\n    global calls, sum\n    probe process(@1).function(\"main.step\") " +
		"{ calls++ sum += $n }\n    probe end { printf(\"%%d calls, sum %%d\\n\", calls, sum) }\n"
	a.put("calls.yaml", fmt.Sprintf(trace, prog))
	a.put("wrong.stp", `probe begin { prinln("x") }`)
	a.put("tool.json", `{"apiVersion": "gostap.dev/v1alpha1", "kind": "Trace", "spec": {"tool": "syscount",
		"limits": {"seconds": 2}}}`)
	a.await("calls", "Running")
	objects := a.childOf("calls").objects()
	want := 0
	for _, n := range []int{2000, 60, 2000} {
		if out, err := exec.Command(prog, fmt.Sprint(n)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want += n + n/20
	}
	a.said("trace wrong: refused: wrong.stp:1:15: error: no function is named prinln\n")
	m := a.await("wrong", "Refused")
	if !strings.Contains(m, "\n                ^~~~~~\n  hint: did you mean println") {
		t.Errorf("%s", m)
	}
	metrics := map[string]float64{"ready": 1, "sessions_total ok": 2, "sessions_total failed": 1}
	// On a busy machine a hit of all system calls may be skipped: it is told, and counted.
	if _, skipped, ok := strings.Cut(a.await("tool", "Done"), "skipped probes: "); ok {
		n := 0.0
		fmt.Sscan(skipped, &n)
		metrics["session_lost_total"] = n
	}
	if out, err := gostapRuns(t, "agent", "traces", "--state", state, "tool"); err != nil ||
		!strings.HasPrefix(out, "CALL ") {
		t.Errorf("%v: %s", err, out)
	}
	os.Remove(filepath.Join(dir, "calls.yaml"))
	if m := a.await("calls", "Done"); !strings.HasPrefix(m, "its file was removed") {
		t.Errorf("%s", m)
	}
	gone(t, objects)
	watch(a.session).await(metrics)
	sum := 0
	for _, n := range []int{2000, 60, 2000} {
		sum += n*(n-1)/2 + n/20*(n/20-1)/2
	}
	out, err := gostapRuns(t, "agent", "traces", "--state", state, "calls")
	if err != nil || out != fmt.Sprintf("%d calls, sum %d\nits file was removed\n", want, sum) {
		t.Errorf("want %d calls, sum %d: %v: %s", want, sum, err, out)
	}
	a.signal(syscall.SIGTERM)
	if status := a.end(); status != 0 {
		t.Errorf("status %d: %s", status, a.stderr())
	}
}

// TestAgentTracesEnds: an agent that is killed leaves nothing attached, and the next one says so; one that is stopped
// has end probes run, and the next one begins anew. With certificates it serves clients beside.
func TestAgentTracesEnds(t *testing.T) {
	needRoot(t)
	dir, state := standingDirs(t)
	a := beginStanding(t, dir, state)
	script := `global n probe syscall.getppid { n++ } probe end { println("over ", n >= 0) } // `
	a.put("a.stp", script)
	a.await("a", "Running")
	objects := a.childOf("over").objects()
	if b, _ := exec.Command("ss", "-Hltnp").Output(); strings.Contains(string(b), fmt.Sprintf("pid=%d,",
		a.cmd.Process.Pid)) {
		t.Errorf("it listens: %s", b)
	}
	a.cmd.Process.Kill()
	gone(t, objects)

	certs := certificates(t)
	a = beginStanding(t, dir, state, "--tls", certs+"/localhost", "--listen", "127.0.0.1:0", "--sessions", "1")
	a.said("listening at ")
	if m := a.await("a", "Failed"); !strings.HasPrefix(m, "the agent was killed: the session has ended with it") {
		t.Errorf("%s", m)
	}
	uri := "tls://localhost:" + listens.FindStringSubmatch(a.stderr())[1]
	if out, err := gostapRuns(t, "--tls", certs+"/ann", "--remote", uri, "-e", onRemote); err != nil ||
		!strings.Contains(out, "it is 1 ") {
		t.Errorf("%v: %s", err, out)
	}
	a.put("a.stp", script+"again")
	a.await("a", "Running")
	out, err := gostapRuns(t, "--tls", certs+"/ann", "--remote", uri, "-e", onRemote)
	if err == nil || !strings.Contains(out, "1 sessions run there already") {
		t.Errorf("%v: %s", err, out)
	}
	objects = a.childOf("over").objects()
	a.signal(syscall.SIGTERM)
	if status := a.end(); status != 0 {
		t.Errorf("status %d: %s", status, a.stderr())
	}
	gone(t, objects)
	if b, err := os.ReadFile(filepath.Join(state, "a.out")); err != nil || string(b) != "over 1\n" {
		t.Errorf("%v %q", err, b)
	}
	a.await("a", "Pending")
	a = beginStanding(t, dir, state)
	a.await("a", "Running")
}

// TestAgentTracesFull: on a disk that is full nothing begins that could not be known to have run, and an output that
// has no room is told.
func TestAgentTracesFull(t *testing.T) {
	needRoot(t)
	dir, _ := standingDirs(t)
	disk := t.TempDir()
	gostap := bin(t, "gostap")
	s := &standing{dir: dir, session: &session{t: t, done: make(chan struct{})}}
	s.cmd = exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=64k none "$1" || exit
		mkdir -m 700 "$1/state"
		head -c 1M /dev/zero > "$1/state/fill" 2>&1
		exec "$0" agent --traces "$2" --state "$1/state"`, gostap, disk, dir)
	s.cmd.Stderr = locked{s.session, &s.session.err}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.put("a.stp", `probe begin { for (i = 0; i < 3000; i++) printf("%60d\n", i) exit() }`)
	s.said("WARNING: trace a: write " + disk + "/state/a.status: no space left on device\n")
	if strings.Contains(s.stderr(), "begins") {
		t.Errorf("%s", s.stderr())
	}
	s.state = fmt.Sprintf("/proc/%d/root%s/state", s.cmd.Process.Pid, disk)
	if err := os.Remove(s.state + "/fill"); err != nil {
		t.Fatal(err)
	}
	m := s.await("a", "Done")
	want := "its output: write " + disk + "/state/a.out: no space left on device"
	if !strings.Contains(m, "WARNING: its output is not there as a whole: write ") ||
		!strings.Contains(s.stderr(), want) {
		t.Errorf("%s\n%s", m, s.stderr())
	}
	left, err := os.ReadDir(s.state)
	for _, e := range left {
		if strings.HasSuffix(e.Name(), ".new") {
			t.Errorf("%s is left", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
	s.signal(syscall.SIGTERM)
	if status := s.end(); status != 0 {
		t.Errorf("status %d: %s", status, s.stderr())
	}
}
