package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// counted gives the number that stands before text in the report at the end, 0 if it
// is not there.
func counted(t *testing.T, report, text string) int {
	t.Helper()
	m := regexp.MustCompile(`(\d+) ` + text).FindStringSubmatch(report)
	if m == nil {
		return 0
	}
	return atoi(t, m[1])
}

// TestRingFull: gostap is stopped while the program prints more than the buffer holds.
// What is lost is counted: printed lines and lost events make up all calls.
func TestRingFull(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	s := begin(t, "-s", "1", "-v", "-e", `global n probe process("`+path+
		`").function("main.step") { n++ printf("step %d of a program that prints a lot\n", $n) }
		probe end { printf("calls %d\n", n) }`)
	attached(t, s)
	s.signal(syscall.SIGSTOP)
	out, err := timed(t, exec.Command(path, "100000"))
	if err != nil {
		t.Fatal(out, err)
	}
	s.signal(syscall.SIGCONT)
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	const calls = 105000 // with those that warm up
	lines, lost := strings.Count(s.stdout(), "\nstep ")+1,
		counted(t, s.stderr(), "events lost because the output buffer was full")
	if lost == 0 || lines+lost != calls {
		t.Errorf("%d lines and %d lost do not make %d\n%s", lines, lost, calls, s.stderr())
	}
	if !strings.Contains(s.stdout(), fmt.Sprintf("calls %d\n", calls)) {
		t.Error("the count in the kernel is not that of the calls")
	}
}

