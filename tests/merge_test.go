package tests

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/tapsets/tools"
	"github.com/gostap/gostap/tests/patience"
)

// children gives the processes that one has started.
func children(t *testing.T, pid int) (out []string) {
	t.Helper()
	text, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// TestMerge: two sessions on one machine count everything twice, so that their sum is twice what the program did.
// Timers print it on the way, and it is complete at the end; begin and end probes run once.
func TestMerge(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	script := `global calls, by, size, start
probe begin { start = gettimeofday_s() println("begins") }
probe process("` + prog + `").function("step") { calls++ by[execname(), $n % 3]++ size <<< $n }
probe timer.ms(200) { printf("so far %d\n", calls) }
probe end {
	printf("%d calls, %d, sum %d, %d to %d, after %d s\n", calls, @count(size), @sum(size), @min(size), @max(size),
		gettimeofday_s() - start >= 0)
	foreach ([name, k+] in by) printf("%s %d: %d\n", name, k, by[name, k])
	print(@hist_log(size))
}`
	s := begin(t, "-v", "--merge", "--remote", "direct", "--remote", "direct", "-e", script)
	s.line("so far 0")
	for range 3 {
		if out, err := exec.Command(prog, "2000").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	s.line("so far 12600") // 3 * 2100, twice
	if out, err := exec.Command(prog, "40").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.signal(syscall.SIGINT)
	if status := s.end(); status != 0 {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
	sum := int64(0)
	for _, n := range []int64{2000, 2000, 2000, 40} {
		sum += n*(n-1)/2 + n/20*(n/20-1)/2
	}
	want := fmt.Sprintf("12684 calls, 12684, sum %d, 0 to 1999, after 1 s\n", 2*sum)
	if out := s.stdout(); !strings.Contains(out, want) || strings.Count(out, "begins") != 1 ||
		!strings.HasPrefix(out, "begins\n") || !regexp.MustCompile(`busyc 0: \d+\nbusyc 1: \d+\nbusyc 2: \d+\n`).
		MatchString(out) {
		t.Errorf("want %s:\n%s", want, out)
	}
}

// TestMergeWords: what each machine has counted is put into words that mean the same everywhere by end probes that only
// add, before those run that are about all: in this case twice the calls, by what a process is called.
func TestMergeWords(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	script := `global by, seen, words, least, told
probe process("` + prog + `").function("step") { by[$n % 3]++ seen = pid() }
probe end(-2) { foreach (k in by) words[sprintf("%d of %d", k, cpu() >= 0)] += by[k] }
probe end(-1) { least <<< seen > 0 }
probe timer.ms(50) { if (!told++) println("ready") }
probe end { foreach (w+ in words) println(w, ": ", words[w]) printf("%d machines, %d\n", @count(least), @sum(least)) }`
	s := begin(t, "-v", "--merge", "--remote", "direct", "--remote", "direct", "-e", script)
	s.line("ready")
	step(t, prog, "3000")
	s.signal(syscall.SIGINT)
	want := "ready\n0 of 1: 2100\n1 of 1: 2100\n2 of 1: 2100\n2 machines, 2\n"
	if status := s.end(); status != 0 || s.stdout() != want {
		t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
}

// TestMergeOver: a script that comes to its end before any machine was asked ends, with what it has to say.
func TestMergeOver(t *testing.T) {
	needRoot(t)
	for script, want := range map[string]string{
		`global n probe begin { exit() } probe syscall.read { n++ } probe end { println(n >= 0) }`: "1\n",
		`global n probe oneshot { println("x") } probe syscall.read { n++ }`:                       "x\nn=0\n",
	} {
		s := begin(t, "--merge", "--remote", "direct", "--remote", "direct", "-w", "-e", script)
		if status := s.end(); status != 0 || s.stdout() != want {
			t.Errorf("%s: status %d, %q\n%s", script, status, s.stdout(), s.stderr())
		}
	}
}

// TestMergeTools: each tool about the kernel has one answer of all machines.
func TestMergeTools(t *testing.T) {
	gostap := bin(t, "gostap")
	for _, name := range tools.Names() {
		tool := tools.Find(name)
		if strings.HasPrefix(name, "go-") || slices.ContainsFunc(tool.Options, func(o tools.Option) bool {
			return o.Required
		}) {
			continue
		}
		cmd := exec.Command(gostap, "-w", "-p3", "--merge", "--remote=kube://any/one", name)
		if out, err := cmd.CombinedOutput(); err != nil && strings.Contains(string(out), "machine") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// TestMergeStacks: stacks are added up by their functions, as keys that scripts print and folded; what needs addresses
// is refused.
func TestMergeStacks(t *testing.T) {
	needRoot(t)
	prog := bin(t, "inlines-c")
	probe := `global n probe process("` + prog + `").function("leaf") { n[ustack()]++ }`
	for _, c := range []struct{ name, flag, script, want string }{
		{"folded", "--folded", probe, "_start;__libc_start_main_impl;__libc_start_call_main;main;outer;mid;leaf 18\n" +
			"_start;__libc_start_main_impl;__libc_start_call_main;main;last;fail;leaf 6\n"},
		{"keys", "-w", probe + ` probe end { foreach (s in n-) printf("%d\n%s", n[s], s) }`,
			"18\n leaf\n mid\n outer\n main\n __libc_start_call_main\n __libc_start_main_impl\n _start\n" +
				"6\n leaf\n fail\n last\n main\n __libc_start_call_main\n __libc_start_main_impl\n _start\n"},
		{"the kernel's", "-w", `global n, k probe process("` + prog + `").function("leaf") { n++ }
			probe kernel.trace("sched:sched_process_exit") { if (execname() == "inlines-c") k[kstack()]++ }
			probe end { foreach (s in k) if (stack_folded(s) =~ "do_exit_.k.;") m += k[s] println(m, " of ", n) }`,
			"6 of 24\n"},
	} {
		s := begin(t, c.flag, "-v", "--merge", "--remote", "direct", "--remote", "direct", "-e", c.script)
		s.said("\nattached in")
		for range 3 {
			if out, err := exec.Command(prog).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		s.signal(syscall.SIGINT)
		if status := s.end(); status != 0 || s.stdout() != c.want {
			t.Errorf("%s: status %d\n%s%s", c.name, status, s.stdout(), s.stderr())
		}
	}
	s := begin(t, "--merge", "--remote", "direct", "-e",
		probe+` probe end { foreach (s in n) println(stack_addrs(s)) }`)
	if status := s.end(); status == 0 || !strings.Contains(s.stderr(), "stack_addrs() asks the machine where it runs") {
		t.Errorf("status %d\n%s", status, s.stderr())
	}
}

// TestMergePage: the page of a session over machines has their sums while it runs, stacks as a flame graph, and what
// machines say; its button ends it everywhere.
func TestMergePage(t *testing.T) {
	needRoot(t)
	prog := bin(t, "inlines-c")
	s := begin(t, "-v", "--merge", "--remote", "direct", "--remote", "direct", "--http", "0", "-e",
		`global n, stacks probe process("`+prog+`").function("leaf") { n++ stacks[ustack()]++ }
		probe end { printf("%d calls\n", n) }`)
	s.said("\nattached in")
	if out, err := exec.Command(prog).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	url := regexp.MustCompile(`http://\S+`).FindString(s.stderr())
	ask := func(method, what string) (text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+what, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	wants := []string{`"name":"n","keys":0,"stat":false,"rows":[{"key":[],"value":"8"`,
		`{"functions":"_start;__libc_start_main_impl;__libc_start_call_main;main;outer;mid;leaf","value":6}`,
		`"text":"direct#2: attached in`}
	state := ""
	for end := patience.Now() + soon; patience.Now() < end; time.Sleep(100 * time.Millisecond) {
		state = ask(http.MethodGet, "state")
		if !slices.ContainsFunc(wants, func(w string) bool { return !strings.Contains(state, w) }) {
			break
		}
	}
	for _, w := range wants {
		if !strings.Contains(state, w) {
			t.Errorf("no %s in\n%s", w, state)
		}
	}
	ask(http.MethodPost, "stop")
	if status := s.end(); status != 0 || !strings.HasPrefix(s.stdout(), "8 calls\n") {
		t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
}

// TestMergeLost: of a machine that is lost all is there that it has told, and the result says what is missing.
func TestMergeLost(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	s := begin(t, "-v", "--merge", "--remote", "direct", "--remote", "direct", "-e",
		`global calls probe process("`+prog+`").function("step") { calls++ }
probe timer.ms(100) { println("so far ", calls) }
probe end { println("in all ", calls) }`)
	s.line("so far 0")
	run := func(n string) {
		if out, err := exec.Command(prog, n).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run("200")
	s.line("so far 420")
	if err := exec.Command("kill", "-9", children(t, s.cmd.Process.Pid)[0]).Run(); err != nil {
		t.Fatal(err)
	}
	s.said("lost")
	run("20")
	s.line("so far 441")
	s.signal(syscall.SIGINT)
	status := s.end()
	if !strings.Contains(s.stdout(), "in all 441\n") || status != 1 || !regexp.MustCompile(`direct(#2)?: error: the `+
		`connection was lost; the session there ends by itself, and what it counted after \d\d:\d\d:\d\d\.\d{3} `+
		`is missing`).MatchString(s.stderr()) {
		t.Errorf("status %d\n%s%s", status, s.stdout(), s.stderr())
	}
}
