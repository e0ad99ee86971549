package grammar

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// testOptions are those that testdata/parse/preprocessor.txtar describes.
func testOptions(t testing.TB, fs *source.FileSet) Options {
	config := map[string]string{"CONFIG_A": "y", "CONFIG_M": "m", "CONFIG_HZ": "250", "CONFIG_N": "n"}
	o := Options{
		Files: fs,
		Args:  []string{"42", `he said "hi"`, "x.y", "$1", ""},
		Cond: Conditions{
			Kernel: "6.1.0-13-amd64", Arch: "x86_64", Runtime: "bpf",
			Config: func(n string) (string, bool) { v, ok := config[n]; return v, ok },
		},
	}
	var l diag.List
	o.Macros, l = ParseMacros(fs.Add("lib.stpm",
		[]byte("@define lib_one %( 1 %)\n@define lib_twice(x) %( (@x + @x + @lib_one) %)\n")), o)
	if len(l) > 0 {
		t.Fatal(l[0])
	}
	return o
}

// report writes messages with their codes.
func report(fs *source.FileSet, l diag.List) string {
	var b strings.Builder
	p := diag.Printer{W: &b, Files: fs}
	for _, d := range l {
		fmt.Fprintf(&b, "[%s]\n", d.Code)
		p.One(d)
	}
	return b.String()
}

// TestParse compares messages and printed trees with testdata. Where there is no
// error, the printed tree must parse to itself.
func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/parse/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range a.Files {
			want[f.Name] = string(f.Data)
		}
		var out []txtar.File
		for _, f := range a.Files {
			name, ok := strings.CutSuffix(f.Name, ".stp")
			if !ok {
				continue
			}
			got := parseAndPrint(t, f.Name, f.Data)
			out = append(out, f, txtar.File{Name: name + ".want", Data: []byte(got)})
			if !*update && got != want[name+".want"] {
				t.Errorf("%s: %s\n%s\ngives\n%s\nwant\n%s", file, f.Name, f.Data, got, want[name+".want"])
			}
		}
		if *update {
			a.Files = out
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func parseAndPrint(t *testing.T, name string, text []byte) string {
	fs := new(source.FileSet)
	o := testOptions(t, fs)
	f, l := Parse(fs.Add(name, text), o)
	got := report(fs, l)
	tree := string(printed(t, f))
	if l.HasErrors() {
		if len(f.Decls) > 0 {
			got += "---\n"
		}
		return got + tree
	}
	again, l := Parse(fs.Add("printed", []byte(tree)), o)
	if l.HasErrors() {
		t.Errorf("%s: the printed tree does not parse:\n%s\n%s", name, tree, report(fs, l))
	} else if two := string(printed(t, again)); two != tree {
		t.Errorf("%s: prints as\n%sthen as\n%s", name, tree, two)
	}
	checkPlaces(t, fs, f)
	return got + tree
}

// checkPlaces looks at the places of a tree: each in one file, no end before its start.
func checkPlaces(t *testing.T, fs *source.FileSet, f *ast.File) {
	for _, d := range f.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			s := n.Range()
			if !s.From.IsValid() || s.To < s.From {
				t.Errorf("%T %s has the place %v", n, ast.String(n), s)
			} else if a, b := fs.File(s.From), fs.File(s.To); a != b {
				t.Errorf("%T %s begins in %s and ends in %s", n, ast.String(n), a.Name, b.Name)
			}
			return true
		})
	}
}
