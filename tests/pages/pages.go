// Package pages holds the tables that tests make in pages of docs.
//
// In: the file of a page, and the two lines, each with its newline, that a table stands between. Out: the table that
// the page has, or the page with another.
package pages

import (
	"fmt"
	"os"
	"strings"
)

// Table is the text between the lines begin and end of a page.
func Table(file, begin, end string) (string, error) {
	_, table, _, err := cut(file, begin, end)
	return table, err
}

// Write puts a table between the lines begin and end of a page; the rest of the page stays as it is.
func Write(file, begin, end, table string) error {
	before, _, after, err := cut(file, begin, end)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(before+begin+table+end+after), 0o644)
}

func cut(file, begin, end string) (before, table, after string, err error) {
	page, err := os.ReadFile(file)
	if err != nil {
		return "", "", "", err
	}
	before, rest, ok := strings.Cut(string(page), begin)
	table, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", "", "", fmt.Errorf("%s has no place for a table between %q and %q", file, begin, end)
	}
	return before, table, after, nil
}
