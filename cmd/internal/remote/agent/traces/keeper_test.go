package traces

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/ready"
)

// TestMain is also a gostap of which the script says what it does.
func TestMain(m *testing.M) {
	if os.Getenv("TRACES_STUB") == "" {
		os.Exit(m.Run())
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	args := strings.Join(os.Args[1:], " ")
	switch {
	case strings.Contains(args, "refused"):
		fmt.Fprintln(os.Stderr, "<input>:1:7: error: no such thing\n  refused\n  ^~~~")
		os.Exit(1)
	case strings.Contains(args, "breaks"):
		ready.Tell(os.Environ(), "READY=1")
		fmt.Fprintln(os.Stderr, "WARNING: 7 events lost\nERROR: it breaks near 'x' at <input>:3:4")
		os.Exit(1)
	case strings.Contains(args, "lingers"):
		cmd := exec.Command("sleep", "20")
		cmd.Stdout = os.Stdout
		cmd.Start()
		os.Exit(0)
	case strings.Contains(args, "noisy"):
		fmt.Fprintln(os.Stderr, "error: "+strings.Repeat("<", 60<<10))
		os.Exit(1)
	case strings.Contains(args, "unready"): // stopped before its probes are in place
		<-told
		fmt.Fprintln(os.Stderr, "error: stopped by a signal before the probes were in place: nothing was traced")
		os.Exit(1)
	case strings.Contains(args, "newborn"): // before it looks for signals
		signal.Reset(syscall.SIGINT)
		time.Sleep(time.Minute)
	case strings.Contains(args, "quick"):
		fmt.Println(args)
		os.Exit(0)
	}
	ready.Tell(os.Environ(), "READY=1")
	fmt.Println("begun", args)
	<-told
	fmt.Println("its end probe")
	os.Exit(0)
}

// trial is a directory that is run by a Keeper.
type trial struct {
	t          *testing.T
	dir, state string
	k          *Keeper
	config     Config

	mu  sync.Mutex
	log strings.Builder
}

func newTrial(t *testing.T, change func(*Config)) *trial {
	t.Helper()
	x := &trial{t: t, dir: filepath.Join(t.TempDir(), "in"), state: filepath.Join(t.TempDir(), "state")}
	if err := os.Mkdir(x.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	x.config = Config{Dir: x.dir, State: x.state, Command: []string{os.Args[0]},
		Env: append(os.Environ(), "TRACES_STUB=1"), Take: func() func() { return func() {} },
		Begun: func() func(error, int64) { return func(error, int64) {} },
		Log: func(line string) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.log.WriteString(line + "\n")
		}}
	if change != nil {
		change(&x.config)
	}
	x.begin()
	t.Cleanup(x.end)
	return x
}

func (x *trial) begin() {
	x.t.Helper()
	k, err := Begin(x.config)
	if err != nil {
		x.t.Fatal(err)
	}
	x.k = k
}

func (x *trial) end() {
	x.k.End()
	x.k.Wait()
}

func (x *trial) said() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.log.String()
}

func (x *trial) put(file, text string, mode fs.FileMode) {
	x.t.Helper()
	path := filepath.Join(x.dir, file)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		x.t.Fatal(err)
	}
}

// await waits until the status of a trace has a phase and a text in it.
func (x *trial) await(name, phase, text string) Status {
	x.t.Helper()
	s := &State{}
	var err error
	if s.dir, err = os.Open(x.state); err != nil {
		x.t.Fatal(err)
	}
	defer s.dir.Close()
	var st Status
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if st, err = s.status(name); err == nil && st.Phase == phase && strings.Contains(st.Message, text) {
			return st
		}
	}
	x.t.Fatalf("%s is not %s %q: %+v %v\n%s", name, phase, text, st, err, x.said())
	return st
}

// awaitLine waits for a line of the log.
func (x *trial) awaitLine(text string) {
	x.t.Helper()
	x.awaitLines(text, 1)
}

// awaitLines waits for so many.
func (x *trial) awaitLines(text string, n int) {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); strings.Count(x.said(), text) < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("not said %d times: %s\n%s", n, text, x.said())
		}
	}
}

func (x *trial) out(name string) string {
	b, _ := os.ReadFile(filepath.Join(x.state, name))
	return string(b)
}

