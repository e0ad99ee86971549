package tests

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is how many columns a line may have; a tab counts four.
const widest = 120

// asIs are parts of names of files that are generated, or whose lines tests count.
var asIs = []string{"/stapparse/", "/testdata/", "tests/fixtures/", "docs/tapsets.md", "docs/errors.md"}

// TestWidth: no line of Go or of a document is wider than 120 columns. What cannot be broken is left out: text between
// backquotes (programs, scripts and what they print), generated files, tables and examples of documents.
func TestWidth(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "ls-files", "-z", "*.go", "*.md").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile("../" + name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b[:min(len(b), 400)], []byte("DO NOT EDIT")) || slices.ContainsFunc(asIs,
			func(part string) bool { return strings.Contains(name, part) }) {
			continue
		}
		whole := wholeLines(b, strings.HasSuffix(name, ".md"))
		for i, l := range bytes.Split(b, []byte("\n")) {
			if w := utf8.RuneCount(l) + 3*bytes.Count(l, []byte("\t")); w > widest && !whole[i] {
				t.Errorf("%s:%d: %d columns", name, i+1, w)
			}
		}
	}
}

// wholeLines gives the lines, from 0, that cannot be broken.
func wholeLines(b []byte, doc bool) map[int]bool {
	whole := map[int]bool{}
	if doc {
		fenced := false
		for i, l := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(strings.TrimSpace(l), "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(l, "|") || strings.HasPrefix(l, "    ") {
				whole[i] = true
			}
		}
		return whole
	}
	var s scanner.Scanner
	f := token.NewFileSet().AddFile("", -1, len(b))
	s.Init(f, b, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return whole
		case tok == token.STRING && lit[0] == '`':
			from := f.Line(pos)
			for i := range strings.Count(lit, "\n") + 1 {
				whole[from-1+i] = true
			}
		}
	}
}
