package toolbox

import (
	"flag"
	"os"
	"testing"
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
