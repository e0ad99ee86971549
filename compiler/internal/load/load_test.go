package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

var cond = grammar.Conditions{Kernel: "6.18.5-1-amd64", Arch: "x86_64", Runtime: "bpf"}

// tree writes files below a new folder: name, text, name, text, ...
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		p := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func library(t *testing.T, script string, dirs ...string) *Library {
	t.Helper()
	fs := new(source.FileSet)
	l, ds := New(Options{Files: fs, Cond: cond, Dirs: dirs})
	f, more := grammar.Parse(fs.Add("x.stp", []byte(script)),
		grammar.Options{Files: fs, Cond: cond, Macros: l.Macros()})
	ds = append(ds, more...)
	ds = append(ds, l.AddScript(f)...)
	for _, d := range ds {
		t.Fatal(d.Message)
	}
	return l
}

func origins(fs []*Function) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Decl.Name.Name+"@"+filepath.Base(f.File.Name))
	}
	return strings.Join(out, " ")
}

func TestFunctions(t *testing.T) {
	dir := tree(t,
		"a.stp", `function pid:long() { return 7 } private function hidden() { } function visible() { hidden() } function late:long():5 { return 1 }`,
		"b.stp", `private function hidden() { } function late:long():2 { return 2 }`)
	l := library(t, `private function hidden() { } function pid() { next } probe begin { pid() }`, dir)
	user := l.UserFunctions()[0].File
	for _, c := range []struct{ name, want string }{
		{"pid", "pid@x.stp pid@a.stp pid@context.stp"},
		{"late", "late@b.stp late@a.stp"},
		{"hidden", "hidden@x.stp"},
		{"nothing", ""},
		{"strlen", "strlen@strings.stp"},
	} {
		if got := origins(l.Functions(c.name, user)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	a := l.Functions("visible", user)[0].File
	if got := origins(l.Functions("hidden", a)); got != "hidden@a.stp" {
		t.Errorf("hidden as a.stp sees it: %q", got)
	}
	if got := origins(l.Functions("hidden", l.Functions("late", user)[0].File)); got != "hidden@b.stp" {
		t.Errorf("hidden as b.stp sees it: %q", got)
	}
	for _, n := range l.FunctionNames(nil) {
		if n == "hidden" {
			t.Error("a private function is offered")
		}
	}
	if !slices.Contains(l.FunctionNames(user), "visible") || !slices.Contains(l.FunctionNames(user), "execname") {
		t.Error("functions are not offered")
	}
	var all []string
	for _, f := range l.AllFunctions() {
		all = append(all, f.Decl.Name.Name+"@"+filepath.Base(f.File.Name))
	}
	for _, n := range []string{"pid@x.stp", "pid@a.stp", "pid@context.stp", "late@b.stp", "substr@strings.stp"} {
		if !slices.Contains(all, n) {
			t.Errorf("%s is not among all functions", n)
		}
	}
	if slices.Contains(all, "hidden@a.stp") || len(all) < 150 {
		t.Error("all functions: ", all)
	}
	if l.Functions("pid", user)[0].Priority != 0 || l.Functions("pid", user)[1].Priority != 1 {
		t.Error("priorities without a number")
	}
}

// TestLazy: of the library only what is asked for is read.
func TestLazy(t *testing.T) {
	dir := tree(t, "bad.stp", "function good() { return 1 }\nfunction bad() { return (1 }\n", "worse.stp",
		"probe a = b { if }\nfunction other() { }")
	l := library(t, `probe begin { }`, dir)
	if len(l.Functions("good", nil)) != 1 || len(l.Functions("other", nil)) != 1 || len(l.TakeDiags()) != 0 {
		t.Error("a function beside a broken one does not load")
	}
	if fs := l.Functions("bad", nil); len(fs) != 0 {
		t.Error("a broken function loads")
	}
	if ds := l.TakeDiags(); !ds.HasErrors() {
		t.Error("a broken function that is asked for is not reported")
	}
	as := l.Aliases("a")
	if len(as) != 1 {
		t.Fatal("aliases: ", as)
	}
	if d, ds := as[0].Decl(); d != nil || !ds.HasErrors() {
		t.Error("a broken alias loads")
	}
}

// TestWhole: a file that cannot be indexed is parsed as a whole.
func TestWhole(t *testing.T) {
	dir := tree(t, "odd.stp", "function f() { %( arch == \"x86_64\" %? return 1 } function g() { %) return 2 "+
		"}\nglobal v\nprobe begin { v = 1 }\nprobe al.ias = begin { }")
	l := library(t, `probe begin { }`, dir)
	if len(l.Functions("f", nil)) != 1 || len(l.Functions("g", nil)) != 1 || len(l.Aliases("al")) != 1 {
		t.Error("declarations are missing")
	}
	g := l.Global("v", nil)
	if g == nil || len(l.Touching(g)) != 1 {
		t.Error("the global or its probe is missing")
	}
}

func TestGlobals(t *testing.T) {
	dir := tree(t, "a.stp", `
private global mine, other
global shared
probe init { mine = 1 shared = 2 }
probe end { other = 1 }
function use() { return mine + shared }`)
	l := library(t, `global user probe begin { user = 1 }`, dir)
	user := l.UserGlobals()[0].File
	if l.Global("mine", user) != nil {
		t.Error("a private global is seen from outside")
	}
	from := l.Functions("use", user)[0].File
	g := l.Global("mine", from)
	if g == nil || !g.Private {
		t.Fatal("a private global is not seen from its file")
	}
	if g != l.Global("mine", from) || l.Global("shared", user) != l.Global("shared", from) {
		t.Error("one declaration, two globals")
	}
	if ps := l.Touching(g); len(ps) != 1 {
		t.Errorf("%d probes touch mine", len(ps))
	}
	if ps := l.Touching(l.Global("shared", user)); len(ps) != 0 {
		t.Error("a probe came twice")
	}
	if ps := l.Touching(l.Global("other", from)); len(ps) != 1 {
		t.Error("the probe of other is missing")
	}
	if !slices.Contains(l.GlobalNames(user), "shared") || slices.Contains(l.GlobalNames(user), "mine") {
		t.Error("names of globals")
	}
}

func TestAliases(t *testing.T) {
	dir := tree(t, "a.stp", `probe sys.open = begin { n = 1 } probe sys.close = sys.shut = end { } probe other = begin { }`)
	l := library(t, `probe sys.mine = begin { } probe begin { }`, dir)
	names := func(as []*Alias) string {
		var out []string
		for _, a := range as {
			out = append(out, a.Dotted())
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ first, want string }{
		{"sys", "sys.mine sys.open sys.close sys.shut"},
		{"s*s", "sys.mine sys.open sys.close sys.shut"},
		{"o*r", "other"},
		{"init", "init"},
		{"ini*", "init"},
		{"no", ""},
	} {
		if got := names(l.Aliases(c.first)); got != c.want {
			t.Errorf("%s: %q, want %q", c.first, got, c.want)
		}
	}
	for _, a := range l.Aliases("sys") {
		if a.Dotted() == "sys.open" {
			d, ds := a.Decl()
			if d == nil || len(ds) > 0 || l.BlockFile(d.Prologue) != a.File {
				t.Error("the declaration of sys.open", ds)
			}
		}
	}
	if !slices.Contains(l.AliasNames(), "sys.open") || !slices.Contains(l.AliasNames(), "init") {
		t.Error("names of aliases")
	}
}

// TestFolders: sub-folders for kernel, architecture and runtime come before the folder.
func TestFolders(t *testing.T) {
	dir := tree(t,
		"a.stp", `function where() { return "top" }`,
		"x86_64/a.stp", `function where() { return "arch" }`,
		"arm64/a.stp", `function where() { return "other arch" }`,
		"6.18/a.stp", `function where() { return "version" }`,
		"6.18/x86_64/a.stp", `function where() { return "both" }`,
		"6.1/a.stp", `function where() { return "other version" }`,
		"bpf/a.stp", `function where() { return "runtime" }`,
		"notes.txt", `function where() { return "no library file" }`,
		"deep/er/a.stp", `function where() { return "too deep" }`)
	l := library(t, `probe begin { }`, dir)
	var got []string
	for _, f := range l.Functions("where", nil) {
		rel, _ := filepath.Rel(dir, f.File.Name)
		got = append(got, rel)
	}
	if want := "6.18/x86_64/a.stp 6.18/a.stp bpf/a.stp x86_64/a.stp a.stp"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
}

// TestConditions: a declaration inside of %( %) is there when the condition holds.
func TestConditions(t *testing.T) {
	dir := tree(t, "a.stp", `
%( runtime == "bpf" %?
function f() { return 1 }
%:
function f() { return 2 }
function g() { return 2 }
%)
%( arch == "arm64" %? probe al = begin { } %)`)
	l := library(t, `probe begin { }`, dir)
	fs := l.Functions("f", nil)
	if len(fs) != 1 || len(l.Functions("g", nil)) != 0 || len(l.Aliases("al")) != 0 {
		t.Errorf("%d times f, g %d times", len(fs), len(l.Functions("g", nil)))
	}
}

// TestMacros: macros of .stpm files are there for scripts and library files.
func TestMacros(t *testing.T) {
	dir := tree(t, "a.stpm", `@define twice(x) %( (@x + @x) %)
%( arch == "arm64" %? @define word %( "arm" %) %: @define word %( "x86" %) %)`,
		"b.stp", `function f() { return @twice(3) }`)
	l := library(t, `probe begin { println(@twice(2), @word, @choose_defined(1, 2)) }`, dir)
	if len(l.Functions("f", nil)) != 1 {
		t.Error("a library file cannot use a macro")
	}
	if ds := l.TakeDiags(); len(ds) > 0 {
		t.Error(ds[0].Message)
	}
	if !slices.Contains(l.Macros().Names(), "choose_defined") {
		t.Error("names of macros")
	}
}

func TestBadDirs(t *testing.T) {
	dir := tree(t, "a.stp", `function f() { }`)
	for _, d := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a.stp")} {
		_, ds := New(Options{Dirs: []string{d}})
		if found := diagtest.Find(t, ds, diag.LibraryDir); len(ds) != 1 || !strings.Contains(found.Message, d) {
			t.Errorf("%s: %v", d, ds)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c*", "abcd", true}, {"a*b*c", "acb", false}, {"**", "x", true}, {"ab*b", "ab", false}, {"*b*", "abc", true},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%s %s: %v", c.pattern, c.name, got)
		}
	}
}

func TestDuplicateGlobal(t *testing.T) {
	fs := new(source.FileSet)
	l, _ := New(Options{Files: fs})
	for _, text := range []string{"global a probe begin { }", "private global a probe end { }",
		"global b, a probe error { }"} {
		f, _ := grammar.Parse(fs.Add("x.stp", []byte(text)), grammar.Options{Files: fs})
		ds := l.AddScript(f)
		if (len(ds) == 1) != strings.Contains(text, "global b") {
			t.Errorf("%s: %v", text, ds)
		}
	}
}
