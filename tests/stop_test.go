package tests

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tests/patience"
)

// steps traces every call and return in the program of -x, as S6 does.
const steps = `
global n
probe process.function("main.*").call { n++ printf("%s -> %s\n", thread_indent(1), ppfunc()) }
probe process.function("main.*").return { printf("%s <- %s\n", thread_indent(-1), ppfunc()) }
probe begin { println("begun") }
probe end { printf("ended after calls: %d\n", n > 0) }
`

// TestStop: S9. A signal ends the session with its end probes run, nothing attached and
// the target alive and unchanged.
func TestStop(t *testing.T) {
	needRoot(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			v := startVictim(t, "busy")
			s := begin(t, "-e", steps, "-x", v.pid())
			s.line("main.step")
			objects := s.objects()
			if patched(t, v.Process.Pid, v.path) == 0 {
				t.Error("no probe is in the program while it is traced")
			}
			s.signal(sig)
			if status := s.end(); status != 0 {
				t.Errorf("exit status %d\n%s", status, s.stderr())
			}
			if out := s.stdout(); !strings.HasSuffix(out, "ended after calls: 1\n") ||
				strings.Count(out, "ended") != 1 {
				t.Errorf("the end probe did not run once, at the end:\n%s", out[max(0, len(out)-300):])
			}
			if s.stderr() != "" {
				t.Error(s.stderr())
			}
			gone(t, objects)
			unpatched(t, v.Process.Pid, v.path)
			v.runsOn(t)
		})
	}
}

// TestKill: S9. After SIGKILL the kernel takes everything away.
func TestKill(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	s := begin(t, "-e", steps, "-x", v.pid())
	s.line("main.step")
	objects := s.objects()
	s.signal(syscall.SIGKILL)
	s.end()
	gone(t, objects)
	unpatched(t, v.Process.Pid, v.path)
	v.runsOn(t)
}

// TestKillWithChild: the child of -c lives on when gostap is killed; one that was not
// started yet never runs.
func TestKillWithChild(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	s := begin(t, "-e", `probe process.function("main.step") { println(pid()) }`, "-c", path)
	pid := s.line("")
	objects := s.objects()
	t.Cleanup(func() { exec.Command("kill", "-9", pid).Run() })
	s.signal(syscall.SIGKILL)
	// The child holds the pipe of the output, so it ends only with the child.
	time.Sleep(50 * time.Millisecond)
	gone(t, objects)
	p, err := os.FindProcess(atoi(t, pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.Signal(0)); err != nil {
		t.Fatal("the child died with gostap: ", err)
	}
	unpatched(t, atoi(t, pid), path)
	victim{&exec.Cmd{Process: p}, path}.runsOn(t)
}

// TestClosedPipe: the reader of the output goes away.
func TestClosedPipe(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	cmd := exec.Command("/bin/sh", "-c", `"$0" -e "$1" -x "$2" | head -1`, bin(t, "gostap"), steps, v.pid())
	out, err := timed(t, cmd)
	if err != nil || out != "begun\n" {
		t.Errorf("%v\n%s", err, out)
	}
	unpatched(t, v.Process.Pid, v.path)
	v.runsOn(t)
}

// TestFullDisk: the output cannot be written: a message, status 1, nothing attached.
func TestFullDisk(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	s := begin(t, "-o", "/dev/full", "-e", steps, "-x", v.pid())
	if status := s.end(); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if got := s.stderr(); !strings.Contains(got, "no space left on device") {
		t.Errorf("message: %s", got)
	}
	unpatched(t, v.Process.Pid, v.path)
	v.runsOn(t)
}

// TestTerminalGone: the terminal that gostap runs in is closed.
func TestTerminalGone(t *testing.T) {
	needRoot(t)
	v := startVictim(t, "busy")
	term, name := terminal(t)
	tty, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin(t, "gostap"), "-e", steps, "-x", v.pid())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	buf := make([]byte, 4096)
	for seen := ""; !strings.Contains(seen, "main.step"); {
		n, err := term.Read(buf)
		if err != nil {
			t.Fatal(err, seen)
		}
		seen += string(buf[:n])
	}
	term.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-patience.After(soon):
		cmd.Process.Kill()
		t.Fatal("gostap outlives its terminal")
	}
	unpatched(t, v.Process.Pid, v.path)
	v.runsOn(t)
}
