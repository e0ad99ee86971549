package tapsets_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gostap/gostap/grammar"
	"github.com/gostap/gostap/tapsets"
	"github.com/gostap/gostap/tapsets/internal/index"
)

// TestGenerated: index.go and the page of the documentation are those of the library files, so that nothing
// which is declared there is missing from the index.
func TestGenerated(t *testing.T) {
	files, err := index.Read(tapsets.FS)
	if err != nil {
		t.Fatal(err)
	}
	src, err := index.Source(files)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"index.go": string(src),
		"../docs/tapsets.md": string(index.Page(files))} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) == want {
			continue
		}
		has, wants := strings.Split(string(text), "\n"), strings.Split(want, "\n")
		line := 0
		for line < len(has) && line < len(wants) && has[line] == wants[line] {
			line++
		}
		t.Errorf("%s:%d: not what the library files say: run go generate in tapsets", name, line+1)
	}
}

// TestPage: the page describes every public function, with an example.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../docs/tapsets.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	n := 0
	for _, f := range tapsets.Files {
		text, err := tapsets.FS.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range f.Entries {
			if e.Private || e.Kind != grammar.FunctionEntry {
				continue
			}
			n++
			decl, _, _ := strings.Cut(string(text[e.Off:e.End]), "%{")
			decl, _, _ = strings.Cut(decl, "{")
			decl = strings.TrimSpace(strings.TrimPrefix(decl, "function "))
			if !strings.Contains(page, "* `"+decl+"`: "+e.Names[0]+" ") {
				t.Errorf("docs/tapsets.md lacks %s", decl)
			}
		}
	}
	if got := strings.Count(page, "\n  Example: "); got != n {
		t.Errorf("docs/tapsets.md has %d functions, the files %d", got, n)
	}
}
