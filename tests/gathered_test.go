package tests

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/tests/jsonschema"
)

// gathering is a script whose parts say all that machines can say: sums of all, a number of each, prints of both, a
// warning, what is never read.
func gathering(prog string) string {
	return `global calls metric "calls_total", by metric "by_total" labels "name", last metric "last_n"
global size, unread, mine
probe process("` + prog + `").function("step") {
	calls++ by[execname()]++ size <<< $n unread[execname()] <<< $n last = $n
	if (mine++ < 2) printf("%s steps %d\n", execname(), $n)
	if ($n == 1999) warn("1999 is much")
}
probe timer.ms(200) { printf("so far %d\n", calls) }
probe end, error { printf("%d calls\n", calls) print(@hist_log(size)) }`
}

// step runs the program, which steps n + n/20 times.
func step(t *testing.T, prog, n string) {
	t.Helper()
	if out, err := exec.Command(prog, n).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// checked reads lines by the schema.
func checked(t *testing.T, text string) (lines []map[string]any) {
	t.Helper()
	schema, err := jsonschema.Read(jsonlines.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		v, err := schema.Check([]byte(line))
		if err != nil {
			t.Fatalf("%s%v", line, err)
		}
		lines = append(lines, v.(map[string]any))
	}
	if n := len(lines); n < 2 || lines[0]["type"] != "begin" || lines[n-1]["type"] != "end" {
		t.Fatalf("no begin or no end: %s", text)
	}
	return lines
}

// saidBy gives the lines of a type and a machine, "" for those of none, that have a name.
func saidBy(lines []map[string]any, kind, machine, name string) (out []map[string]any) {
	for _, l := range lines {
		from, _ := l["machine"].(string)
		if l["type"] == kind && from == machine && (name == "" || l["name"] == name) {
			out = append(out, l)
		}
	}
	return out
}

// value is a member of the last of some lines, as text.
func value(lines []map[string]any, members ...string) string {
	if len(lines) == 0 {
		return "none"
	}
	var v any = lines[len(lines)-1]
	for _, m := range members {
		v, _ = v.(map[string]any)[m]
	}
	return fmt.Sprint(v)
}

// TestMergeFormat: records of a session over two machines, which both see all that the program does: what is of all has
// twice the program's own counts and no machine, and comes once; what is of each comes from each, with its machine, and
// says what one that runs alone says.
func TestMergeFormat(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	run := func(hosts ...string) []map[string]any {
		args := []string{"-w", "--format=json", "--every", "0.1"}
		s := begin(t, append(append(args, hosts...), "-e", gathering(prog))...)
		s.line(`"text":"so far 0`)
		step(t, prog, "2000")
		step(t, prog, "40")
		s.signal(syscall.SIGINT)
		s.end()
		return checked(t, s.stdout())
	}
	const machines = 2
	merged := run("--merge", "--remote", "direct", "--remote", "direct")
	alone := run()
	counted := 2000 + 100 + 40 + 2
	sum := 2000*1999/2 + 100*99/2 + 40*39/2 + 1
	for _, c := range []struct {
		lines []map[string]any
		n     int
	}{{alone, 1}, {merged, machines}} {
		metric := saidBy(c.lines, "metric", "", "calls_total")
		for what, got := range map[string][2]string{
			"calls":     {value(metric, "value"), fmt.Sprint(c.n * counted)},
			"by":        {value(saidBy(c.lines, "metric", "", "by_total"), "value"), fmt.Sprint(c.n * counted)},
			"labels":    {value(saidBy(c.lines, "metric", "", "by_total"), "labels", "name"), "busyc"},
			"text":      {value(saidBy(c.lines, "print", "", ""), "text"), fmt.Sprintf("%d calls\n", c.n*counted)},
			"histogram": {value(saidBy(c.lines, "histogram", "", "size"), "stats", "sum"), fmt.Sprint(c.n * sum)},
			"unread":    {value(saidBy(c.lines, "global", "", "unread"), "stats", "sum"), fmt.Sprint(c.n * sum)},
			"keys":      {value(saidBy(c.lines, "global", "", "unread"), "keys"), "[busyc]"},
			"unreads":   {fmt.Sprint(len(saidBy(c.lines, "global", "", "unread"))), "1"},
		} {
			if got[0] != got[1] {
				t.Errorf("%d machines, %s: %s, not %s", c.n, what, got[0], got[1])
			}
		}
		if len(metric) < 3 { // it grows meanwhile
			t.Errorf("%d machines: %d moments", c.n, len(metric))
		}
	}
	if n := len(saidBy(merged, "metric", "", "last_n")); n != 0 {
		t.Errorf("%d of no machine", n)
	}
	texts := func(lines []map[string]any, machine string) (out []string) {
		for _, l := range saidBy(lines, "print", machine, "") {
			if text := l["text"].(string); strings.Contains(text, "steps") {
				out = append(out, text)
			}
		}
		return out
	}
	for _, m := range []string{"direct", "direct#2"} {
		if got, want := texts(merged, m), texts(alone, ""); !slices.Equal(got, want) || len(want) != 2 {
			t.Errorf("%s: %q, not %q", m, got, want)
		}
		want := value(saidBy(alone, "metric", "", "last_n"), "value")
		if got := value(saidBy(merged, "metric", m, "last_n"), "value"); got != want || want == "none" {
			t.Errorf("%s: the last is %s, not %s", m, got, want)
		}
		if n := len(saidBy(merged, "metric", m, "calls_total")) + len(saidBy(merged, "global", m, "unread")); n != 0 {
			t.Errorf("%s: %d lines of what is of all", m, n)
		}
		if len(saidBy(merged, "machine-begin", m, "")) != 1 || len(saidBy(merged, "machine-end", m, "")) != 1 ||
			value(saidBy(merged, "warning", m, ""), "message") != "1999 is much" {
			t.Errorf("%s: no begin, no end or no warning", m)
		}
	}
}

// TestRemoteFormat: each line of several hosts has its host. One that is lost has an end that says so; the stream of
// the other goes on, and the status is that of the command.
func TestRemoteFormat(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	s := begin(t, "-w", "--format=json", "--remote", "direct", "--remote", "direct", "-e",
		`global n probe process("`+prog+`").function("step") { n++ }
probe timer.ms(100) { println("so far ", n) } probe end { println("in all ", n) }`)
	for _, m := range []string{"direct", "direct#2"} {
		s.line(`"print","machine":"` + m + `"`)
	}
	if err := exec.Command("kill", "-9", children(t, s.cmd.Process.Pid)[0]).Run(); err != nil {
		t.Fatal(err)
	}
	s.line(`"machine-end"`)
	step(t, prog, "200")
	s.line(`so far 210`)
	s.signal(syscall.SIGINT)
	status := s.end()
	lines := checked(t, s.stdout())
	lost, other := "direct", "direct#2"
	if value(saidBy(lines, "machine-end", lost, ""), "status") == "0" {
		lost, other = other, lost
	}
	got := value(saidBy(lines, "machine-end", lost, ""), "error")
	if !strings.HasPrefix(got, "the connection was lost; ") || !strings.Contains(s.stderr(), lost+": error: "+got) {
		t.Errorf("%s: %s\n%s", lost, got, s.stderr())
	}
	if got := value(saidBy(lines, "print", other, ""), "text"); got != "in all 210\n" || status != 1 ||
		value(saidBy(lines, "end", "", ""), "status") != "1" {
		t.Errorf("status %d, %q\n%s", status, got, s.stdout())
	}
}

// TestRemoteTable: rows of several hosts have their host and the same columns.
func TestRemoteTable(t *testing.T) {
	needRoot(t)
	prog := bin(t, "busyc")
	for _, c := range []struct {
		merge []string
		text  string // of the end
		ends  int
	}{
		{nil, "42", 2},
		{[]string{"--merge"}, "84", 1},
	} {
		s := begin(t, append(c.merge, "-w", "--format=csv", "--remote", "direct", "--remote", "direct", "-e",
			`global calls probe process("`+prog+`").function("step") {
	calls++ if ($n == 25) printf("%s,\n\"%d\"", execname(), $n) }
probe timer.ms(100) { println("so far") } probe end { println(calls) }`)...)
		s.line("so far")
		if c.merge == nil {
			time.Sleep(time.Second) // the other's too
		}
		step(t, prog, "40")
		s.signal(syscall.SIGINT)
		status := s.end()
		rows, err := csv.NewReader(strings.NewReader(s.stdout())).ReadAll()
		if err != nil || status != 0 || strings.Join(rows[0], " ") != "machine time pid tid cpu probe text" {
			t.Fatalf("%v, status %d: %s%s", err, status, s.stdout(), s.stderr())
		}
		hits, ends := map[string]int{}, 0
		for _, r := range rows[1:] {
			switch text := r[6]; {
			case text == "busyc,\n\"25\"":
				hits[r[0]]++
			case text == c.text && r[5] == "end" && (r[0] == "") == (c.merge != nil):
				ends++
			case text != "so far":
				t.Errorf("%q", r)
			}
		}
		if hits["direct"] != 1 || hits["direct#2"] != 1 || len(hits) != 2 || ends != c.ends {
			t.Errorf("%v, %d ends:\n%s%s", hits, ends, s.stdout(), s.stderr())
		}
	}
}
