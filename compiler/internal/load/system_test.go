package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/grammar"
)

// TestSystem: the tapsets of other packages are found last, those that are SystemTap's own and those for other
// runtimes not at all; a broken one is a warning, and only for a script that needs more than the library has.
func TestSystem(t *testing.T) {
	dir, mine := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"other.stp": "probe other.begin = begin { x = 1 } function of_other() { return own() } " +
			"function own() { return 3 }",
		"other.stpm":         "@define other_macro %( 5 %)",
		"string.stp":         "function only_staps() { return 1 }",
		"linux/nfs.stp":      "function only_staps2() { return 1 }",
		"x86_64/machine.stp": "function of_machine() { return 1 }",
		"arm64/machine.stp":  "function of_arm() { return 1 }",
		"strlen.stp": "function strlen:long(s:string) { return 77 } function mine() { return 1 } " +
			"probe vfs.read = begin { }",
		"broken.stp": "function broken() { return 1",
		"wrong.stp":  "function wrong() { return = 1 }",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(mine, "m.stp"), []byte("function mine() { return 2 }"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, ds := New(Options{Dirs: []string{mine}, System: dir, Cond: grammar.Conditions{Kernel: "6.1.0", Arch: "x86_64",
		Runtime: "kernel"}})
	if len(ds) > 0 {
		t.Fatal(ds[0].Message)
	}
	from := func(name string) string {
		fs := l.Functions(name, l.script)
		if len(fs) == 0 {
			return ""
		}
		return filepath.Base(fs[0].File.Name)
	}
	if f := from("mine"); f != "m.stp" {
		t.Errorf("mine is that of %q", f)
	}
	if f := from("strlen"); f != "strings.stp" && f != "quoted.stp" {
		t.Errorf("strlen is that of %q", f)
	}
	if ds := l.TakeDiags(); len(ds) > 0 {
		t.Errorf("a script that the library is enough for hears of the system's: %s", ds[0].Message)
	}
	for name, want := range map[string]string{"of_other": "other.stp", "only_staps": "", "only_staps2": "",
		"of_machine": "machine.stp", "of_arm": "", "own": "other.stp"} {
		if f := from(name); f != want {
			t.Errorf("%s is that of %q, want %q", name, f, want)
		}
	}
	ds = l.TakeDiags()
	if len(ds) != 1 || ds[0].Severity != diag.Warning || !strings.Contains(ds[0].Message, "left out") {
		t.Errorf("of the broken file: %v", ds)
	}
	if l.Macros().Lazy.Macro("other_macro") == nil {
		t.Error("the macro of a system's file is not known")
	}
	count := map[string]int{}
	for _, a := range l.Aliases("*") {
		count[a.Dotted()]++
	}
	if count["other.begin"] != 1 || count["vfs.read"] != 1 {
		t.Errorf("aliases: %d, %d", count["other.begin"], count["vfs.read"])
	}
	from("wrong")
	if ds := l.TakeDiags(); !ds.HasErrors() {
		t.Error("a wrong function that is asked for is no error")
	}
}
