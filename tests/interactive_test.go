package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

// TestInteractivePipe: a script is built by commands from a pipe, refused where it is wrong, and run.
func TestInteractivePipe(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.stp")
	cmd := exec.Command(bin(t, "gostap"), "-i", "--runtime=host")
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir)
	cmd.Stdin = strings.NewReader(`global n
probe begin {
  n = 6 * 7

  printf("n is %d\n", n)
}
probe end { println(nothing()) }
lsit
probe begin { foo(}
probe begin
{ exit() }
list 2-3
run
delete 7
undo
run
set -G n=1
show
save ` + kept + `
delete all
run
load ` + kept + `
list 8
complete probe syscall.readl
complete probe timer.ms(1) { printl
quit
never read
`)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v: the status tells that a command failed", err)
	}
	want := `   2  probe begin {
   3    n = 6 * 7
n is 42
n is 42
--runtime=host
--global=n=1
   8  { exit() }
probe syscall.readlink
probe syscall.readlinkat
probe timer.ms(1) { println
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", out.String(), want, &errs)
	}
	for _, want := range []string{
		"<input>:7:21: error: no function is named nothing\n" +
			"  probe end { println(nothing()) }\n                      ^~~~~~~\n",
		"lsit is no command", "did you mean list", "expected an expression, ) or *", "there is no script yet",
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in\n%s", want, &errs)
		}
	}
	text, err := os.ReadFile(kept)
	if err != nil || !strings.HasPrefix(string(text), "global n\nprobe begin {\n") ||
		!strings.HasSuffix(string(text), "probe begin\n{ exit() }\n") {
		t.Errorf("saved: %q %v", text, err)
	}
}

// TestInteractiveTerminal: lines are edited, completed and recalled at a terminal, and Ctrl-C ends a run only.
func TestInteractiveTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	s := onScreen(t, "-i", "--runtime=host")
	until := s.reads
	until("gostap> ")
	s.press("pro\t")
	until("probe")
	s.press(" begin { printl\t(\"bugun\") }\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7fe\r")
	until("\n")
	until("gostap> ")
	s.press("list\r")
	until("   1  probe begin { println(\"begun\") }\r\n")
	until("gostap> ")
	s.press("probe end {\r")
	until("   ...> ")
	s.press("println(\"over\") }\r")
	until("gostap> ")
	for range 2 {
		s.press("xyz\x15run\r")
		until("begun\r\n")
		s.press("\x03")
		until("over\r\n")
		until("gostap> ")
	}
	s.press("half a line\x03")
	until("^C\r\n")
	until("gostap> ")
	s.press("\x1b[A\x1b[A\x1b[A\x1b[B\r") // the last but one
	until("over")
	until("\n")
	until("gostap> ")
	s.press("\x04")
	select {
	case <-s.done:
	case <-patience.After(soon):
		t.Fatalf("it does not end: %q", s.all()[s.read:])
	}
	if status := s.cmd.ProcessState.ExitCode(); status != 0 {
		t.Errorf("status %d", status)
	}
	path := filepath.Join(dir, "gostap", "history")
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "probe begin { println(\"begun\") }\nlist\nprobe end {\n") {
		t.Errorf("history: %q %v", text, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("history: %v %v", st, err)
	}
}

// TestInteractiveGivesBack: what reads the terminal during a run takes nothing behind it, and a signal that ends the
// prompt leaves the terminal as it was.
func TestInteractiveGivesBack(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := onScreen(t, "-i", "--runtime=host")
	until := s.reads
	until("gostap> ")
	s.press("probe input.line { println(\"got \", line) } probe begin { println(\"ready\") }\r")
	until("gostap> ")
	for range 2 {
		s.press("run\r")
		until("ready\r\n")
		s.press("hello\r")
		until("got hello\r\n")
		s.press("\x03")
		until("gostap> ")
	}
	s.press("list\r")
	until("   1  probe input.line")
	until("gostap> ")
	if err := s.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-patience.After(soon):
		t.Fatalf("it does not end: %q", s.all()[s.read:])
	}
	if ws := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != unix.SIGTERM {
		t.Errorf("it ended by %v", s.cmd.ProcessState)
	}
	after, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	const lines = unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
	if err != nil || after.Lflag&lines != lines || after.Iflag&unix.ICRNL == 0 {
		t.Errorf("the terminal is left as %+v, %v", after, err)
	}
}
