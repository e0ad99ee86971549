package traces

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gostap/gostap/cmd/internal/asked"
)

const head = "apiVersion: gostap.dev/v1alpha1\nkind: Trace\n"

// TestParse: what a file says, in each of its forms.
func TestParse(t *testing.T) {
	full := head + `metadata: {name: x, labels: {a: b}}
spec:
  tool: syscount
  options: {top: "3", errors: ""}
  args: [one, "2"]
  limits: {seconds: 86400, hitsPerSecond: 7, bytes: 9}
  begin: 2026-12-01T02:00:00+01:00
  export: [a, b]
  folded: true
  guru: true
`
	full = strings.Replace(full, `, errors: ""`, "", 1)
	x, err := Parse("x.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if x.Tool != "syscount" || x.Options["top"] != "3" || strings.Join(x.Args, " ") != "one 2" || x.Seconds != 86400 ||
		x.HitsPerSecond != 7 || x.Bytes != 9 || x.Begin.UTC().Format("15:04") != "01:00" || len(x.Export) != 2 ||
		!x.Folded || !x.Guru {
		t.Errorf("%+v", x)
	}
	for file, text := range map[string]string{
		"x.yml": head + "spec:\n  script: |\n    probe end {\n    }\n",
		"x.json": `{"apiVersion":"gostap.dev/v1alpha1", "kind":"Trace", "metadata":null,
			"spec":{"script":"probe end {\n}\n"}}`,
		"x.stp": "probe end {\n}\n",
	} {
		x, err := Parse(file, []byte(text))
		if err != nil || x.Script != "probe end {\n}\n" || x.Seconds != 60 || x.Bytes != 1<<20 || x.Guru {
			t.Errorf("%s: %v %+v", file, err, x)
		}
	}
}

// TestParseRefuses: what is wrong is told with its place and what helps.
func TestParseRefuses(t *testing.T) {
	in := func(spec string) string { return head + "spec:\n" + spec }
	for _, c := range []struct{ file, text, want string }{
		{"x.yaml", "", "x.yaml: error: it is empty"},
		{"x.yaml", "a: [", "x.yaml: error: it is no YAML: line 1"},
		{"x.yaml", "\xff\xfe", "x.yaml: error: it is no text of UTF-8"},
		{"x.yaml", head + "---\n" + head, "more than one document"},
		{"x.yaml", "- a", "x.yaml:1:1: error: a Trace is an object, and not a list"},
		{"x.yaml", "kind: Trace\nspec: {tool: syscount}",
			"there is no apiVersion\n  hint: apiVersion: gostap.dev/v1alpha1"},
		{"x.yaml", "apiVersion: gostap.dev/v1\n",
			"x.yaml:1:1: error: apiVersion is gostap.dev/v1alpha1, and not gostap.dev/v1"},
		{"x.yaml", head, "there is no spec"},
		{"x.yaml", head + "metadata: {name: y}\nspec: {tool: syscount}",
			"x.yaml:3:12: error: the file says that the Trace " +
				"is x, and metadata.name that it is y\n  hint: take it out, or call the file y.yaml"},
		{"x.yaml", head + "metadata: {namespace: y}\nspec: {tool: syscount}", "metadata.namespace is about a cluster"},
		{"x.yaml", head + "status: {}\nspec: {tool: syscount}", "status is about a cluster"},
		{"x.yaml", in("  tool: syscount\n  limts: {seconds: 3}\n"),
			"x.yaml:5:3: error: there is no field spec.limts\n  hint: " +
				"did you mean limits?"},
		{"x.yaml", in("  tool: syscount\n  limits: {secs: 3}\n"), "there is no field spec.limits.secs"},
		{"x.yaml", in("  tool: syscount\n  tool: syscount\n"), "tool is there twice"},
		{"x.json", `{"kind":"Trace","kind":"Trace"}`, "x.json:1:17: error: kind is there twice"},
		{"x.json", `{"kind":"Trace"`, "x.json:1:16: error: it "},
		{"x.json", `{"kind" "Trace"}`, "it is no JSON: '\"' after object key"},
		{"x.json", `{} {}`, "there is more behind the end"},
		{"x.json", strings.Repeat("[", 1000), "inside each other"},
		{"x.yaml", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "inside each other"},
		{"x.yaml", "a: &x 1\nb: *x\n", "x.yaml:2:4: error: *x refers to another place"},
		{"x.yaml", in("  tool: syscount\n  options: {top: 3}\n"),
			"spec.options.top is a text, and not a whole number\n  hint: " +
				"with quotes it is one: \"3\""},
		{"x.yaml", in("  tool: syscount\n  limits: {seconds: 0}\n"), "from 1 to 86400, and not 0"},
		{"x.yaml", in("  tool: syscount\n  limits: {seconds: 86401}\n"), "from 1 to 86400, and not 86401"},
		{"x.yaml", in("  tool: syscount\n  limits: {seconds: 99999999999999999999}\n"), "and not 99999999999999999999"},
		{"x.yaml", in("  tool: syscount\n  limits: {bytes: 1e3}\n"), "from 1 to 16777216, and not 1e3"},
		{"x.yaml", in("  tool: syscount\n  folded: 'yes'\n"), "spec.folded is true or false, and not yes"},
		{"x.yaml", in("  tool: syscount\n  begin: tonight\n"), "hint: 2026-12-01T02:00:00Z"},
		{"x.yaml", in("  tool: syscount\n  args: x\n"), "spec.args is a list, and not a text"},
		{"x.yaml", in("  tool: syscount\n  script: probe end {}\n"), "either a tool or a script"},
		{"x.yaml", in("  tool: sycount\n"),
			"x.yaml:3:1: error: there is no tool \"sycount\"\n  hint: did you mean syscount?"},
		{"x.yaml", in("  tool: syscount\n  program: shop\n"),
			"spec.program is the path of a program of this host, and not shop"},
		{"x.yaml", in("  tool: syscount\n  expireSeconds: 3\n"), "a file stays until it is removed"},
		{"x.yaml", in("  script: " + strings.Repeat("x", 65537) + "\n"), "spec.script has at most 65536 bytes"},
		{"x.stp", strings.Repeat(" ", 70), "there is no script in it"},
		{"x.stp", strings.Repeat("x", 65537), "at most 65536 bytes"},
	} {
		_, err := Parse(c.file, []byte(c.text))
		var r *asked.Refusal
		if !errors.As(err, &r) || !strings.Contains(r.Text, c.want) {
			t.Errorf("%.80q: want %s: %v", c.text, c.want, err)
		}
	}
	for _, field := range []string{"pods", "containers", "nodes", "wait", "separate", "inOrder", "page",
		"requestedBy"} {
		_, err := Parse("x.yaml", []byte(in("  tool: syscount\n  "+field+": {}\n")))
		want := "x.yaml:5:3: error: spec." + field + " is about a cluster, and this is a Trace of a host\n  hint: " +
			"take it out"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestNameOf(t *testing.T) {
	for file, want := range map[string]string{"a.yaml": "a", "10-a_b.c.stp": "10-a_b.c", "A.json": "A", "a.yml": "a",
		"a": "", "a.txt": "", ".a.stp": "", "a b.stp": "", "-a.stp": "", strings.Repeat("a", 64) + ".stp": "",
		"a.stp.rpmsave": "", "..stp": "", "a/b.stp": "", "a\n.stp": ""} {
		if got := nameOf(file); got != want {
			t.Errorf("%q: %q", file, got)
		}
	}
}

// FuzzParse: any file is a Trace that gostap can be asked for, or is refused by a text.
func FuzzParse(f *testing.F) {
	f.Add("x.yaml", []byte(head+"spec: {tool: syscount, options: {top: \"3\"}, limits: {seconds: 3}}"))
	f.Add("x.json", []byte(`{"apiVersion":"gostap.dev/v1alpha1","kind":"Trace","spec":{"script":"probe end {}"}}`))
	f.Add("x.stp", []byte("probe end {}"))
	f.Add("x.yaml", []byte("a: &a [*a]\n<<: {b: !!binary x}\n? [x]\n: y"))
	f.Add("x.yaml", []byte("%YAML 1.1\n---\n- !<x> 'y\n\n'\n...\n"))
	f.Fuzz(func(t *testing.T, file string, b []byte) {
		if nameOf(file) == "" {
			file = "x.yaml"
		}
		x, err := Parse(file, b)
		var r *asked.Refusal
		switch {
		case err != nil && (!errors.As(err, &r) || !strings.HasPrefix(r.Text, file+":") || !utf8.ValidString(r.Text)):
			t.Errorf("%v", err)
		case err != nil:
		case (x.Tool == "") == (x.Script == "") || x.Seconds < 1 || x.Seconds > mostSeconds || x.Bytes < 1 ||
			x.Bytes > mostSize || len(x.Script) > mostScript:
			t.Errorf("%+v", x)
		default:
			words, err := x.Words()
			for _, w := range words {
				if strings.ContainsRune(w, 0) {
					t.Errorf("%q", w)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestManyTokens: the place of each part of a file is known without reading what is before it again, which took half a
// minute, in which the agent did nothing else.
func TestManyTokens(t *testing.T) {
	began := time.Now()
	_, err := Parse("x.json", []byte(`{"spec": {"args": [`+strings.Repeat("1,", 120_000)+"\n\"é\",}"))
	if want := "x.json:2:5: error: it is no JSON"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
