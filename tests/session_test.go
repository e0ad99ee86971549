package tests

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

// session is a running gostap under test.
type session struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	done  chan struct{}

	mu       sync.Mutex
	out, err bytes.Buffer
}

// begin starts gostap with a pipe as its standard output, which is read all the time.
func begin(t *testing.T, args ...string) *session {
	t.Helper()
	s := &session{t: t, lines: make(chan string, 1<<16), done: make(chan struct{})}
	s.cmd = exec.Command(bin(t, "gostap"), args...)
	s.cmd.Stderr = locked{s, &s.err}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout = w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(s.lines)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			s.mu.Lock()
			s.out.WriteString(line)
			s.mu.Unlock()
			if line != "" {
				select {
				case s.lines <- strings.TrimSuffix(line, "\n"):
				default: // nobody waits for that many lines
				}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		s.cmd.Wait()
		<-read
		close(s.done)
	}()
	t.Cleanup(func() { s.cmd.Process.Kill() })
	return s
}

type locked struct {
	s *session
	b *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.b.Write(p)
}

func (s *session) stdout() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// stderr is what was written there, without what only says that the machine is busy.
func (s *session) stderr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slowVerifier.ReplaceAllString(s.err.String(), "")
}

var slowVerifier = regexp.MustCompile(`(?m)^WARNING: the kernel's verifier has been looking at .*\n`)

// soon is how long a session is waited for that should take no time, on the clock of package patience: what never
// comes is told late, but told.
const soon = 90 * time.Second

// line waits for a line of output that holds text.
func (s *session) line(text string) string {
	s.t.Helper()
	limit := patience.After(soon)
	for {
		select {
		case l, ok := <-s.lines:
			if !ok {
				s.t.Fatalf("ended without a line with %q\n%s%s", text, s.stdout(), s.stderr())
			}
			if strings.Contains(l, text) {
				return l
			}
		case <-limit:
			s.t.Fatalf("no line with %q\n%s%s", text, s.stdout(), s.stderr())
		}
	}
}

// said waits until standard error has text.
func (s *session) said(text string) {
	s.t.Helper()
	for end := patience.Now() + soon; !strings.Contains(s.stderr(), text); time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.done:
			s.t.Fatalf("ended without %q\n%s", text, s.stderr())
		default:
		}
		if patience.Now() > end {
			s.t.Fatalf("not said: %q\n%s", text, s.stderr())
		}
	}
}

// signal sends a signal to gostap.
func (s *session) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for gostap to end and gives its exit status, -1 if a signal killed it.
func (s *session) end() int {
	s.t.Helper()
	select {
	case <-s.done:
	case <-patience.After(soon):
		s.t.Fatalf("still running\n%s%s", s.stdout(), s.stderr())
	}
	return s.cmd.ProcessState.ExitCode()
}

// objects are the BPF programs, links and maps that a process holds, as "prog_id 7".
func (s *session) objects() []string {
	s.t.Helper()
	dir := fmt.Sprintf("/proc/%d/fdinfo", s.cmd.Process.Pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		info, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		for _, line := range strings.Split(string(info), "\n") {
			name, val, _ := strings.Cut(line, ":")
			switch name {
			case "prog_id", "link_id", "map_id":
				out = append(out, name+" "+strings.TrimSpace(val))
			}
		}
	}
	if len(out) == 0 {
		s.t.Fatal("gostap holds no BPF objects while it traces")
	}
	return out
}

// gone waits until the kernel has none of the objects left.
func gone(t *testing.T, objects []string) {
	t.Helper()
	left := ""
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(50 * time.Millisecond) {
		have := map[string]bool{}
		for _, what := range []string{"prog", "link", "map"} {
			out, err := exec.Command("bpftool", "-j", what, "list").Output()
			if err != nil {
				t.Skip("bpftool is not here: ", err)
			}
			var list []struct{ ID int }
			if err := json.Unmarshal(out, &list); err != nil && len(bytes.TrimSpace(out)) > 0 {
				t.Fatal(err)
			}
			for _, o := range list {
				have[fmt.Sprintf("%s_id %d", what, o.ID)] = true
			}
		}
		left = ""
		for _, o := range objects {
			if have[o] {
				left += " " + o
			}
		}
		if left == "" {
			return
		}
	}
	t.Errorf("still in the kernel:%s", left)
}

