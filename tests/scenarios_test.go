package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScenarios: each scenario is shown by tests that are there, and docs/scenarios.md says which.
func TestScenarios(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Scenarios

What gostap has to be able to do, and the tests that show it with whole programs. Made of tests/scenarios.txt by
'go test ./tests -run TestScenarios -update'.

| S | what | shown by | state |
|---|---|---|---|
`)
	list, err := os.ReadFile("scenarios.txt")
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		i++
		fields := strings.Split(line, "|")
		if len(fields) != 3 {
			t.Fatalf("S%d: %d columns", i, len(fields))
		}
		what, lacks := strings.TrimSpace(fields[0]), strings.TrimSpace(fields[2])
		var links []string
		for ref := range strings.SplitSeq(fields[1], ";") {
			if ref = strings.TrimSpace(ref); ref == "" {
				continue
			}
			name, part, _ := strings.Cut(ref, "#")
			file, test, _ := strings.Cut(name, ":")
			file = filepath.Clean(file)
			text, err := os.ReadFile("../" + file)
			switch {
			case err != nil:
				t.Errorf("S%d: %v", i, err)
			case test != "" && !regexp.MustCompile(`(?m)^func `+test+`\(`).Match(text):
				t.Errorf("S%d: no %s in %s", i, test, file)
			case !strings.Contains(string(text), part):
				t.Errorf("S%d: no %q in %s", i, part, file)
			}
			link := fmt.Sprintf("[%s](../%s)", filepath.Base(file), file)
			if test != "" {
				link = fmt.Sprintf("[%s](../%s)", test, file)
			}
			links = append(links, link)
		}
		state := "works"
		if lacks != "" {
			state = lacks
		}
		fmt.Fprintf(&b, "| S%d | %s | %s | %s |\n", i, what, strings.Join(links, ", "), state)
		if len(links) == 0 && lacks == "" {
			t.Errorf("S%d has no test", i)
		}
	}
	const page = "../docs/scenarios.md"
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(page)
	if err != nil || string(have) != b.String() {
		t.Errorf("%s is not what the tests say: %v; go test ./tests -run TestScenarios -update", page, err)
	}
}
