package grammar

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
)

// TestCodes runs the example of every code.
func TestCodes(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, c := range Codes() {
		if seen[c.Code] {
			t.Errorf("%s is listed twice", c.Code)
		}
		seen[c.Code] = true
		if c.Code == code.MacroFile {
			continue // see TestParseMacros
		}
		fs := new(source.FileSet)
		_, l := Parse(fs.Add("x.stp", []byte(c.Example)), testOptions(t, fs))
		i := slices.IndexFunc(l, func(d *diag.Diagnostic) bool { return d.Code == c.Code })
		if i < 0 {
			t.Errorf("%s: %.200q gives\n%s", c.Code, c.Example, report(fs, l))
		} else if l[i].Severity == diag.Warning != c.Warning {
			t.Errorf("%s is a %s", c.Code, l[i].Severity)
		}
	}
	text, err := os.ReadFile("internal/code/code.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "diag.Code ="); n != len(seen) {
		t.Errorf("%d codes are defined and %d listed", n, len(seen))
	}
}

func TestUsedArguments(t *testing.T) {
	fs := new(source.FileSet)
	o := testOptions(t, fs)
	o.Args = []string{"a", "b", "c", "d", "e"}
	o.Used = make([]bool, 5)
	_, l := Parse(fs.Add("x.stp", []byte(`@define m(x) %( $3 + @x %) probe a { $1 %( 1 == 2 %? @2 %) f(@m(@4)) }`)), o)
	if l.HasErrors() {
		t.Fatal(report(fs, l))
	}
	if want := []bool{true, true, true, true, false}; !slices.Equal(o.Used, want) {
		t.Errorf("used %v, want %v", o.Used, want)
	}
}

func TestParsePoints(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`process("x").function("*")`, `process("x").function("*")`},
		{` a.b*.return, timer.s(1) ?`, `a.b*.return|timer.s(1) ?`},
		{`kernel.{function("a"),statement("b")}`, `kernel.{function("a"), statement("b")}`},
		{``, "x:1:1: error: expected a probe point before the end of the script\n  \n  ^\n"},
		{`a b`, "x:1:3: error: expected ., a comma or { after name a, found name b\n  a b\n    ^\n  hint: the parts " +
			"of a name must touch; names are joined with . and points with a comma\n|a"},
		{`a { }`, "x:1:3: error: expected . or a comma after a probe point, found '{'\n  a { }\n    ^\n"},
		{`a(`, "x:1:3: error: expected ) before the end of the script\n  a(\n    ^\nx:1:2: note: this ( is not " +
			"closed\n  a(\n   ^\n"},
	} {
		fs := new(source.FileSet)
		ps, l := ParsePoints(fs.Add("x", []byte(c.text)), Options{Files: fs})
		var got []string
		if len(l) > 0 {
			var b strings.Builder
			(&diag.Printer{W: &b, Files: fs}).Print(l)
			got = append(got, b.String())
		}
		for _, p := range ps {
			got = append(got, ast.String(p))
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q gives\n%s\nwant\n%s", c.text, s, c.want)
		}
	}
}

func TestParseMacros(t *testing.T) {
	fs := new(source.FileSet)
	o := Options{Files: fs, Cond: Conditions{Kernel: "6.1"}}
	table, l := ParseMacros(fs.Add("a.stpm",
		[]byte("# text\n@define a %( 1 %)\n%( kernel_v > \"6\" %? @define b(x) %( @x %) %: @define c %( %) %)")), o)
	if len(l) > 0 || !slices.Equal(table.Names(), []string{"a", "b"}) {
		t.Fatal(table.Names(), report(fs, l))
	}
	o.Macros = table
	for _, c := range []struct{ text, want string }{
		{"@define d %( 1 %) probe x { }", "[macro-file]\nb.stpm:1:19: error: expected @define, found keyword " +
			"probe\n  @define d %( 1 %) probe x { }\n                    ^~~~~\n  hint: a macro file holds nothing " +
			"but macros\n"},
		{"@define a %( 1 %)", "[macro-redefined]\nb.stpm:1:9: error: library macro @a is defined twice\n  @define a " +
			"%( 1 %)\n          ^\na.stpm:2:9: note: it was defined here first\n  @define a %( 1 %)\n          ^\n"},
	} {
		same, l := ParseMacros(fs.Add("b.stpm", []byte(c.text)), o)
		if strings.HasPrefix(c.want, "[macro-file]") {
			diagtest.Find(t, l, code.MacroFile)
		}
		if got := report(fs, l); got != c.want || same != table || len(table.Names()) != 2 {
			t.Errorf("%q gives\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

type lazyMacros struct {
	f     *source.File
	asked []string
}

func (m *lazyMacros) Names() []string { return []string{"lazy_one"} }

func (m *lazyMacros) Macro(name string) *Macro {
	m.asked = append(m.asked, name)
	if name != "lazy_one" {
		return nil
	}
	return &Macro{Name: name, File: m.f, Off: 0, End: m.f.Size()}
}

func TestLazyMacros(t *testing.T) {
	fs := new(source.FileSet)
	src := &lazyMacros{f: fs.Add("lib.stpm", []byte(" 1 + "))}
	o := Options{Files: fs, Macros: &MacroTable{Lazy: src}}
	f, l := Parse(fs.Add("x.stp", []byte("probe a { b = @lazy_one @lazy_one 2; @count(c) }")), o)
	if l.HasErrors() || ast.String(f.Decls[0]) != "probe a {\n\tb = 1 + 1 + 2\n\t@count(c)\n}" {
		t.Error(ast.String(f.Decls[0]), report(fs, l))
	}
	if want := []string{"lazy_one", "count"}; !slices.Equal(src.asked, want) {
		t.Errorf("asked for %v, want %v", src.asked, want)
	}
}

// TestGenerated compares the committed lexer and parser with what the grammars give.
func TestGenerated(t *testing.T) {
	for _, tool := range []string{"npm", "node", "gofmt"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not there: the generated files were not compared with the grammars", tool)
		}
	}
	dir := t.TempDir()
	out, err := exec.Command("./generate.sh", dir).CombinedOutput()
	if e, ok := err.(*exec.ExitError); ok && e.ExitCode() == 3 {
		t.Skipf("the generator cannot be installed: the generated files were not compared with the grammars\n%s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"stap_lexer.go", "stap_parser.go"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("internal/stapparse", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("internal/stapparse/%s does not come from the grammar: run grammar/generate.sh", name)
		}
		if strings.Contains(string(got), "AdaptivePredict") {
			t.Errorf("%s: a decision needs more than one token of lookahead", name)
		}
	}
}
