package profile

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
	procstate "github.com/gostap/gostap/runtime/host/goroutines"
)

// TestSlips: what is wrong with the arguments is said with a hint.
func TestSlips(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "one of -c and -x is needed"}, {"-c true -x 1", "one of -c and -x is needed"},
		{"-c a b", `"b" is not an option`}, {"-x -5", "-5 is no process"}, {"-x 5 --for -1s", "--for takes a time"},
		{"-x 5 --what cup", `--what does not know "cup"`}, {"-x 5 --what cpu,wall", "cannot be measured together"},
		{"-x 5 --what chan,", `--what does not know ""`}, {"-x 5 -o a.txt", "is not clear from its name"},
		{"--diff a", "--diff takes two files, and there are 1"}, {"-x 5 --hz 0", "1 to 10000"},
		{"--wat", "unknown flag"}, {"-x 5 --buffer 0", "1 to 1024 megabytes"}, {"-x 5 -s -1", "1 to 1024 megabytes"},
		{"-x 5 --sample", "--sample looks at"}, {"-x 5 --what wall --sample --each", "--sample looks at"},
		{"--diff a b", "a is no profile by its name|no such file"},
	} {
		var out, errs bytes.Buffer
		status := Run(context.Background(), strings.Fields(c.args), Streams{Out: &out, Err: &errs}, nil)
		ok := false
		for want := range strings.SplitSeq(c.want, "|") {
			ok = ok || strings.Contains(errs.String(), want)
		}
		if status != 1 || !ok || !strings.HasPrefix(errs.String(), "error: ") {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, errs.String(), c.want)
		}
	}
	var out bytes.Buffer
	if Run(context.Background(), []string{"--help"}, Streams{Out: &out}, nil) != 0 ||
		!strings.Contains(out.String(), "usage:") {
		t.Errorf("--help: %q", out.String())
	}
}

// TestStopped: a signal before the probes are in place is told as what it is.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var errs bytes.Buffer
	status := Run(ctx, []string{"-x", strconv.Itoa(os.Getpid())}, Streams{Out: &errs, Err: &errs}, nil)
	if status != 1 || !strings.Contains(errs.String(), "nothing was ") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}

func num(n ...int64) (out []gostap.Value) {
	for _, v := range n {
		out = append(out, gostap.Value{Int: v})
	}
	return out
}

func sumsOf(p *export.Profile) map[string]int64 {
	m := map[string]int64{}
	for i := range p.Samples {
		m[p.Samples[i].Label("state")] += p.Samples[i].Values[0]
	}
	return m
}

// TestGoroutines: the states of a goroutine add up to its life, whatever order the events come in.
func TestGoroutines(t *testing.T) {
	none := gostap.Value{IsText: true}
	c := newGoroutines(&namer{stacks: map[string][]export.Frame{}}, "wall")
	for _, e := range [][]gostap.Value{
		num(codeBegin, 1, 1000),
		append(num(codeReason, 7), gostap.Value{Text: "chan receive", IsText: true}),
		append(num(codeMade, 5, 1100), none),
		num(codeRun, 5, 1150, 0),
		append(num(codePark, 5, 7, 1250), none),
		num(codeReady, 5, 1500, 7),
		num(codeRun, 5, 1490, 0), // from another processor
		append(num(codeStep, 5, 1600), none),
		num(codeYield, 5, 1610),
		num(codeRun, 5, 1700, 0),
		append(num(codeEnter, 5, 1800), none),
		num(codeLeave, 5, 1900),
		num(codeEnd, 5, 2000),
		num(codeReady, 9, 1200, 7), // was there before the beginning, and waited
		append(num(codePark, 0, 7, 1300), none),
	} {
		c.event(e)
	}
	p := c.finish(3000)
	var five int64
	for i := range p.Samples {
		if p.Samples[i].Label("goroutine") == "5" {
			five += p.Samples[i].Values[0]
		}
	}
	if five != 900 {
		t.Errorf("goroutine 5 lived 900 ns, and its states are %d", five)
	}
	got := sumsOf(p)
	for state, want := range map[string]int64{running: 100 + 110 + 100 + 100, runnable: 50 + 90 + 1800,
		"chan receive": 250 + 200, "syscall": 100} {
		if got[state] != want {
			t.Errorf("%s: %d ns, want %d", state, got[state], want)
		}
	}
}

