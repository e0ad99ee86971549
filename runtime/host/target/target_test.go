package target

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

func TestHeldBack(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	tg, err := Start(Options{Command: "touch " + mark})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("the command ran before Release")
	}
	if err := tg.Release(); err != nil {
		t.Fatal(err)
	}
	if s := tg.Status(); s != "" {
		t.Fatalf("status %q", s)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("the command did not run")
	}
}

// Somebody kills the command while it waits.
func TestKilledMeanwhile(t *testing.T) {
	o := Options{Command: "true"}
	for name, start := range map[string]func() (*Target, error){"stub": o.hold, "shell": o.wait} {
		tg, err := start()
		if err != nil {
			t.Fatal(err)
		}
		go tg.reap()
		if err := unix.Kill(tg.Pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for { // the pipe's other end goes, and the ptrace stop with it, a moment later
			text, err := os.ReadFile("/proc/" + itoa(tg.Pid) + "/stat")
			if _, state, _ := bytes.Cut(text, []byte(") ")); err != nil || len(state) == 0 || state[0] == 'Z' {
				break
			}
			runtime.Gosched()
		}
		if err := tg.Release(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := tg.Status(); got != "was killed by signal 9 (killed)" {
			t.Errorf("%s: status %q", name, got)
		}
	}
}

func TestPidIsTheCommands(t *testing.T) {
	var out bytes.Buffer
	tg, err := Start(Options{Command: `sh -c 'echo $$'`, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	tg.Release()
	tg.Status()
	if got := strings.TrimSpace(out.String()); got != itoa(tg.Pid) {
		t.Errorf("command ran as %s, target is %d", got, tg.Pid)
	}
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestEnds(t *testing.T) {
	for cmd, want := range map[string]string{
		"exit 3":                  "exited with status 3",
		"kill -9 $$; sleep 1":     "was killed by signal 9 (killed)",
		"/no/such/program at all": "exited with status 127",
		"true":                    "",
	} {
		tg, err := Start(Options{Command: cmd})
		if err != nil {
			t.Fatal(err)
		}
		tg.Release()
		if got := tg.Status(); got != want {
			t.Errorf("%q: status %q, want %q", cmd, got, want)
		}
	}
}

// TestAbandoned: a command that is abandoned does not run, also at the moment when it has just been started.
func TestAbandoned(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	for range 50 {
		tg, err := Start(Options{Command: "touch " + mark})
		if err != nil {
			t.Fatal(err)
		}
		tg.Abandon()
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("an abandoned command ran")
	}
}

func TestWatch(t *testing.T) {
	tg, err := Start(Options{Command: "sleep 0.1"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Watch(tg.Pid)
	if err != nil {
		t.Fatal(err)
	}
	tg.Release()
	select {
	case <-w.Done():
	case <-patience.After(time.Minute):
		t.Error("the end was not seen")
	}
	tg.Status()
	if _, err := Watch(1 << 22); err == nil {
		t.Error("a pid that cannot be was taken")
	}
}
