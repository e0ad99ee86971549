package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/runtime/export/jsonlines"
	"github.com/gostap/gostap/tests/jsonschema"
	"github.com/gostap/gostap/tests/patience"
)

// TestFormat runs every script of language/ with --format=json: each line is one that the schema describes, and the
// texts together are what the script prints otherwise. Some run in the kernel too.
func TestFormat(t *testing.T) {
	schema, err := jsonschema.Read(jsonlines.Schema)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("language/*.stp")
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	gostap, traced := bin(t, "gostap"), bin(t, "stap")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, want, _ := strings.Cut(string(data), "### output\n")
		if name := filepath.Base(file); slices.Contains([]string{"prints.stp", "hist.stp", "speculate.stp"}, name) &&
			os.Geteuid() == 0 {
			s := strings.Replace(script, "probe test {", `probe process.function("main.traceme") {`, 1)
			lines := formatted(t, schema, gostap, "--no-global-var-display", "--runtime=bpf", "-e", s, "-c", traced)
			if got := texts(lines); got != want {
				t.Errorf("%s in the kernel: got\n%swant\n%s", file, got, want)
			}
		}
		s := strings.Replace(script, "probe test {", "probe begin {", 1) + "\nprobe begin(9999) { exit() }\n"
		lines := formatted(t, schema, gostap, "--no-global-var-display", "--runtime=host", "-e", s)
		if got := texts(lines); got != want {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

// formatted runs gostap with --format=json and gives its lines.
func formatted(t *testing.T, schema *jsonschema.Schema, gostap string, args ...string) (lines []map[string]any) {
	t.Helper()
	cmd := exec.Command(gostap, append([]string{"-w", "--format=json"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stop := patience.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stop()
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %s%s", err, stdout.String(), stderr.String())
		return nil
	}
	for line := range bytes.Lines(stdout.Bytes()) {
		v, err := schema.Check(line)
		if err != nil {
			t.Errorf("%s%v", line, err)
			continue
		}
		lines = append(lines, v.(map[string]any))
	}
	if n := len(lines); n < 2 || lines[0]["type"] != "begin" || lines[n-1]["type"] != "end" {
		t.Errorf("no begin or no end: %s", stdout.String())
	}
	return lines
}

// texts puts together what was printed.
func texts(lines []map[string]any) string {
	var b strings.Builder
	for _, l := range lines {
		if l["type"] == "print" || l["type"] == "text" || l["type"] == "histogram" {
			b.WriteString(l["text"].(string))
		}
	}
	return b.String()
}

// TestFormatFields: a print's values have the names that the script has for them, also when it was translated
// beforehand; what the process says of itself is what the record says.
func TestFormatFields(t *testing.T) {
	needRoot(t)
	schema, err := jsonschema.Read(jsonlines.Schema)
	if err != nil {
		t.Fatal(err)
	}
	gostap := bin(t, "gostap")
	script := `global n, calls
		probe process("/bin/sh").begin {
			if (pid() != target()) next
			n = 9007199254740993 calls["k"] = 7
			printf("%s %d %*d %x|%s\n", execname(), pid(), 5, n, n - n - 1, sprintf("%d", tid()))
			println("calls: ", calls["k"], " ", n, pid())
		}`
	check := func(args ...string) {
		t.Helper()
		var prints []map[string]any
		for _, l := range formatted(t, schema, gostap, args...) {
			if l["type"] == "print" {
				prints = append(prints, l)
			}
		}
		if len(prints) != 2 {
			t.Fatalf("%d prints: %v", len(prints), prints)
		}
		pid := prints[0]["pid"].(json.Number)
		for i, want := range []map[string]any{
			{"execname": "sh", "pid": pid, "n": json.Number("9007199254740993"),
				"4": json.Number("18446744073709551615"), "sprintf": prints[0]["tid"].(json.Number).String()},
			{"calls": json.Number("7"), "n": json.Number("9007199254740993"), "pid": pid}} {
			got := prints[i]["fields"].(map[string]any)
			for name, v := range want {
				if got[name] != v {
					t.Errorf("%v: %s is %v and not %v", args, name, got[name], v)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%v: fields %v", args, got)
			}
			if !strings.Contains(prints[i]["probe"].(string), "begin") || prints[i]["time"] == nil {
				t.Errorf("%v: %v", args, prints[i])
			}
		}
	}
	dir := t.TempDir()
	check("-e", script, "-c", "sh -c :")
	for _, format := range []string{"json", "text"} {
		plan := filepath.Join(dir, format+".plan")
		cmd := exec.Command(gostap, "-w", "--format="+format, "-p4", "-o", plan, "-e", script)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	check("run", filepath.Join(dir, "json.plan"), "-c", "sh -c :")
	run := func(args ...string) (string, error) {
		out, err := exec.Command(gostap, args...).CombinedOutput()
		return string(out), err
	}
	out, err := run("--format=json", "run", filepath.Join(dir, "text.plan"), "-c", "true")
	if err == nil || !strings.Contains(out, "was made for text") {
		t.Errorf("a plan for text: %v %s", err, out)
	}
	out, err = run("run", filepath.Join(dir, "json.plan"), "-c", "sh -c :")
	if err != nil || !strings.HasPrefix(out, "sh ") || !strings.Contains(out, "calls: 7 9007199254740993") {
		t.Errorf("the plan as text: %v %s", err, out)
	}
}

// TestFormatGlobals: globals that nobody reads and histograms that are printed are data, the same as the text has, from
// handlers on the host and in the kernel, and of plans.
func TestFormatGlobals(t *testing.T) {
	schema, err := jsonschema.Read(jsonlines.Schema)
	if err != nil {
		t.Fatal(err)
	}
	gostap := bin(t, "gostap")
	const script = `global plain, name, seen, stat, lat, kept
		probe WHERE {
			plain = 7 name = "x" kept = 1
			seen["a", 1] = 5 seen["b", 2] = -6
			stat <<< 3 stat <<< 8
			lat["k"] <<< 1 lat["k"] <<< 5 lat["k"] <<< 1000
			print(@hist_log(lat["k"]))
			if (kept) println("kept")
		}`
	want := []string{
		`{"type":"histogram","name":"lat","keys":["k"],"stats":{"count":3,"sum":1006,"min":1,"max":1000,"avg":335},` +
			`"histograms":[{"kind":"log","buckets":[{"from":1,"to":1,"count":1},{"from":4,"to":7,"count":1},` +
			`{"from":512,"to":1023,"count":1}]}],"text":"value |`,
		`"text":"kept\n"}`,
		`{"type":"global","name":"plain","value":7}`,
		`{"type":"global","name":"name","value":"x"}`,
		`{"type":"global","name":"seen","keys":["a",1],"value":5}`,
		`{"type":"global","name":"seen","keys":["b",2],"value":-6}`,
		`{"type":"global","name":"stat","stats":{"count":2,"sum":11,"min":3,"max":8,"avg":5}}`,
		`{"type":"end"`,
	}
	check := func(args ...string) {
		t.Helper()
		cmd := exec.Command(gostap, append([]string{"--format=json"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		for i, line := range lines {
			if _, err := schema.Check([]byte(line)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if i > 0 && (i > len(want) || !strings.Contains(line, want[i-1])) {
				t.Errorf("%v: line %d is %s", args, i, line)
			}
		}
		if len(lines) != len(want)+1 {
			t.Errorf("%v: %s", args, out)
		}
	}
	at := func(where string) string { return strings.Replace(script, "WHERE", where, 1) }
	check("--runtime=host", "-e", at("begin")+" probe begin(1) { exit() }")
	if os.Geteuid() != 0 {
		return
	}
	inKernel := at(`process("` + bin(t, "stap") + `").function("main.traceme")`)
	check("--runtime=bpf", "-e", inKernel, "-c", bin(t, "stap"))
	plan := filepath.Join(t.TempDir(), "p.plan")
	cmd := exec.Command(gostap, "--format=json", "-p4", "-o", plan, "-e", inKernel)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check("run", plan, "-c", bin(t, "stap"))
	out, err := exec.Command(gostap, "run", plan, "-c", bin(t, "stap")+" >/dev/null").Output()
	if err != nil || !strings.Contains(string(out), "kept\nplain=7\nname=\"x\"\n") {
		t.Errorf("the plan as text: %v %s", err, out)
	}
}

// TestFormatTable: prints are rows, with columns for their fields if these are the same in all.
func TestFormatTable(t *testing.T) {
	gostap := bin(t, "gostap")
	for _, c := range []struct{ script, head, row, messages string }{
		{`printf("%d, %s\n", n, @1) println(n, " ", @1) warn("careful")`, "n", `"7, x",7`, "WARNING: careful\n"},
		{`printf("%d\n", n) println(pid())`, "", "7", ""},
	} {
		cmd := exec.Command(gostap, "--format=csv", "-e", "probe begin { n = 7 "+c.script+" exit() }", "x")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		lines := strings.Split(stdout.String(), "\n")
		head := strings.TrimSuffix("time,pid,tid,cpu,probe,text,"+c.head, ",")
		if err != nil || len(lines) != 4 || lines[0] != head || !strings.HasSuffix(lines[1], ",,begin,"+c.row) ||
			!strings.Contains(stderr.String(), c.messages) {
			t.Errorf("%s: %v\n%s%s", c.script, err, stdout.String(), stderr.String())
		}
	}
}