// TestLockSkipped: handlers on two CPUs want the same globals for long. Hits that do
// not get them are counted, by stap's rule too many of them end the script.
func TestLockSkipped(t *testing.T) {
	needRoot(t)
	if runtime.NumCPU() < 2 {
		t.Skip("two handlers at a time need two processors")
	}
	path := bin(t, "busy")
	script := `global a[64], s, n probe process("` + path +
		`").function("main.step") { n++ for (i = 0; i < 60; i++) { a[i] = a[i] + 1 s = sprint(a[i]) } }
		probe end { printf("%d %d %s\n", n, a[59], s) }`
	run := path + " 20000 >/dev/null & " + path + " 20000 >/dev/null; wait"
	const calls = 42000
	var s *session
	skipped := 0
	for try := 0; skipped == 0; try++ { // on a busy machine the two may take turns
		if try == 8 {
			t.Fatalf("nothing was skipped\n%s%s", s.stdout(), s.stderr())
		}
		s = begin(t, "-D", "STP_NO_OVERLOAD", "-D", "MAXSKIPPED=0", "-D", "MAXTRYLOCK=2", "-D", "TRYLOCKDELAY=0", "-e",
			script, "-c", run)
		if status := s.end(); status != 0 {
			t.Errorf("status %d\n%s", status, s.stderr())
		}
		skipped = counted(t, s.stderr(), "skipped because a lock was held too long")
	}
	want := fmt.Sprintf("%d %[1]d %[1]d\n", calls-skipped)
	if s.stdout() != want {
		t.Errorf("got %swant %s(%d skipped)", s.stdout(), want, skipped)
	}
	if !strings.Contains(s.stderr(), fmt.Sprintf("skipped probes: %d", skipped)) {
		t.Error(s.stderr())
	}

	s = begin(t, "-D", "STP_NO_OVERLOAD", "-D", "MAXTRYLOCK=2", "-D", "TRYLOCKDELAY=0", "-e", script, "-c",
		path+" 400000 >/dev/null & "+path+" 400000 >/dev/null; wait")
	if status := s.end(); status != 1 || !strings.Contains(s.stderr(), "skipped too many probes, check MAXSKIPPED") {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
}

// TestNoEntry: the probes come when the function has begun. Its return has no entry
// value: it is skipped and counted, and the next ones are right.
func TestNoEntry(t *testing.T) {
	needRoot(t)
	path := bin(t, "slow")
	cmd := exec.Command(path)
	in, out := piped(t, cmd)
	v := startProgram(t, cmd, path)
	if _, err := io.ReadFull(out, make([]byte, len("begin\n"))); err != nil {
		t.Fatal(err)
	}
	v.reads(t) // in its first call
	s := begin(t, "-v", "-e", `probe process.function("main.nap").return { printf("%d of %d\n", $return, @entry($n)) }`,
		"-x", v.pid())
	attached(t, s)
	fmt.Fprint(in, "12345")
	if status := s.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	if s.stdout() != "2 of 1\n3 of 2\n4 of 3\n5 of 4\n" {
		t.Errorf("got %s", s.stdout())
	}
	if n := counted(t, s.stderr(), "returns skipped: their calls began before tracing"); n != 1 {
		t.Errorf("%d counted\n%s", n, s.stderr())
	}
}

// TestBeginsAtOnce: the places of a pair are attached one after the other while the function is called all the
// time. No return counts before entries do: one call at most is under way when tracing begins.
func TestBeginsAtOnce(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	v := startProgram(t, exec.Command(path, "2000000000000"), path)
	for range 3 {
		s := begin(t, "-v", "-e", `global n, wrong probe process.function("main.step").return { if ($return != 3 * @entry($n) + 5) wrong++ if (n++ == 1000) exit() }
			probe end { printf("%d wrong\n", wrong) }`, "-x", v.pid())
		if status := s.end(); status != 0 || s.stdout() != "0 wrong\n" {
			t.Errorf("status %d: %s%s", status, s.stdout(), s.stderr())
		}
		if n := counted(t, s.stderr(), "returns skipped"); n > 1 {
			t.Errorf("%d returns without an entry\n%s", n, s.stderr())
		}
	}
}

// TestNeverFired: with -v, and on a terminal, the end says which probe points no handler ran for.
func TestNeverFired(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	script := `probe process.function("main.step") { n++ } global n probe process.function("main.inner") { m++ } global m
		probe process.function("main.cpu").return { print(@entry(n)) } probe process.statement("main.main@*:40") ? { n++ }
		probe process.begin { n++ } probe process.thread.end { n++ } probe timer.s(100) { n++ } probe end { println(n > 0) }`
	s := begin(t, "-v", "-e", script, "-c", path+" 10 >/dev/null")
	if status := s.end(); status != 0 {
		t.Errorf("status %d", status)
	}
	var never []string
	for line := range strings.Lines(s.stderr()) {
		if _, name, ok := strings.Cut(line, "never fired: "); ok {
			never = append(never, strings.TrimSpace(name))
		}
	}
	want := []string{`process.statement("main.main@*:40")`}
	if fmt.Sprint(never) != fmt.Sprint(want) {
		t.Errorf("%q never fired, want %q\n%s", never, want, s.stderr())
	}
	s = begin(t, "-e", script, "-c", path+" 10 >/dev/null")
	if s.end(); strings.Contains(s.stderr(), "never fired") {
		t.Errorf("told without -v:\n%s", s.stderr())
	}
}

// TestEntriesEvicted: more calls are open at once than entry values are kept for. The
// values that are there are right, and the returns that have none are counted.
func TestEntriesEvicted(t *testing.T) {
	needRoot(t)
	path := bin(t, "slow")
	const depth = 300000
	s := begin(t, "-e", `global right, wrong probe process("`+path+
		`").function("main.down").return { if (@entry($n) == $return) right++ else wrong++ }
		probe end { printf("%d %d\n", right, wrong) }`, "-c", fmt.Sprintf("%s %d >/dev/null", path, depth))
	if status := s.end(); status != 0 {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	none := counted(t, s.stderr(), "returns skipped: their calls began before tracing, or too many")
	if want := fmt.Sprintf("%d 0\n", depth+1-none); none == 0 || s.stdout() != want {
		t.Errorf("got %swant %s%s", s.stdout(), want, s.stderr())
	}
}

// TestScratchExhausted: all scratch memory is taken. Handlers that interrupt each other so
// often need a kernel that preempts, so the test itself marks the slots as taken.
func TestScratchExhausted(t *testing.T) {
	needRoot(t)
	path := bin(t, "busy")
	s := begin(t, "-v", "-D", "MAXSKIPPED=0", "-e", `global m probe process("`+path+
		`").function("main.step") { s = sprintf("%d and %s", $n, execname()) println(s) m[s] = 1 }
		probe end { println("ended") }`)
	attached(t, s)
	var maps []struct {
		ID         int
		Name       string
		BytesValue int `json:"bytes_value"`
		MaxEntries int `json:"max_entries"`
	}
	out, err := exec.Command("bpftool", "-j", "map", "list").Output()
	if err != nil {
		t.Skip("bpftool is not here: ", err)
	}
	if err := json.Unmarshal(out, &maps); err != nil {
		t.Fatal(err)
	}
	mine := strings.Join(s.objects(), ", ") + ","
	taken := 0
	for _, m := range maps {
		if m.Name != "gostap_scratch" || !strings.Contains(mine, fmt.Sprintf("map_id %d,", m.ID)) {
			continue
		}
		value := append([]string{"01"}, strings.Fields(strings.Repeat("00 ", m.BytesValue-1))...)
		for i := range m.MaxEntries {
			args := append([]string{"map", "update", "id", fmt.Sprint(m.ID), "key", "hex", fmt.Sprintf("%02x", i), "00",
				"00", "00", "value", "hex"}, value...)
			if msg, err := exec.Command("bpftool", args...).CombinedOutput(); err != nil {
				t.Fatal(err, string(msg))
			}
			taken++
		}
	}
	if taken == 0 {
		t.Fatal("the session has no scratch memory")
	}
	if out, err := timed(t, exec.Command(path, "100")); err != nil {
		t.Fatal(out, err)
	}
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 || s.stdout() != "ended\n" {
		t.Errorf("status %d\n%s", status, s.stdout())
	}
	const calls = 105
	if n := counted(t, s.stderr(), "skipped for lack of scratch memory"); n != calls {
		t.Errorf("%d of %d counted\n%s", n, calls, s.stderr())
	}
}

// TestRecursed: a handler that takes long is at an event that interrupts cause as well. The kernel does not run it
// inside itself; each time that it would have is counted, and the runs that there were are whole.
func TestRecursed(t *testing.T) {
	needRoot(t)
	// Inodes are freed by RCU: their callbacks run when the tick's interrupt ends, inside of whatever it interrupted.
	stop := files(t, runtime.NumCPU())
	defer stop()
	s := begin(t, "-D", "MAXACTION=1000000", "-D", "STP_NO_OVERLOAD", "-D", "MAXSKIPPED=1000000", "-e",
		`global n, hits probe kernel.trace("kmem_cache_free") { hits++ for (i = 0; i < 3000; i++) n++ }
		probe timer.ms(200) { if (n > 3000 * 50000) exit() } probe timer.s(15) { exit() } probe end { println(n - 3000 * hits) }`)
	if status := s.end(); status != 0 {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	n := counted(t, s.stderr(), "hits missed because the kernel does not run a handler while it is at work on the "+
		"same CPU")
	t.Logf("%d missed", n)
	if n == 0 || s.stdout() != "0\n" {
		t.Errorf("%d counted\n%s%s", n, s.stdout(), s.stderr())
	}
}

// files makes and removes files on several threads until stop is called.
func files(t *testing.T, threads int) (stop func()) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var over atomic.Bool
	for i := range threads {
		name := filepath.Join(dir, fmt.Sprint(i))
		wg.Go(func() {
			for !over.Load() {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					t.Error(err)
					return
				}
				os.Remove(name)
			}
		})
	}
	return func() { over.Store(true); wg.Wait() }
}

// TestNoGoroutine: a thread made by C runs Go code before it has a goroutine. What is kept by the goroutine cannot be
// kept there: the hit is skipped and counted. Other handlers at the same place run.
func TestNoGoroutine(t *testing.T) {
	needRoot(t)
	path := bin(t, "foreign")
	fn := `process("` + path + `").function("runtime.needm")`
	s := begin(t, "-e", `global n probe `+fn+` { n++ } probe `+fn+
		`.return { println("return ", @entry($signal)) } probe end { println(n) }`, "-c", path+" >/dev/null")
	if status := s.end(); status != 0 || s.stdout() != "1\n" {
		t.Errorf("status %d\n%s", status, s.stdout())
	}
	if n := counted(t, s.stderr(), "hits skipped because their goroutine or thread could not be told"); n != 1 {
		t.Errorf("%d counted\n%s", n, s.stderr())
	}
}