// TestLife: a file that comes is run, one that changes anew, one that goes ends; what has run is not run again, but if
// its status is deleted.
func TestLife(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("a.stp", "one", 0o600)
	x.await("a", Running, "")
	if n := x.k.Running(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	os.Chtimes(filepath.Join(x.dir, "a.stp"), time.Now(), time.Now()) // it is the same
	x.put("b.stp", "quick", 0o600)
	x.put("l.stp", "lingers", 0o600)
	x.await("b", Done, "")
	x.await("l", Done, "WARNING: what the script has started goes on")
	if got, want := x.out("b.out"), "--color=never --timeout=60 --execute=quick --\n"; got != want {
		t.Errorf("%q", got)
	}
	if n := strings.Count(x.said(), "trace a: begins"); n != 1 {
		t.Errorf("begun %d times\n%s", n, x.said())
	}
	x.put("a.stp", "two", 0o600)
	x.awaitLine("trace a: done: its file was changed")
	x.awaitLines("trace a: runs", 2)
	if got := x.out("a.before"); !strings.HasPrefix(got, "begun ") ||
		!strings.HasSuffix(got, "one --\nits end probe\n") {
		t.Errorf("%q", got)
	}
	os.Remove(filepath.Join(x.dir, "a.stp"))
	st := x.await("a", Done, "its file was removed")
	got := x.out("a.out")
	if !strings.HasSuffix(got, "two --\nits end probe\n") || st.Result != (Result{int64(len(got)), 0}) ||
		st.Started == nil || st.Finished == nil || len(st.Digest) != 64 || st.File != "a.stp" {
		t.Errorf("%q %+v", got, st)
	}
	x.put("c.stp", "two", 0o600) // the same under another name
	x.await("c", Done, "it has run as a, and is not run again")
	x.put("a.stp", "two", 0o600)
	x.end()
	x.begin()
	x.put("d.stp", "quick too", 0o600)
	x.await("d", Done, "")
	if n := strings.Count(x.said(), ": begins"); n != 5 { // a, b, l, a, d
		t.Errorf("begun %d times\n%s", n, x.said())
	}
	os.Remove(filepath.Join(x.state, "a.status"))
	x.await("a", Running, "")
}

// TestEnds: the agent that ends takes sessions along, and the next one begins them again; one that was killed is told.
func TestEnds(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	x.put("a.stp", "one", 0o600)
	x.await("a", Running, "")
	x.end()
	st := x.await("a", Pending, "begins again with the next one")
	if st.Digest != "" || !strings.HasSuffix(x.out("a.out"), "its end probe\n") {
		t.Errorf("%+v %q", st, x.out("a.out"))
	}
	x.begin()
	x.await("a", Running, "")
	b, err := os.ReadFile(filepath.Join(x.state, "a.status"))
	if err != nil {
		t.Fatal(err)
	}
	x.end()
	// As an agent leaves it that is killed.
	for name, text := range map[string]string{"a.status": string(b), ".a.out.new": "half", "e.status": "{"} {
		if err := os.WriteFile(filepath.Join(x.state, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.begin()
	x.await("a", Failed, "the agent was killed: the session has ended with it")
	x.awaitLine("e.status: it is no status")
	if _, err := os.Stat(filepath.Join(x.state, ".a.out.new")); err == nil {
		t.Error("a file that was being written is left")
	}
	if _, err := Begin(x.config); err == nil || !strings.Contains(err.Error(), "another agent has") {
		t.Errorf("a second agent: %v", err)
	}
}

// TestRefuses: what is not run, and why.
func TestRefuses(t *testing.T) {
	t.Parallel()
	x := newTrial(t, func(c *Config) { c.Exports = asked.Exports{"otel": "otlp://h:1"} })
	in := func(text string) string { return head + "spec: {script: one, " + text + "}\n" }
	at := func(file string) string { return filepath.Join(x.dir, file) }
	x.put("script.stp", "refused", 0o600)
	x.put("breaks.stp", "breaks", 0o600)
	x.put("typo.yaml", in("limts: {seconds: 1}"), 0o600)
	x.put("guru.yaml", in("guru: true"), 0o600)
	x.put("export.yaml", in("export: [otle]"), 0o600)
	x.put("open.stp", "one", 0o602)
	x.put("group.stp", "one", 0o620)
	x.put("large.stp", strings.Repeat("x", 300<<10), 0o600)
	x.put("README", "x", 0o600)
	x.put("b.json", "{", 0o600)
	x.put("b.yaml", in(""), 0o600)
	x.put(".hidden.stp", "one", 0o600)
	if err := os.Symlink("script.stp", at("link.stp")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(at("fifo.stp"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("dir.yml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"script": "script.stp:1:7: error: no such thing\n  refused\n  ^~~~",
		"typo":   "typo.yaml:3:21: error: there is no field spec.limts\n  hint: did you mean limits?",
		"guru":   "runs no Traces that change what they trace\n  hint: gostap agent --guru",
		"export": "did you mean otel?",
		"open":   "may be written to by everybody, who could run what they like\n  hint: chmod go-w " + at("open.stp"),
		"group":  "may be written to by its group",
		"large":  "has 307200 bytes, and 262144 are taken at most",
		"link":   "is a symbolic link, and none is followed",
		"fifo":   "is a FIFO, and no file",
		"dir":    "is a directory, and no file",
		"b":      "b.json:1:2: error: it ends too early",
	} {
		if st := x.await(name, Refused, want); st.Digest != "" {
			t.Errorf("%+v", st)
		}
	}
	if st := x.await("breaks", Failed, "ERROR: it breaks near 'x' at breaks.stp:3:4"); st.Lost != 7 {
		t.Errorf("%+v", st)
	}
	x.awaitLine("trace script: refused: script.stp:1:7: error: no such thing\n")
	x.awaitLine("README is not taken: a Trace is in NAME.yaml")
	x.awaitLine("b.yaml is not taken: there is b.json, and both would be the trace b")
	if strings.Contains(x.said(), "hidden") {
		t.Errorf("%s", x.said())
	}
	if !strings.Contains(x.out("script.log"), "^~~~") {
		t.Errorf("%q", x.out("script.log"))
	}
	// What is made good is run.
	os.Chmod(at("open.stp"), 0o600)
	x.await("open", Running, "")
	os.Chmod(at("open.stp"), 0o606)
	x.await("open", Refused, "may be written to by everybody")
	if !strings.HasSuffix(x.out("open.out"), "its end probe\n") {
		t.Errorf("%q", x.out("open.out"))
	}
	os.Chmod(at("open.stp"), 0o600)
	x.await("open", Done, "it has run, and is not run again")
	if os.Geteuid() == 0 {
		x.put("foreign.stp", "one", 0o600)
		if err := os.Chown(at("foreign.stp"), 65534, 0); err != nil {
			t.Fatal(err)
		}
		x.await("foreign", Refused, "hint: chown 0 "+at("foreign.stp"))
	}
	// A directory that others can write to is believed no more; what runs goes on.
	x.put("good.stp", "one", 0o600)
	x.await("good", Running, "")
	os.Chmod(x.dir, 0o777)
	x.awaitLine("nothing is taken from there: " + x.dir + " may be written to by everybody")
	x.put("late.stp", "one", 0o600)
	time.Sleep(2 * settled)
	os.Remove(at("late.stp"))
	os.Chmod(x.dir, 0o700)
	x.put("end.stp", "quick", 0o600)
	x.await("end", Done, "")
	x.await("good", Running, "")
	if strings.Contains(x.said(), "trace late") {
		t.Errorf("%s", x.said())
	}
}

// TestHalfWritten: a file is not read while somebody writes to it, or while it changes.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	x := newTrial(t, nil)
	f, err := os.Create(filepath.Join(x.dir, "a.stp"))
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("quick ha")
	time.Sleep(2 * settled) // no file system without leases is known on which tests are run
	f.WriteString("lf")
	if strings.Contains(x.said(), "trace a") {
		t.Errorf("%s", x.said())
	}
	f.Close()
	x.await("a", Done, "")
	if got := x.out("a.out"); !strings.Contains(got, "--execute=quick half --") ||
		strings.Count(x.said(), "begins") != 1 {
		t.Errorf("%q\n%s", got, x.said())
	}
}

// TestMany: there are limits to how many run, and how many files are taken. A time to begin is waited for.
func TestMany(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, 1)
	x := newTrial(t, func(c *Config) {
		c.Take = func() func() {
			select {
			case slots <- struct{}{}:
				return func() { <-slots }
			default:
				return nil
			}
		}
	})
	x.put("a.stp", "one", 0o600)
	x.await("a", Running, "")
	for i := range 100 {
		text := fmt.Sprintf("%sspec: {script: quick %d, begin: 2999-01-01T00:00:00Z}", head, i)
		x.put(fmt.Sprintf("b%02d.yaml", i), text, 0o600)
	}
	x.put("0.stp", "one, too", 0o600)
	x.awaitLine("has more than 100 Traces: ")
	x.await("b00", Pending, "begins at 2999-01-01T00:00:00Z")
	x.await("0", Pending, "waits until another session has ended (--sessions)")
	x.await("a", Running, "") // whoever runs is not pushed out
	os.Remove(filepath.Join(x.dir, "a.stp"))
	x.await("0", Running, "")
	os.RemoveAll(x.dir)
	x.await("0", Done, "its file was removed")
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(x.state, "b00.status")); err != nil {
			break // it has not run, and nothing is left of it
		}
		if time.Now().After(end) {
			t.Fatal("what waited is left")
		}
	}
	if err := os.Mkdir(x.dir, 0o700); err != nil { // it comes back
		t.Fatal(err)
	}
	x.put("c.stp", "quick", 0o600)
	x.await("c", Done, "")
}

// TestState: a directory of others, or one that is a link, is not used.
func TestState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link, open := filepath.Join(dir, "real"), filepath.Join(dir, "link"), filepath.Join(dir, "open")
	for _, d := range []string{real, open} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(open, 0o777)
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "is a symbolic link", open: "may be written to by everybody",
		"/proc/gostap/x": "no such file"} {
		if _, err := OpenState(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	s, err := OpenState(filepath.Join(dir, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.dir.Close()
	// What lies there under its names is replaced, and never written through.
	victim := filepath.Join(dir, "victim")
	for _, name := range []string{"x.status", ".x.status.new"} {
		if err := os.Symlink(victim, filepath.Join(dir, "a", "b", name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.status("x"); err == nil {
		t.Error("a link was followed")
	}
	if err := s.writeStatus("x", &Status{Phase: Done}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(victim); err == nil {
		t.Error("a link was written through")
	}
	if st, err := s.status("x"); err != nil || st.Phase != Done {
		t.Errorf("%v %+v", err, st)
	}
}

// TestTable: the list, and one of it.
func TestTable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s")
	s, err := OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.dir.Close()
	s.writeStatus("one", &Status{Phase: Refused, Message: "x:1:2: error: \x1b[31mno\n  caret"})
	s.writeStatus("two", &Status{Phase: Done, Lost: 7, Result: Result{Bytes: 9, Left: 5}})
	s.write("two.out", []byte("text"))
	s.write("two.log", []byte("WARNING: \x1b[31mit\n"))
	run := func(args ...string) (status int, out, errs string) {
		var o, e strings.Builder
		status = Run(append(args, "--state", dir), &o, &e, "usage")
		return status, o.String(), e.String()
	}
	status, out, _ := run()
	if want := "NAME  PHASE    SINCE  LOST  MESSAGE\none   Refused  -      0     x:1:2: error: "; status != 0 ||
		!strings.HasPrefix(out, want) || strings.Contains(out, "\x1b") ||
		!strings.Contains(out, "\ntwo   Done     -      7") {
		t.Errorf("%d\n%s", status, out)
	}
	status, out, errs := run("two")
	if status != 0 || out != "text" || strings.Contains(errs, "\x1b") ||
		!strings.Contains(errs, "WARNING: 5 of 9 bytes of the output are not kept") {
		t.Errorf("%d %q %q", status, out, errs)
	}
	for want, args := range map[string][]string{"did you mean two?": {"tow"}, "no name of a trace": {"../x"},
		"one argument too many": {"one", "two"}, "unknown flag": {"--x"}} {
		if status, _, errs := run(args...); status != 1 || !strings.Contains(errs, want) {
			t.Errorf("%q: %s", args, errs)
		}
	}
	var e strings.Builder
	Run([]string{"--state", dir + "x"}, &e, &e, "")
	if !strings.Contains(e.String(), "there is no "+dir+"x\n  hint: an agent") {
		t.Errorf("%s", e.String())
	}
}
