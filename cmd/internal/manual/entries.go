package manual

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gostap/gostap/compiler/lateregexp"
	"github.com/gostap/gostap/docs"
)

// entry is something that the documents tell of.
type entry struct {
	kind string // page, chapter, section, function, macro, alias, probe point, message
	name string
	page string // the document without .md
	text string
}

var (
	heading = lateregexp.New(`^(#{1,4}) (.*)$`)
	// item is a declaration in docs/tapsets.md: * `name (arguments)`: text
	item = lateregexp.New("^\\* `([^`]+)`")
	// row is a line of a table that begins with something of the language: | `point`, `point` | text |
	row  = lateregexp.New("^\\| (`[^|]+) \\| (.*) \\|$")
	code = lateregexp.New("`([^`]+)`")
	// argument is one of a probe point.
	argument = lateregexp.New(`\([^()]*\)`)
)

// entries are all that the documents have, in their order.
var entries = sync.OnceValue(func() (out []entry) {
	files, _ := fs.Glob(docs.Pages, "*.md")
	for _, f := range files {
		text, _ := docs.Pages.ReadFile(f)
		page := strings.TrimSuffix(f, ".md")
		out = append(out, entry{"page", page, page, string(text)})
		out = append(out, parts(page, strings.Split(string(text), "\n"))...)
	}
	return out
})

// parts takes a document apart.
func parts(page string, lines []string) (out []entry) {
	type open struct{ at, level, from int } // a section that goes on: its entry, its first line
	var stack []open
	closeTo := func(level int, end int) {
		for len(stack) > 0 && stack[len(stack)-1].level >= level {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			out[s.at].text = joined(lines[s.from:end])
		}
	}
	fenced, title := false, ""
	for i, l := range lines {
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := heading().FindStringSubmatch(l); m != nil {
			level := len(m[1])
			closeTo(level, i)
			title = m[2]
			if level == 1 {
				continue
			}
			kind := "section"
			switch {
			case page == "errors" && level == 3:
				kind = "message"
			case page == "errors" || page == "tapsets":
				kind = "chapter"
			}
			stack = append(stack, open{len(out), level, i})
			out = append(out, entry{kind: kind, name: strings.ReplaceAll(title, "`", ""), page: page})
			continue
		}
		if m := item().FindStringSubmatch(l); m != nil && page == "tapsets" {
			end := i + 1
			for end < len(lines) && !strings.HasPrefix(lines[end], "* ") && !strings.HasPrefix(lines[end], "#") {
				end++
			}
			out = append(out, declared(m[1], joined(lines[i:end])))
		}
		if m := row().FindStringSubmatch(l); m != nil && page == "language" && title == "Probe points" {
			for _, c := range code().FindAllStringSubmatch(m[1], -1) {
				if !strings.HasPrefix(c[1], ".") {
					out = append(out, entry{"probe point", c[1], page, m[1] + "\n    " + m[2] + "\n"})
				}
			}
		}
	}
	closeTo(0, len(lines))
	return out
}

// declared is an entry of the library.
func declared(what, text string) entry {
	name := what
	if i := strings.IndexAny(name, " (:"); i >= 0 {
		name = name[:i]
	}
	kind := "alias"
	switch {
	case strings.HasPrefix(what, "@"):
		kind = "macro"
	case strings.Contains(what, " ("):
		kind = "function"
	}
	return entry{kind, name, "tapsets", text}
}

func joined(lines []string) string { return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n" }

// bare is a probe point without its arguments.
func bare(point string) string {
	for {
		short := argument().ReplaceAllString(point, "")
		if short == point {
			return point
		}
		point = short
	}
}

// inside are documents about how gostap is made and how good it is. What they say of a word comes last.
var inside = []string{"architecture", "benchmarks", "compat", "rationale", "scenarios", "values", "verifier"}

// named gives the entries that a word names, all of the best kind of match: the very name, a probe point by its
// words, the name in other cases of letters, a probe point by its first words, then a section that has the word in its
// heading.
func named(word string) []entry {
	lower := strings.ToLower(word)
	for _, is := range []func(e *entry) bool{
		func(e *entry) bool { return e.name == word || e.name == "@"+word },
		func(e *entry) bool {
			return e.kind == "probe point" && strings.ContainsAny(word, ".(") && bare(e.name) == bare(word)
		},
		func(e *entry) bool { return strings.ToLower(e.name) == lower },
		func(e *entry) bool {
			return e.kind == "probe point" && strings.HasPrefix(bare(e.name)+".", bare(word)+".")
		},
		func(e *entry) bool {
			return e.kind == "section" && !slices.Contains(inside, e.page) && slices.Contains(words(e.name), lower)
		},
		func(e *entry) bool { return e.kind == "section" && slices.Contains(words(e.name), lower) },
	} {
		var found []entry
		for _, e := range entries() {
			if is(&e) && !slices.ContainsFunc(found, func(f entry) bool { return f.text == e.text }) {
				found = append(found, e)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// spoken gives what the language's document says of a word that is none of its headings: a keyword, @name or $name.
func spoken(word string) (found []entry) {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@$") != "" || len(word) < 2 {
		return nil
	}
	is := regexp.MustCompile("`" + regexp.QuoteMeta(word) + "([ (`\\[]|->)")
	for _, e := range entries() {
		if e.page != "language" || e.kind != "section" {
			continue
		}
		for _, p := range strings.Split(e.text, "\n\n") {
			p = strings.TrimSpace(p) + "\n"
			if strings.HasPrefix(p, "|") {
				p = strings.Join(slices.DeleteFunc(strings.SplitAfter(p, "\n"), func(l string) bool {
					return !is.MatchString(l)
				}), "")
			}
			if is.MatchString(p) && len(found) < 5 &&
				!slices.ContainsFunc(found, func(f entry) bool { return f.text == p }) {
				found = append(found, entry{"section", e.name, e.page, p})
			}
		}
	}
	return found
}

// below gives the names of the library that begin with a word and a dot: those of a family of aliases.
func below(word string) (names []string) {
	for _, e := range entries() {
		if e.kind == "alias" && strings.HasPrefix(e.name, word+".") {
			names = append(names, e.name)
		}
	}
	return names
}

// words are those of a text, in small letters.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("_$@.-", r))
	})
}
