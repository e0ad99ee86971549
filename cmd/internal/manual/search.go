package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// most is how many finds are listed.
const most = 20

// find is what a search has found.
type find struct {
	e     *entry
	score int
	line  string // the first that has one of the words
}

// search gives the entries that have all of the words, the best first. Whole documents and chapters of lists are found
// by their names only: their parts are there too.
func search(all []entry, words []string) []find {
	var out []find
	for i := range all {
		e := &all[i]
		text, name := strings.ToLower(e.text), strings.ToLower(e.name)
		if e.kind == "page" || e.kind == "chapter" {
			text = ""
		}
		score := 0
		for _, w := range words {
			in := min(strings.Count(text, w), 10)
			switch {
			case name == w:
				in += 200
			case slices.Contains(strings.Fields(name), w):
				in += 60
			case strings.Contains(name, w):
				in += 40
			}
			if in == 0 {
				score = 0
				break
			}
			// A short text that is about little says more of it than a long one that mentions it.
			score += in*100 + 2000/(len(text)+100)
		}
		if score > 0 {
			out = append(out, find{e, score, line(e.text, words)})
		}
	}
	slices.SortStableFunc(out, func(a, b find) int { return b.score - a.score })
	return out
}

// line is the first line of a text behind its name that has one of the words, or the first at all.
func line(text string, words []string) string {
	first := ""
	for i, l := range strings.Split(text, "\n") {
		l = strings.Trim(strings.TrimSpace(l), "|")
		l = strings.TrimSpace(l)
		if i == 0 && strings.HasPrefix(l, "#") || l == "" || strings.HasPrefix(l, "```") {
			continue
		}
		if first == "" {
			first = l
		}
		for _, w := range words {
			if strings.Contains(strings.ToLower(l), w) {
				return l
			}
		}
	}
	return first
}

// list prints what a search has found.
func (r *run) list(asked []string, finds []find) error {
	if len(finds) == 0 {
		return slip.New(fmt.Sprintf("the documents do not have %q", strings.Join(asked, " ")),
			"fewer words find more; gostap help lists the documents")
	}
	for i, f := range finds {
		if i == most {
			fmt.Fprintf(r.Out, "and %d more: further words narrow the search\n", len(finds)-most)
			break
		}
		l := f.line
		if runes := []rune(l); len(runes) > 100 {
			l = string(runes[:97]) + "..."
		}
		where := ""
		if f.e.kind == "section" {
			where = " in " + f.e.page
		}
		fmt.Fprintf(r.Out, "%s (%s%s)\n    %s\n", r.bold(f.e.name), f.e.kind, where, l)
	}
	fmt.Fprintf(r.Out, "gostap help NAME prints one of them\n")
	return nil
}
