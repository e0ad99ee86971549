package toolbox

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/gostap/gostap/tapsets/tools"
)

var update = flag.Bool("update", false, "write docs/tools.md")

// TestPage: docs/tools.md is what the tools' heads make of it.
func TestPage(t *testing.T) {
	const path = "../../../docs/tools.md"
	if *update {
		if err := os.WriteFile(path, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Page() {
		t.Error("docs/tools.md is old: go test ./cmd/internal/toolbox -run TestPage -update")
	}
}

// TestCast: each run that is kept is one of a tool, and ends before the next.
func TestCast(t *testing.T) {
	n := 0
	for l := range strings.Lines(casts) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(l, " --\n"), "-- ")
		if !ok {
			continue
		}
		n++
		if c := Cast(name); !strings.HasPrefix(c, "$ gostap "+name) || strings.Contains(c, "\n-- ") ||
			strings.Count(c, "\n") < 3 || tools.Find(name) == nil {
			t.Errorf("%s: %q", name, c)
		}
	}
	if n < 10 || Cast("nothing") != "" {
		t.Errorf("%d runs", n)
	}
}