// TestSums: what the kernel added up and what had not ended make up the time, also where something began after the end.
func TestSums(t *testing.T) {
	text := func(s string) gostap.Value { return gostap.Value{Text: s, IsText: true} }
	n := &namer{stacks: map[string][]export.Frame{"recv": {{Func: "main.recv"}}, "call": {{Func: "syscall.write"}}}}
	c := newSums(n, "wall", 0, 1000)
	for _, e := range [][]gostap.Value{
		num(codeBegin, 1, 1000+500<<tickShift),
		append(num(codeReason, 7), text("chan receive")),
		num(codeFirst, 9, 700, 7, 0), // waited from before the beginning, at 500, on
		num(codeFirst, 10, 700, kindRunning, 0),
		num(codeFirst, 11, 700, kindIdle, 0), // made just then
		append(num(codeSum, 7, 3, 400, 0), text("recv")),
		append(num(codeOpen, 7, 2, 900+1100, 0), text("recv")),
		append(num(codeSum, kindSyscall, 1, 50, 0), text("call")),
		num(codeOpenRun, 1, 600, 0),
	} {
		c.event(e)
	}
	got := sumsOf(c.finish(1000 + 1000<<tickShift))
	want := map[string]int64{"chan receive": (200 + 400 + (1000 - 900) + (1000 - 1100)) << tickShift,
		"syscall write": 50 << tickShift, running: (200 + 400) << tickShift}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	c = newSums(n, "chan", 0, 1000)
	c.event(num(codeMissed, 3))
	if p := c.finish(2000); len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "3 events") {
		t.Errorf("notes %q", p.Notes)
	}
}

// TestSamples: a look stands for the time since the one before, the last one for what is left as well, and a stack that
// changed meanwhile is none.
func TestSamples(t *testing.T) {
	n := &namer{stacks: map[string][]export.Frame{"a\x01\x00\x00\x00\x00\x00\x00\x00": {{Func: "main.f"}}}}
	c := newSamples(n, "off")
	c.reasons[7], c.last = "chan receive", 1000
	waits := procstate.Goroutine{Status: procstate.Waiting, Reason: 7, Stack: []uint64{1}}
	moved := waits
	moved.Moved = true
	runs := procstate.Goroutine{Status: procstate.Running}
	c.seen([]procstate.Goroutine{waits, waits, runs}, 1500)
	c.seen([]procstate.Goroutine{waits, moved}, 1700)
	p := c.finish(2000)
	got := map[int]int64{}
	for i := range p.Samples {
		got[len(p.Samples[i].Stack)] += p.Samples[i].Values[0]
	}
	if want := map[int]int64{1: 2*500 + 200 + 300, 0: 200 + 300}; !maps.Equal(got, want) || c.looks != 2 {
		t.Errorf("got %v after %d looks, want %v", got, c.looks, want)
	}
}

// TestThreads does the same for threads.
func TestThreads(t *testing.T) {
	none := gostap.Value{IsText: true}
	c := newThreads(&namer{stacks: map[string][]export.Frame{"kfutex": {{Func: "schedule_[k]"}, {
		Func: "__x64_sys_futex_[k]"}}}}, "wall", 0)
	name := gostap.Value{Text: "app", IsText: true}
	out := func(preempted, at int64, stack string) []gostap.Value {
		return append(num(codeOut, 5, preempted, at, 5, 1), name, name, gostap.Value{Text: stack, IsText: true}, none)
	}
	for _, e := range [][]gostap.Value{
		num(codeIn, 5, 1000, 5, 1), out(0, 1100, "futex"), num(codeWake, 5, 1400, 5, 1), num(codeIn, 5, 1450, 5, 1),
		num(codeWake, 5, 1460, 5, 1),
		out(1, 1500, ""), num(codeIn, 5, 1600, 5, 1), num(codeExit, 5, 1700, 0), out(0, 1710, "futex"),
	} {
		c.event(e)
	}
	p := c.finish(5000)
	got := sumsOf(p)
	for state, want := range map[string]int64{running: 100 + 50 + 100, runnable: 50 + 100, "futex": 300} {
		if got[state] != want {
			t.Errorf("%s: %d ns, want %d", state, got[state], want)
		}
	}
	if l := p.Samples[0].Label("thread"); l != "app/5" {
		t.Errorf("thread %q", l)
	}
}

func TestNamesOfCalls(t *testing.T) {
	f := func(names ...string) (s []export.Frame) {
		for _, n := range names {
			s = append(s, export.Frame{Func: n})
		}
		return s
	}
	for _, c := range []struct {
		stack []export.Frame
		want  string
	}{
		{f("runtime.reentersyscall", "runtime.entersyscall", "syscall.Syscall", "syscall.write", "syscall.Write"),
			"syscall write"},
		{f("runtime.entersyscall", "syscall.Syscall6", "golang.org/x/sys/unix.EpollWait"), "syscall epollwait"},
		{f("runtime.entersyscall", "runtime.cgocall", "main._Cfunc_f"), "cgo"},
		{f("runtime.entersyscall", "main.odd"), "syscall"}, {nil, "syscall"},
	} {
		if got := goSyscall(c.stack); got != c.want {
			t.Errorf("%v: %q, want %q", c.stack, got, c.want)
		}
	}
	if got := syscallOf(f("__schedule_[k]", "do_nanosleep_[k]", "__x64_sys_clock_nanosleep_[k]",
		"do_syscall_64_[k]")); got != "clock_nanosleep" {
		t.Errorf("system call %q", got)
	}
}

