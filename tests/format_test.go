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
		if l["type"] == "print" || l["type"] == "text" {
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
