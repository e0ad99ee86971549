package sema

import (
	"os"
	"strings"
	"testing"
)

// TestForeignDocumented: what is refused of stap's library stands with its reason in the page about the language.
func TestForeignDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## What is not there\n")
	if !ok {
		t.Fatal("the page does not say what is not there")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, f := range foreign {
		row := "| `" + strings.Join(f.names, "`, `") + "` | " + f.why + " |\n"
		if !strings.Contains(text, row) {
			t.Errorf("missing: %s", row)
		}
	}
}