// patched counts the bytes of a running program's code that differ from its file: the
// breakpoints of probes.
func patched(t *testing.T, pid int, path string) int {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	want, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	base := uint64(0)
	if f.Type == elf.ET_DYN {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			t.Fatal(err)
		}
		start, _, _ := strings.Cut(string(maps), "-")
		if base, err = strconv.ParseUint(start, 16, 64); err != nil {
			t.Fatal(err)
		}
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	got := make([]byte, len(want))
	if _, err := mem.ReadAt(got, int64(base+text.Addr)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range want {
		if want[i] != got[i] {
			n++
		}
	}
	return n
}

// unpatched waits until a program's code is as in its file again.
func unpatched(t *testing.T, pid int, path string) {
	t.Helper()
	n := 0
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(50 * time.Millisecond) {
		if n = patched(t, pid, path); n == 0 {
			return
		}
	}
	t.Errorf("%d bytes of the program's code are still changed", n)
}

// victim is a program that runs until the test ends.
type victim struct {
	*exec.Cmd
	path string
}

func startVictim(t *testing.T, name string, args ...string) victim {
	t.Helper()
	path := bin(t, name)
	return startProgram(t, exec.Command(path, args...), path)
}

// piped gives the ends of a program's input and output.
func piped(t *testing.T, cmd *exec.Cmd) (in io.Writer, out io.Reader) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return stdin, stdout
}

func startProgram(t *testing.T, cmd *exec.Cmd, path string) victim {
	t.Helper()
	if cmd.Stdout == nil {
		cmd.Stdout = io.Discard
	}
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return victim{cmd, path}
}

func (v victim) pid() string { return strconv.Itoa(v.Process.Pid) }

var cpuTime = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s+(\d+)`)

// switches tells how often the program's first thread has slept: it grows while it runs on.
func (v victim) switches(t *testing.T) int {
	t.Helper()
	total := 0
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", v.Process.Pid))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if m := cpuTime.FindSubmatch(data); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			total += n
		}
	}
	return total
}

// runsOn fails unless the program still runs and gets on.
func (v victim) runsOn(t *testing.T) {
	t.Helper()
	before := v.switches(t)
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(20 * time.Millisecond) {
		if v.switches(t) > before {
			return
		}
	}
	t.Error("the traced program does not run on")
}

// reads waits until a thread of the program waits in read(2) of its standard input.
func (v victim) reads(t *testing.T) {
	t.Helper()
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(5 * time.Millisecond) {
		tasks, _ := filepath.Glob("/proc/" + v.pid() + "/task/*/syscall")
		for _, file := range tasks {
			if b, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(b), "0 0x0 ") {
				return
			}
		}
	}
	t.Fatal("the program does not read its input")
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// timed runs a command that must end by itself.
func timed(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	return out.String(), err
}

// terminal opens a new pseudo terminal: its master end and the name of the other.
func terminal(t *testing.T) (*os.File, string) {
	t.Helper()
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	var n uint32
	if err := unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if v, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN); err == nil {
		n = uint32(v)
	} else {
		t.Fatal(err)
	}
	return m, fmt.Sprintf("/dev/pts/%d", n)
}

// attached waits until the probes of a session with -v are in place.
func attached(t *testing.T, s *session) {
	t.Helper()
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(10 * time.Millisecond) {
		if strings.Contains(s.stderr(), "attached in ") {
			return
		}
	}
	t.Fatalf("not attached\n%s", s.stderr())
}
