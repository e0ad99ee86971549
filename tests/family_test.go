package tests

import (
	"bufio"
	"os/exec"
	"sort"
	"strings"
	"testing"
)

// inOrder gives lines in order: those of several processes come in any.
func inOrder(text string) string {
	lines := strings.Fields(text)
	sort.Strings(lines)
	return strings.Join(lines, " ")
}

// TestFamily: a bare process is the target and what it has forked, whether -c names the program itself or a shell that
// runs it; another process of the same program, which runs all the while, is not.
func TestFamily(t *testing.T) {
	needRoot(t)
	path := bin(t, "forks")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				exec.Command(path).Run()
			}
		}
	}()
	defer func() { close(stop); <-done }()
	for _, c := range []struct{ name, script, run, want string }{
		{"function", `probe process.function("work") { println($n) }`, path, "0 1 2 3"},
		{"return", `probe process.function("work").return { println($return) }`, path, "1 2 3 4"},
		{"shell", `probe process.function("work") { println($n) }`, path + " >/dev/null; " + path, "0 0 1 1 2 2 3 3"},
		{"end", `probe process.end { println(execname(), pid() == target()) }`, path, "forks0 forks0 forks0 forks1"},
		{"begin", `probe process.begin { println(execname()) }`, "sh -c '" + path + "; true'",
			"forks forks forks forks sh sh"},
		{"threads", `global n probe process.thread.begin { n["born"] += tid() != pid() } probe process.thread.end { n["gone"] += tid() != pid() }
			probe process.begin { n["begun"] += tid() == pid() } probe process.end { n["ended"]++ } probe end { foreach (k+ in n) println(k, n[k]) }`, bin(t, "ends") + " 50 >/dev/null", "begun51 born150 ended51 gone150"},
		{"syscall", `probe process.syscall { if ($syscall == 231) println(execname()) }`, path,
			"forks forks forks forks"},
		{"armed", `global n probe process.function("work") if (n < 2) { n++ println("one") }`, path, "one one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, "-w", "--no-global-var-display", "-e", c.script, "-c", c.run)
			if status := s.end(); status != 0 || inOrder(s.stdout()) != c.want {
				t.Errorf("status %d, got %s, want %s\n%s", status, inOrder(s.stdout()), c.want, s.stderr())
			}
		})
	}
	t.Run("-x", func(t *testing.T) {
		for _, one := range []bool{false, true} {
			cmd := exec.Command(path, "wait")
			in, out := piped(t, cmd)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { cmd.Process.Kill(); cmd.Wait() }()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			v := victim{cmd, path}
			point, want := "process", "0 1 2 3"
			if one {
				point, want = "process("+v.pid()+")", "0"
			}
			s := begin(t, "-v", "-e", "probe "+point+`.function("work") { println($n) }`, "-x", v.pid())
			attached(t, s)
			if _, err := in.Write([]byte("1234")); err != nil {
				t.Fatal(err)
			}
			if status := s.end(); status != 0 || inOrder(s.stdout()) != want {
				t.Errorf("%s: status %d, got %s, want %s\n%s", point, status, inOrder(s.stdout()), want, s.stderr())
			}
		}
	})
}