// TestTailCalls: a system call whose function has jumped to another one has its name all the same.
func TestTailCalls(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"schedule pipe_read vfs_read ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe", "read"},
		{"schedule pipe_read vfs_read ksys_read x64_sys_call do_syscall_64 entry_SYSCALL_64_after_hwframe", "read"},
		{"schedule do_sched_yield do_syscall_64", "sched_yield"}, {"schedule futex_wait __x64_sys_futex do_syscall_64",
			"futex"}, {"schedule exc_page_fault", pageFault}, {"schedule ret_from_fork", ""}, {"do_syscall_64", ""},
	} {
		var stack []export.Frame
		for f := range strings.FieldsSeq(c.stack) {
			stack = append(stack, export.Frame{Func: f + "_[k]"})
		}
		if got := syscallOf(stack); got != c.want {
			t.Errorf("%s: %q, want %q", c.stack, got, c.want)
		}
	}
}

func TestWanted(t *testing.T) {
	for _, c := range []struct {
		what, state string
		want        bool
	}{
		{"wall", running, true}, {"off", running, false}, {"off", runnable, true}, {"chan", "chan send", true},
		{"chan", "select (no cases)", true}, {"chan", "sleep", false}, {"lock,chan", "sync.Mutex.Lock", true},
		{"lock,chan", "chan receive", true}, {"gc", "GC assist wait", true}, {"syscall", "IO wait", true}, {
			"syscall", "cgo", true},
	} {
		if got := wanted(c.what, c.state); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestOfThreads(t *testing.T) {
	for state, want := range map[string]string{running: "wall", runnable: "wall off", "futex": "wall off lock syscall",
		"futex_waitv": "wall off lock syscall", "read": "wall off syscall", pageFault: "wall off",
		kernelReason(nil): "wall off"} {
		var got []string
		for _, what := range []string{"wall", "off", "lock", "syscall"} {
			if ofThreads(what, state) {
				got = append(got, what)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", state, text, want)
		}
	}
}

// TestDiff compares files of two forms.
func TestDiff(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.folded": "main;f 10\nmain;g 5\n",
		"b.folded": "main;f 4\nmain;h 9\n", "c.folded": "bad\n", "d.pb.gz": "bad"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		status := Run(context.Background(), args, Streams{Out: &out, Err: &errs}, nil)
		return out.String(), errs.String(), status
	}
	a, b, html := filepath.Join(dir, "a.folded"), filepath.Join(dir, "b.folded"), filepath.Join(dir, "x.html")
	out, errs, status := run("--diff", a, b)
	want := "      before        after       change  function\n           0            9            9  h\n" +
		"          10            4           -6  f\n           5            0           -5  g\n"
	if out != want || status != 0 {
		t.Errorf("status %d, %s got\n%s", status, errs, out)
	}
	if _, errs, status := run("--diff", a, b, "-o", html); status != 0 {
		t.Error(errs)
	}
	if text, err := os.ReadFile(html); err != nil || !strings.Contains(string(text),
		"h: 9, 69.23%; before 0, 0.00%") {
		t.Errorf("%v: %s", err, text)
	}
	for _, bad := range []string{"c.folded", "d.pb.gz"} {
		if _, errs, status := run("--diff", a, filepath.Join(dir, bad)); status != 1 || !strings.Contains(errs, bad) {
			t.Errorf("%s: %d %s", bad, status, errs)
		}
	}
}

// TestBefore: a thread that waits all the time is known from /proc, and by its first event from then on.
func TestBefore(t *testing.T) {
	dir := t.TempDir()
	write := func(id, stat, stack string) {
		task := filepath.Join(dir, "task", id)
		if err := os.MkdirAll(task, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"stat": stat, "stack": stack, "comm": "a) app\n",
			"syscall": "230 0x0 0x7f 0x0\n"} {
			if err := os.WriteFile(filepath.Join(task, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("7", "7 (a app) S 1 2", "[<0>] hrtimer_nanosleep+0x74/0xf0\n[<0>] __x64_sys_clock_nanosleep+0xce/0x140\n")
	write("8", "8 (a app) D 1 2", "[<0>] jbd2_wait+0x1/0x2 [jbd2]\n[<0>] ret_from_fork+0x1/0x2\n")
	write("9", "9 (a app) R 1 2", "")
	write("10", "broken", "[<0>] x+0x1/0x2\n")
	c := newThreads(&namer{stacks: map[string][]export.Frame{}}, "wall", 0)
	c.before(dir, 1000)
	c.event(num(codeWake, 7, 1500, 0, 3))
	got := sumsOf(c.finish(2000))
	want := map[string]int64{"clock_nanosleep": 500, runnable: 500, "in the kernel: ret_from_fork": 1000}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
