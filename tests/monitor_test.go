package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

// screen is a pseudo terminal with gostap in a window on it.
type screen struct {
	t    *testing.T
	term *os.File
	tty  *os.File
	cmd  *exec.Cmd
	done chan struct{}

	mu   sync.Mutex
	seen string

	read int // how much of it reads has gone through
}

// onScreen starts gostap on a terminal of 120 columns and 40 rows.
func onScreen(t *testing.T, args ...string) *screen {
	t.Helper()
	term, name := terminal(t)
	if err := unix.IoctlSetWinsize(int(term.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, term: term, tty: tty, done: make(chan struct{})}
	s.cmd = exec.Command(bin(t, "gostap"), args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := term.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.seen += string(buf[:n])
			s.mu.Unlock()
		}
	}()
	go func() {
		s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.done
		tty.Close()
		term.Close()
	})
	return s
}

func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// window gives the last one that was drawn whole: each begins at the upper left corner.
func (s *screen) window() string {
	all := s.all()
	end := strings.LastIndex(all, "\x1b[H")
	if end < 0 {
		return ""
	}
	return all[max(0, strings.LastIndex(all[:end], "\x1b[H")):end]
}

// until waits for a window that has all the texts.
func (s *screen) until(texts ...string) string {
	s.t.Helper()
next:
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(10 * time.Millisecond) {
		w := s.window()
		for _, text := range texts {
			if !strings.Contains(w, text) {
				continue next
			}
		}
		return w
	}
	s.t.Fatalf("no window with %q\n%s", texts, s.window())
	return ""
}

// reads waits for a text behind the last one that it has found.
func (s *screen) reads(text string) {
	s.t.Helper()
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(10 * time.Millisecond) {
		if i := strings.Index(s.all()[s.read:], text); i >= 0 {
			s.read += i + len(text)
			return
		}
	}
	s.t.Fatalf("no %q behind %q", text, s.all()[s.read:])
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.term.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// TestMonitor: the window shows what happens, and its keys do what they say.
func TestMonitor(t *testing.T) {
	needRoot(t)
	prog := filepath.Join(t.TempDir(), "prog") // which nobody else runs
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prog, text, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(times int) {
		t.Helper()
		for range times {
			if out, err := exec.Command(prog).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
		}
	}
	s := onScreen(t, "--monitor=0.2", "-e", `global hits, by, ticks, first = 7
probe begin { println("begun") }
probe process(@1).begin { hits++ by[execname(), "k"] <<< hits first = 8 printf("ran %d\n", hits) }
probe timer.ms(20) { ticks++ }
probe end { printf("over %d\n", hits) }`, prog)
	s.until("begun", "hits=0", "first=7", "by: 0 elements", "probes 5 ", "process(", "fixed", "q quit")
	run(3)
	s.until("hits=3", "first=8", "ran 3", "by: 1 elements")
	s.press("p")
	s.until("paused", "probes 5, 2 off")
	run(2)
	s.press("r")
	s.until("going on", "probes 5  ")
	run(1)
	s.until("hits=4", "ran 4")
	s.press("g")
	s.until(`by["prog","k"] @count=4 @min=1 @max=4 @sum=10 @avg=2`)
	s.press("gggg")
	s.until("hits=4", "ticks=")
	s.press("t1\r") // the probe at the program
	s.until("probe 1 is off", "probes 5, 1 off")
	run(2)
	s.press("t 1,x\r")
	s.until("there is no probe x", "probes 5  ")
	s.press("c")
	s.until("the globals are as they began", "hits=0", "first=7", "by: 0 elements")
	run(1)
	s.until("hits=1", "ran 1")
	s.press("s")
	s.until("probes by runs")
	s.press("x")
	for end := patience.Now() + soon; strings.Contains(s.window(), "globals") && patience.Now() < end; {
		time.Sleep(10 * time.Millisecond)
	}
	if w := s.window(); strings.Contains(w, "globals") || !strings.Contains(w, "ran 4") {
		t.Errorf("hidden:\n%s", w)
	}
	s.press("q")
	select {
	case <-s.done:
	case <-patience.After(soon):
		t.Fatalf("it does not end\n%s", s.window())
	}
	if status := s.cmd.ProcessState.ExitCode(); status != 0 {
		t.Errorf("status %d", status)
	}
	_, left, ok := strings.Cut(s.all(), "\x1b[?1049l")
	for end := patience.Now() + soon; !strings.Contains(left, "over 1\r\n") && patience.Now() < end; {
		time.Sleep(10 * time.Millisecond)
		_, left, ok = strings.Cut(s.all(), "\x1b[?1049l")
	}
	want := "begun\r\nran 1\r\nran 2\r\nran 3\r\nran 4\r\nran 1\r\nover 1\r\n"
	if !ok || !strings.HasPrefix(left, want) {
		t.Errorf("behind the window: %q", left)
	}
	mode, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil || mode.Lflag&unix.ICANON == 0 || mode.Lflag&unix.ECHO == 0 {
		t.Errorf("the terminal is left as %+v %v", mode, err)
	}

	none := begin(t, "--monitor", "-e", `probe begin { println("begun") exit() }`)
	if status := none.end(); status != 1 || none.stdout() != "" ||
		!strings.Contains(none.stderr(), "--monitor needs a terminal") {
		t.Errorf("without a terminal: %d %s%s", status, none.stdout(), none.stderr())
	}
}
