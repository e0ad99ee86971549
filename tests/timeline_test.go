package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// timeline is a script whose output is the same each time, but for times and processes.
const timeline = `
global calls metric "calls_total" labels "parity", sizes metric "sizes", unread
probe begin {
	for (i = 0; i < 40; i++) {
		calls[i % 2]++
		sizes <<< i
		span("step " . sprint(i % 4), 1000 * (1 + i % 3), i, "x")
	}
	a = "q\"\\" . "ü"
	printf("%s|%d|%u\n", a, -5, -1)
	print("no end")
	unread = 7
	log("logged")
}
probe begin(1) { exit() }
`

// TestCTF: babeltrace2 reads a trace without a word, and finds in it what the lines of JSON have: each event with its
// time and values, histograms and metrics.
func TestCTF(t *testing.T) {
	gostap, dir := bin(t, "gostap"), filepath.Join(t.TempDir(), "trace")
	_, lines := linesOf(t, "--runtime=host", "-e", timeline)
	out, err := exec.Command(gostap, "-w", "--runtime=host", "--format=ctf", "-o", dir, "-e", timeline).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("babeltrace2", "--clock-seconds", "--no-delta", dir)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8")
	out, err = cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARN") {
		t.Fatalf("%v: %s", err, out)
	}
	var got, want []string
	event := regexp.MustCompile(`^\[(\d+)\.(\d{9})\] (\S+ )?(\w+): \{ pid = (\d+), .*? \}, \{ (.*) \}$`)
	begin := regexp.MustCompile(`begin = (\d+), took_ns = (\d+)`)
	for line := range strings.Lines(string(out)) {
		m := event.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("no event: %s", line)
		}
		fields := m[6]
		if b := begin.FindStringSubmatch(fields); b != nil {
			from, _ := strconv.ParseInt(b[1], 10, 64)
			took, _ := strconv.ParseInt(b[2], 10, 64)
			if at, _ := strconv.ParseInt(m[1]+m[2], 10, 64); at-from != took {
				t.Errorf("a span from %d for %d ns ends at %d", from, took, at)
			}
			fields = begin.ReplaceAllString(fields, "took_ns = $2")
		}
		got = append(got, m[4]+" "+fields)
	}
	for _, l := range lines {
		quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
		text := quote(strings.TrimSuffix(l.Text+l.Message, "\n"))
		switch l.Type {
		case "span":
			want = append(want, fmt.Sprintf(`span name = %s, took_ns = %d, i = %v, 4 = "x"`, quote(l.Name),
				l.Time.Sub(l.Begin).Nanoseconds(), l.Fields[0].V))
		case "print":
			var fields string
			for _, f := range l.Fields {
				if s, ok := f.V.(string); ok {
					fields += fmt.Sprintf("%s = %s, ", f.Name, quote(s))
				}
			}
			want = append(want, "print "+fields+"text = "+text)
		case "text", "warning":
			want = append(want, l.Type+" text = "+text)
		case "global":
			if l.Metric != "" {
				break // it is told as that
			}
			want = append(want, l.Name+" value = "+l.Value.String())
		case "metric":
			var fields string
			for _, f := range l.Labels {
				fields += fmt.Sprintf("%s = %v, ", f.Name, f.V)
			}
			if s := l.Stats; s != nil {
				fields += fmt.Sprintf("count = %d, sum = %d, min = %d, max = %d", s.Count, s.Sum, s.Min, s.Max)
			} else {
				fields += "value = " + l.Value.String()
			}
			want = append(want, l.Name+" "+fields)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, args := range [][]string{{"--format=ctf"}, {"--format=ctf", "-o", dir},
		{"--format=ctf", "-S", "1", "-o", dir}} {
		out, err := exec.Command(gostap, append(args, "-e", timeline)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "error: ") {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}

// TestPerfetto: protoc reads a trace by the part of Perfetto's schema that is used, and finds nothing that this has
// not; slices of a track begin and end by turns, in time, and have the names, times and values of the lines of JSON.
func TestPerfetto(t *testing.T) {
	gostap, file := bin(t, "gostap"), filepath.Join(t.TempDir(), "trace")
	_, lines := linesOf(t, "--runtime=host", "-e", timeline)
	cmd := exec.Command(gostap, "-w", "--runtime=host", "--format=perfetto", "-o", file, "-e", timeline)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd = exec.Command("protoc", "--decode=perfetto.protos.Trace", "testdata/perfetto.proto")
	cmd.Stdin = in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if unknown := regexp.MustCompile(`(?m)^ *\d+[:{ ].*`).FindString(string(out)); unknown != "" {
		t.Errorf("a field that is not in the schema: %s", unknown)
	}
	number := func(p, name string) int64 {
		m := regexp.MustCompile(`(?m)^ *` + name + `: (-?\d+)$`).FindStringSubmatch(p)
		if m == nil {
			return -1
		}
		n, _ := strconv.ParseInt(m[1], 10, 64)
		return n
	}
	text := func(p, name string) string {
		if m := regexp.MustCompile(`(?m)^    ` + name + `: (".*")$`).FindStringSubmatch(p); m != nil {
			s, err := strconv.Unquote(m[1])
			if err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			return s
		}
		return ""
	}
	var spans, wantSpans, prints, wantPrints []string
	open, ended, counters := map[int64]string{}, map[int64]int64{}, 0
	for _, p := range strings.Split(string(out), "\npacket {") {
		at, track := number(p, "timestamp"), number(p, "track_uuid")
		switch {
		case strings.Contains(p, "type: TYPE_SLICE_BEGIN"):
			if open[track] != "" || at < ended[track] {
				t.Errorf("track %d: a slice at %d begins in another", track, at)
			}
			open[track] = fmt.Sprintf("%s %d %d", text(p, "name"), number(p, "int_value"), at)
		case strings.Contains(p, "type: TYPE_SLICE_END"):
			var name string
			var i, from int64
			fmt.Sscanf(strings.Replace(open[track], " ", "_", 1), "%s %d %d", &name, &i, &from)
			spans = append(spans, fmt.Sprint(name, " ", i, " ", at-from))
			open[track], ended[track] = "", at
		case strings.Contains(p, "type: TYPE_INSTANT"):
			prints = append(prints, text(p, "categories")+" "+text(p, "name"))
		case strings.Contains(p, "type: TYPE_COUNTER"):
			counters++
		}
	}
	for _, l := range lines {
		switch l.Type {
		case "span":
			wantSpans = append(wantSpans, fmt.Sprint(strings.Replace(l.Name, " ", "_", 1), " ", l.Fields[0].V, " ",
				l.Time.Sub(l.Begin).Nanoseconds()))
		case "print", "text":
			wantPrints = append(wantPrints, l.Type+" "+strings.TrimSuffix(l.Text, "\n"))
		case "global":
			if l.Metric != "" {
				break // it is told as that
			}
			wantPrints = append(wantPrints, "global "+l.Name)
		case "metric":
			counters--
		}
	}
	if !slices.Equal(spans, wantSpans) || len(spans) != 40 {
		t.Errorf("spans\n%q\nwant\n%q", spans, wantSpans)
	}
	if !slices.Equal(prints, wantPrints) || counters != 0 {
		t.Errorf("instants\n%q\nwant\n%q; %d counters too many", prints, wantPrints, counters)
	}
}
