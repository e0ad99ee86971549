package headers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ccompiler"
)

func TestParse(t *testing.T) {
	for spec, want := range map[string][]string{
		"<sys/un.h>": {"sys/un.h"}, " <a.h> <b/c.h>": {"a.h", "b/c.h"}, "<a b.h>": {"a b.h"},
		"": nil, "sys/un.h": nil, "<": nil, "<>": nil, "<a.h": nil, "<a.h>b": nil, "<a.h\n#error>": nil,
		"<a.h>\x00": nil, `<a\>`: nil, "<" + strings.Repeat("a", maxSpec) + ">": nil,
	} {
		got, err := Parse(spec)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v", spec, got, err)
		}
	}
}

func TestDependencies(t *testing.T) {
	got := dependencies("x: - /usr/a.h /my\\ own/b\\#.h \\\n /c$$d.h\\\n  e\\\\f.h\n")
	if want := []string{"/usr/a.h", "/my own/b#.h", "/c$d.h", `e\f.h`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestKept: what was compiled is taken again until a header that it includes changes, and is not believed where others
// can write.
func TestKept(t *testing.T) {
	for _, cc := range ccompiler.Names {
		path, err := exec.LookPath(cc)
		if err != nil {
			continue
		}
		t.Run(cc, func(t *testing.T) { keptBy(t, path) })
	}
}

func keptBy(t *testing.T, cc string) {
	was := find
	find = func() ([]string, error) { return []string{cc}, nil }
	defer func() { find = was }()
	dir := t.TempDir()
	folder := filepath.Join(dir, "kept")
	inner, outer := filepath.Join(dir, "inner.h"), filepath.Join(dir, "outer.h")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(inner, "struct inner { int a; };\n")
	write(outer, "#include \""+inner+"\"\nstruct outer { struct inner i; long unused; };\n")
	types := func() (path, text string) {
		t.Helper()
		path, remove, err := Types("<"+outer+">", folder)
		if err != nil {
			t.Fatal(err)
		}
		defer remove()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, string(b)
	}
	path, first := types()
	if !strings.HasPrefix(path, folder) || !strings.Contains(first, "unused") {
		t.Fatalf("%s", path)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if types(); !same(t, path, st) {
			t.Error("compiled again")
		}
	}
	write(inner, "struct inner { int a, further_one; };\n")
	if _, again := types(); !strings.Contains(again, "further_one") {
		t.Error("a header that is included has changed, and the old types were given")
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, again := types(); !strings.Contains(again, "further_one") {
		t.Error("a file that was overwritten is believed")
	}
	if os.Getuid() == 0 {
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if types(); same(t, path, st) {
			t.Error("a file is believed that everybody could have put there")
		}
	}
	var e *Error
	write(outer, "#error so not\n")
	if _, _, err := Types("<"+outer+">", folder); !errors.As(err, &e) || !strings.Contains(e.Text, "so not") {
		t.Error(err)
	}
	if _, _, err := Types("<no/such.h>", ""); !errors.As(err, &e) || !strings.Contains(e.Text, "no/such.h") {
		t.Error(err)
	}
	path, remove, err := Types("<"+inner+">", "")
	if err != nil || strings.HasPrefix(path, folder) {
		t.Fatal(path, err)
	}
	remove()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a temporary file stays")
	}
}

func same(t *testing.T, path string, was os.FileInfo) bool {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(st, was) && st.ModTime().Equal(was.ModTime())
}

// TestNone: without a compiler the error says so.
func TestNone(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var e *Error
	if _, _, err := Types("<stdio.h>", ""); !errors.As(err, &e) || e.Hint == "" {
		t.Error(err)
	}
}
