package toolbox

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
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

// proofTable is the table of proofs.tsv, whose lines have tool, kernel, load, what is compared, the tool's number, the
// other one, and whose that is: a row for each number, a column for each kernel.
func proofTable() string {
	var kernels []string
	var order []string // of rows, by their first cells
	rows := map[string]map[string]string{}
	for l := range strings.Lines(proofs) {
		f := strings.Split(strings.TrimRight(l, "\n"), "\t")
		if len(f) != 7 {
			continue
		}
		at := strings.Join([]string{f[0], cell(f[2]), cell(f[3]), cell(f[6])}, " | ")
		if rows[at] == nil {
			rows[at] = map[string]string{}
			order = append(order, at)
		}
		if rows[at][f[1]] = f[4]; f[4] != f[5] {
			rows[at][f[1]] += " of " + f[5]
		}
		if !slices.Contains(kernels, f[1]) {
			kernels = append(kernels, f[1])
		}
	}
	if len(order) == 0 {
		return ""
	}
	slices.SortFunc(kernels, func(a, b string) int {
		return cmp.Compare(version(a), version(b))
	})
	var b strings.Builder
	b.WriteString("\n## Held against others\n\n" +
		"Each tool ran under a load, and its numbers were held against what somebody else counted or knows: by\n" +
		"kernel the number of the tool, and where that is another (of what depends on time), what the other says.\n" +
		"The kernel 6.18 has no probes of its own functions and loads no modules: tools that need these have no\n" +
		"number there, nor has drsnoop, for which memory has to be short.\n\n" +
		"| tool | load | number | source | " + strings.Join(kernels, " | ") + " |\n|---|---|---|---" +
		strings.Repeat("|---:", len(kernels)) + "|\n")
	for _, at := range order {
		b.WriteString("| " + at)
		for _, k := range kernels {
			b.WriteString(" | " + rows[at][k])
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// version makes 6.18 more than 6.2.
func version(kernel string) int {
	major, minor, _ := strings.Cut(kernel, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a<<16 + b
}

// cell is a text in a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
