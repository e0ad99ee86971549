package patch

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestDescriptions: what is made of descriptions, and of arguments, and what is said of those that are none.
func TestDescriptions(t *testing.T) {
	const golden = "testdata/descriptions.golden"
	head := "program /a b\nbuild-id x/y\nfunction f\n"
	whole := head + "size 3\nbytes 90 90\n"
	var b strings.Builder
	for _, text := range []string{
		"# two programs\nglobal n, m[3] # of the script\nprogram /a\nbuild-id 1 # why\n\nfunction main.(*T).M[...]\n" +
			"  size 10 # bytes\n\tsha256 " + strings.Repeat("0a", 32) + "\n  inlined 2\n  entry {\n    if ($x) {\n" +
			"      n++ # }\n    }\n  }\n  return {\n  }\nprogram ./b\nbuild-id 2\nfunction g@g.c:7\nsize 1\n" +
			"bytes 9090\nreturn {\n$return = 1\n}\n",
		strings.ReplaceAll(whole+"entry {\n}", "\n", "\r\n"),
		"", "# nothing\n", "size 3", "function f", "program", "program \"", "program /a", "program /a\nbuild-id #",
		"program /a\nbuild-id 1\nbuild-id 2", "program /a\nbuild-id 1", "program /a\nfunction f", "program /a\nsize 3",
		head, head + "size 0", head + "size 99999999999", head + "size x", head + "size 3", whole,
		head + "sha256 12", head + "bytes 9", head + "bytes", head + "inlined -1", head + "what 3",
		whole + "entry", whole + "entry { $x = 1 }", whole + "entry {\n}\nentry {\n}", whole + "  entry {\n}\n",
		whole + "return {", "program /a\nbuild-id 1\nfunction f\"g", "\x00", "program /a\x1b[2J",
	} {
		fmt.Fprintf(&b, "== %q\n", text)
		d, err := describe("p", text)
		if err == nil {
			b.WriteString(d.script(strings.Contains(text, "two")))
		} else if failed(&b, err) != errShown {
			t.Errorf("%q: no place in %v", text, err)
		}
	}
	for _, args := range [][]string{
		{}, {"p", "q"}, {"--new", "a"}, {"--new", "a", "f", "-x", "1"}, {"p", "-x", "0"}, {"p", "-x", "1", "-c", "a"},
		{"p", "-T", "-1s"}, {"p", "-T", "x"}, {"p", "--runtime", "host"}, {"p", "-c", ""}, {"testdata/none"},
	} {
		fmt.Fprintf(&b, "== %s\n", strings.Join(args, " "))
		if Run(t.Context(), args, Streams{Out: &b, Err: &b}, nil) != 1 {
			t.Errorf("%q is taken", args)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("not as in %s (-update writes it):\n%s", golden, b.String())
	}
	b.Reset()
	if Run(t.Context(), []string{"--help"}, Streams{Out: &b, Err: &b}, nil) != 0 || b.String() != usage {
		t.Error("no help:", b.String())
	}
}

// TestReplaced: a program that is not the file any more that was looked at.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	path, source := filepath.Join(dir, "m"), filepath.Join(dir, "m.c")
	if err := os.WriteFile(source, []byte("__attribute__((noinline)) int f(int n) { return n + 3; }\n"+
		"int main(int c, char **v) { return f(c); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gcc := exec.Command("gcc", "-g", "-O2", "-Wl,--build-id=0x12", "-o", path, source)
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := fresh(context.Background(), &b, path, []string{"f"}); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"was replaced meanwhile": func() error {
			return os.Rename(source, path)
		},
		"is not there any more": func() error { return os.Remove(path) },
		"was written to meanwhile": func() error {
			return os.WriteFile(path, append(program, 0), 0o755)
		},
	} {
		os.Remove(path)
		if err := os.WriteFile(path, program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(source, program, 0o755); err != nil {
			t.Fatal(err)
		}
		d, err := describe("p", b.String())
		if err == nil {
			err = d.verify()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := d.same(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("no %q in %v", what, err)
		}
		if err := d.place([]gostap.Place{{Point: "x", File: path, Address: 1}}); err == nil ||
			!strings.Contains(err.Error(), "in no function that is described") {
			t.Error("a place elsewhere:", err)
		}
		d.close()
	}
}
