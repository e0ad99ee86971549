package toolbox

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/gostap/gostap/tapsets/tools"
)

//go:embed intro.md
var intro string

//go:embed proofs.tsv
var proofs string

// Page is docs/tools.md: an introduction, all tools by subject with what their --help prints, and the proofs: numbers
// of tools beside those of somebody else, as the test of them left them (see proof_test.go).
func Page() string {
	var b strings.Builder
	b.WriteString(intro)
	all := tools.All()
	for _, s := range tools.Subjects {
		var rows []string
		for _, t := range all {
			if t.Subject == s.Name {
				rows = append(rows, fmt.Sprintf("| [%s](#%s) | %s |\n", t.Name, t.Name, cell(t.Purpose)))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n**%s**: %s\n\n| tool | what it shows |\n|---|---|\n%s", s.Name, s.About,
				strings.Join(rows, ""))
		}
	}
	b.WriteString(proofTable())
	for _, s := range tools.Subjects {
		n := 0
		for _, t := range all {
			if t.Subject != s.Name {
				continue
			}
			if n++; n == 1 {
				fmt.Fprintf(&b, "\n## %s: %s\n", s.Name, s.About)
			}
			fmt.Fprintf(&b, "\n### %s\n\n```text\n%s```\n", t.Name, Help(t))
			if cast := Cast(t.Name); cast != "" {
				fmt.Fprintf(&b, "\nA run:\n\n```text\n%s```\n", cast)
			}
		}
	}
	return b.String()
}

// proofTable is the table of proofs.tsv: kernel, tool, load, what is compared, the tool's number, the other one, whose.
func proofTable() string {
	lines := strings.Split(strings.TrimSpace(proofs), "\n")
	if lines[0] == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Held against others\n\n" +
		"Each tool ran under a load, and its numbers were held against what somebody else counted or knows.\n\n" +
		"| tool | kernel | load | number | tool | other | other's source |\n|---|---|---|---|---:|---:|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(strings.Split(cell(l), "\t"), " | "))
	}
	return b.String()
}

// cell is a text in a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
