// Package proofs is what the tests share that hold tools' numbers against those of others.
//
// In: what a tool or another source printed, rows of docs/tools.md's table. Out: numbers; the table with those rows.
package proofs

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Sum adds up the number in each line that the pattern matches, which is its only group, or counts those lines where
// there is none.
func Sum(text, pattern string) (n int) {
	re := regexp.MustCompile(pattern)
	for l := range strings.Lines(text) {
		m := re.FindStringSubmatch(strings.TrimRight(l, "\n"))
		if m == nil {
			continue
		}
		if k, err := strconv.Atoi(m[len(m)-1]); err == nil && len(m) == 2 {
			n += k
		} else {
			n++
		}
	}
	return n
}

// Write puts rows into the table in a file, beside those of its own that stay. A row has tool, kernel, load, what is
// counted, both numbers and the source, with tabs between.
func Write(table string, rows []string, stays func(row []string) bool) error {
	old, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	rows = slices.Clone(rows)
	for l := range strings.Lines(string(old)) {
		l = strings.TrimRight(l, "\n")
		if f := strings.Split(l, "\t"); len(f) == 7 && stays(f) {
			rows = append(rows, l)
		}
	}
	slices.Sort(rows)
	return os.WriteFile(table, []byte(strings.Join(rows, "\n")+"\n"), 0o644)
}
