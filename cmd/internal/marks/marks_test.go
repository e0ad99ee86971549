package marks

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// program is tests/fixtures/marks, built by gcc with flags.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	bin := filepath.Join(t.TempDir(), "marks")
	args := append(flags, "-o", bin, "../../../tests/fixtures/marks/marks.c")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func listed(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = Tplist(args, &o, &e)
	return o.String(), e.String(), status
}

// TestArguments: what the operands of a note mean.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"8@%rbx", "8 unsigned bytes @ register %rbx"},
		{"-8@%rax", "8   signed bytes @ register %rax"},
		{"8@-1400(%rbp)", "8 unsigned bytes @ -1400(%rbp)"},
		{"-4@$-5", "4   signed bytes @ constant -5"},
		{"-4@errors(%rip)", "4   signed bytes @ errors(%rip)"},
		{"8f@%xmm0", "8 bytes, a floating point number, @ %xmm0"},
		{"%rax", "%rax (its size is not told)"},
		{"x@%rax", "x@%rax"},
	} {
		if got := argument(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestList: names once, all locations with -v, filters, and a process.
func TestList(t *testing.T) {
	bin := program(t, "-g", "-O2")
	out, errs, _ := listed(t, "-l", bin)
	want := ""
	for _, n := range []string{"app:bytes", "app:done", "app:memory", "app:query__start", "app:slow", "other:bye"} {
		want += bin + " " + n + "\n"
	}
	if out != want {
		t.Errorf("%s\n%s\nwant\n%s", errs, out, want)
	}
	out, errs, _ = listed(t, "-vl", bin, "app:*o*")
	sane := regexp.MustCompile(`0x[0-9a-f]+`).ReplaceAllString(strings.ReplaceAll(out, bin, "marks"), "0x*")
	if !strings.Contains(sane, "marks app:done [sema 0x*]\n  location 0x* raw args: -8@%") ||
		strings.Count(sane, "location") != 4 || !strings.Contains(sane, "    4   signed bytes @ constant 5\n") {
		t.Errorf("%s\n%s", errs, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-l", bin, "query__strat"}, "no mark that fits query__strat\n  hint: did you mean query__start?"},
		{[]string{"-l", "/bin/true"}, "/bin/true has no static marks"},
		{[]string{"-l", "/etc/passwd"}, "not an ELF executable"},
		{[]string{"-p", "99999999"}, "there is no process 99999999"},
		{[]string{"-l", bin, "-p", "1"}, "two places to look in"},
		{[]string{"a", "b"}, `"b" is not an option`},
		{[]string{"-l", bin, "x["}, "x[ is no pattern"},
	} {
		if out, errs, status := listed(t, c.args...); status != 1 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d\n%s%s", c.args, status, out, errs)
		}
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	_, errs, status := listed(t, "-p", strconv.Itoa(cmd.Process.Pid), "app:*")
	if status != 1 || !strings.Contains(errs, "have no static mark that fits app:*") {
		t.Error(status, errs)
	}
}

// TestGDB: the table is GDB's own, in programs with fixed and other addresses, with and without semaphores.
func TestGDB(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip(err)
	}
	files := []string{program(t, "-O2"), program(t, "-O0", "-no-pie"), program(t, "-O1", "-static"), "/bin/true"}
	for _, name := range []string{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/bin/python3.11"} {
		if _, err := os.Stat(name); err == nil {
			files = append(files, name)
		}
	}
	for _, f := range files {
		want, err := exec.Command("gdb", "-nx", "-batch", "-ex", "info probes", f).Output()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if status := Info([]string{"probes", f}, &out, &errs); status != 0 || out.String() != string(want) {
			t.Errorf("%s: %d %s\n%s\ngdb:\n%s", f, status, &errs, &out, want)
		}
		t.Logf("%s: %d lines", f, bytes.Count(want, []byte("\n")))
	}
}

// TestTracepoints: those of the kernel, with their fields.
func TestTracepoints(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	out, errs, status := listed(t, "-v", "sched:sched_switch")
	if status != 0 || !strings.HasPrefix(out, "sched:sched_switch\n    char prev_comm[16];\n    pid_t prev_pid;\n") {
		t.Error(status, errs, out)
	}
	if _, errs, _ := listed(t, "sched_swich"); !strings.Contains(errs, "did you mean sched_switch?") {
		t.Error(errs)
	}
	if fmt.Sprint(fits("*:sched_*", "sched", "sched_switch"), fits("switch", "a", "sched_switch")) != "true false" {
		t.Error("filters")
	}
}
