package sema

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
)

var update = flag.Bool("update", false, "rewrite golden files")

// chunk is one script of a file, which are parted by lines of "---".
type chunk struct {
	name string // file:line of its first line
	text string
	opts Options
}

// chunks reads the scripts of a folder. A first line of "# guru" or "# skip-badvars"
// sets the option.
func chunks(t testing.TB, dir string) []chunk {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.stp"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts in ", dir, err)
	}
	var out []chunk
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for _, s := range strings.Split(string(text), "\n---\n") {
			c := chunk{name: fmt.Sprintf("%s:%d", filepath.Base(f), line), text: s}
			switch first, _, _ := strings.Cut(s, "\n"); first {
			case "# guru":
				c.opts.Guru = true
			case "# skip-badvars":
				c.opts.SkipBadVars = true
			}
			out = append(out, c)
			line += strings.Count(s, "\n") + 2
		}
	}
	return out
}

var expectation = regexp.MustCompile(`### *([a-z-]+): *([^#\n]*)`)

// compare holds the messages of a chunk against the "### code: regexp" marks at the
// ends of its lines; each message must match one mark of its line and the other way round.
func compare(t *testing.T, c chunk, a *analyzed, sev func(*diag.Diagnostic) bool) {
	t.Helper()
	type mark struct {
		code, text string
		met        bool
	}
	marks := map[int][]*mark{}
	for i, l := range strings.Split(c.text, "\n") {
		for _, m := range expectation.FindAllStringSubmatch(l, -1) {
			marks[i+1] = append(marks[i+1], &mark{code: m[1], text: strings.TrimSpace(m[2])})
		}
	}
	for _, d := range a.diags {
		if !sev(d) {
			continue
		}
		line := a.files.Position(d.Span.From).Line
		ok := false
		for _, m := range marks[line] {
			if !m.met && m.code == string(d.Code) && regexp.MustCompile(m.text).MatchString(d.Message) {
				m.met, ok = true, true
				break
			}
		}
		if !ok {
			t.Errorf("%s: unexpected at its line %d: %s: %s", c.name, line, d.Code, d.Message)
		}
	}
	var lines []int
	for l := range marks {
		lines = append(lines, l)
	}
	sort.Ints(lines)
	for _, l := range lines {
		for _, m := range marks[l] {
			if !m.met {
				t.Errorf("%s: missing at its line %d: %s: %s", c.name, l, m.code, m.text)
			}
		}
	}
}

// TestKo: each script is refused, with the errors that its lines name and no others.
func TestKo(t *testing.T) {
	for _, c := range chunks(t, "ko") {
		a := analyze(t, "x.stp", c.text, c.opts)
		if !a.diags.HasErrors() {
			t.Errorf("%s: no error\n%s", c.name, c.text)
		}
		compare(t, c, a, func(d *diag.Diagnostic) bool { return d.Severity == diag.Error })
	}
}

// TestWarn: each script is right, with the warnings that its lines name and no others.
func TestWarn(t *testing.T) {
	for _, c := range chunks(t, "warn") {
		a := analyze(t, "x.stp", c.text, c.opts)
		compare(t, c, a, func(d *diag.Diagnostic) bool { return true })
	}
}

// TestOk: each script is right and gives no warning. What became of it is compared
// with a golden file.
func TestOk(t *testing.T) {
	var b strings.Builder
	for _, c := range chunks(t, "ok") {
		a := analyze(t, "x.stp", c.text, c.opts)
		if len(a.diags) > 0 {
			t.Errorf("%s: %s", c.name, a.text())
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s", c.name, dump(a.prog))
	}
	golden(t, "testdata/types.golden", b.String())
}

// TestMessages shows the whole text of the messages of all scripts that are refused or
// warned about, so that their words can be read in one place.
func TestMessages(t *testing.T) {
	var b strings.Builder
	for _, dir := range []string{"ko", "warn"} {
		for _, c := range chunks(t, dir) {
			a := analyze(t, "x.stp", expectation.ReplaceAllString(c.text, ""), c.opts)
			fmt.Fprintf(&b, "== %s/%s\n%s", dir, c.name, a.text())
		}
	}
	golden(t, "testdata/messages.golden", strings.ReplaceAll(b.String(), "  \n", "\n"))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			other := "the end"
			if i < len(w) {
				other = w[i]
			}
			t.Errorf("%s:%d: got %s\nwant %s\n(go test -update rewrites it)", file, i+1, g[i], other)
			return
		}
	}
	t.Errorf("%s is longer than what came", file)
}
