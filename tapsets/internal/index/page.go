package index

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gostap/gostap/grammar"
)

// likeAllReturns is the comment of returns of system calls, which are listed once for all.
const likeAllReturns = "name, retval, retstr."

// Page is the text of docs/tapsets.md: what every file is for, its functions with their comments.
func Page(files []File) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Code generated from the library files by go generate; DO NOT EDIT. -->\n\n# The library\n\n")
	b.WriteString("Functions, aliases and macros that scripts can use. A script reads only what it asks for.\n")
	for _, f := range files {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", f.Name, head(f.Text))
		for _, e := range f.Entries {
			if e.Private || e.Kind != grammar.FunctionEntry {
				continue
			}
			doc, example := comment(f.Text[:e.Off])
			decl, _, _ := strings.Cut(f.Text[e.Off:e.End], "{")
			decl = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(decl), "%"))
			fmt.Fprintf(&b, "\n* `%s`: %s\n", strings.TrimPrefix(decl, "function "), doc)
			if example != "" {
				fmt.Fprintf(&b, "\n  Example: `%s`\n", example)
			}
		}
		for _, e := range f.Entries {
			doc := lines(f.Text[:e.Off])
			if doc != likeAllReturns && (e.Kind == grammar.AliasEntry || e.Kind == grammar.MacroEntry) {
				at := map[bool]string{true: "@"}[e.Kind == grammar.MacroEntry]
				fmt.Fprintf(&b, "\n* `%s%s`: %s\n", at, e.Names[0], doc)
			}
		}
	}
	return b.Bytes()
}

// head is the comment that a file begins with.
func head(text string) string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(l, "//") {
			break
		}
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(l, "//"), " "))
	}
	return strings.Join(out, "\n")
}

// comment is the /** */ comment at the end of text, and the example in it.
func comment(text string) (doc, example string) {
	i := strings.LastIndex(text, "/**")
	if i < 0 {
		return "", ""
	}
	var out []string
	for _, l := range strings.Split(text[i+3:], "\n") {
		l = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l), "*"))
		if ex, ok := strings.CutPrefix(l, "Example: "); ok {
			example = ex
		} else if l != "" && l != "/" {
			out = append(out, l)
		}
	}
	return strings.Join(out, " "), example
}

// lines are the // comments at the end of text, without an example.
func lines(text string) string {
	var out []string
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := len(all) - 1; i >= 0 && strings.HasPrefix(all[i], "//"); i-- {
		if l := strings.TrimSpace(strings.TrimPrefix(all[i], "//")); l != "" && !strings.HasPrefix(l, "Example: ") {
			out = append([]string{l}, out...)
		}
	}
	return strings.Join(out, " ")
}
