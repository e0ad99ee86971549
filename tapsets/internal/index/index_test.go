package index

import (
	"strings"
	"testing"
	"testing/fstest"
)

// source is index.go of the files.
func source(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	fs, err := Read(files)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Source(fs)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// TestOneMore: one file more adds rows and changes none that were there.
func TestOneMore(t *testing.T) {
	files := fstest.MapFS{}
	add := func(name, text string) { files[name] = &fstest.MapFile{Data: []byte(text)} }
	add("a.stp", "function one() { return 1 }\nprobe alias.one = begin { x = one() }\n")
	add("c_d.stp", "global three\nprobe begin { three = two() }\nfunction two(a) { return a + three }\n")
	add("e.stpm", "@define four(x) %( @x + 4 %)\n")
	add("readme.md", "nothing of the library")
	before := strings.Split(source(t, files), "\n")
	add("b_much_longer.stp", "function one() { return 2 }\nfunction between(n) { return n }\nprivate global own\n")
	after := source(t, files)
	rest := strings.Split(after, "\n")
	for _, l := range before {
		for len(rest) > 0 && rest[0] != l {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			t.Fatalf("the row %q is not where it was in\n%s", l, after)
		}
		rest = rest[1:]
	}
	for _, want := range []string{`{"one", grammar.FunctionEntry, bMuchLongerStp, 0},`,
		`{"two", grammar.FunctionEntry, cDStp, 2},`,
		`{"alias.one", grammar.AliasEntry, aStp, 1},`, `{"four", grammar.MacroEntry, eStpm, 0},`,
		"\teStpm: {Name: \"e.stpm\","} {
		if !strings.Contains(after, want) {
			t.Errorf("no %s in\n%s", want, after)
		}
	}
}

// TestOpen: a file that cannot be indexed is told by its name.
func TestOpen(t *testing.T) {
	_, err := Read(fstest.MapFS{"x.stp": {Data: []byte("function f() { return 1")}})
	if err == nil || !strings.HasPrefix(err.Error(), "x.stp cannot be indexed") {
		t.Error(err)
	}
}
