package interactive

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gostap/gostap/cmd/internal/prompt"
	"github.com/gostap/gostap/compiler"
)

// known is what has been asked once of the library and of probe points.
type known struct {
	library map[compiler.Listing][]string
	vars    map[string][]string // of a probe point, its line of -L in words
}

func (k *known) listing(s *session, what compiler.Listing) ([]string, error) {
	if l, ok := k.library[what]; ok {
		return l, nil
	}
	l, err := s.Library(s.Options, what)
	if err != nil {
		return nil, err
	}
	if k.library == nil {
		k.library = map[compiler.Listing][]string{}
	}
	k.library[what] = l
	return l, nil
}

// variables are the words that -L tells of probe points.
func (k *known) variables(s *session, points string) []string {
	if v, ok := k.vars[points]; ok {
		return v
	}
	found := map[string]bool{}
	for _, p := range split(points, ',') {
		lines, _ := s.Points(s.Options, s.text(), strings.TrimSpace(p), true)
		for _, l := range lines {
			for _, w := range strings.Fields(l) {
				if name, _, ok := strings.Cut(w, ":"); ok && word.FindString(strings.TrimLeft(name, "$")) ==
					strings.TrimLeft(name, "$") && name != "" {
					found[name] = true
				}
			}
		}
		if strings.Contains(p, ".return") {
			found["$return"] = true
		}
	}
	if k.vars == nil {
		k.vars = map[string][]string{}
	}
	k.vars[points] = slices.Sorted(maps.Keys(found))
	return k.vars[points]
}

// word is a name in a script.
var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// place is where in a script a text ends.
type place struct {
	depth   int    // of braces
	round   int    // of parentheses
	quote   int    // where the string begins that it ends in, -1 for none
	comment bool   // it ends in a comment
	probe   bool   // it ends in a probe, before or in its body
	point   int    // where the last of the probe points begins
	points  string // those of the probe whose body it ends in
}

// where looks through a text.
func where(text string) place {
	p := place{quote: -1}
	first := 0 // of the probe points
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		c := rest[0]
		skip := func(end string) {
			if n := strings.Index(rest, end); n >= 0 {
				i += n + len(end) - 1
			} else {
				p.comment, i = true, len(text)
			}
		}
		switch {
		case p.quote >= 0:
			if c == '\\' {
				i++
			} else if c == '"' || c == '\n' {
				p.quote = -1
			}
		case c == '"':
			p.quote = i
		case c == '#' || strings.HasPrefix(rest, "//"):
			skip("\n")
		case strings.HasPrefix(rest, "/*"):
			skip("*/")
		case c == '(' || c == '[':
			p.round++
		case c == ')' || c == ']':
			p.round--
		case c == '{':
			if p.depth == 0 && p.probe {
				p.points = text[first:i]
			}
			p.depth++
		case c == '}':
			if p.depth--; p.depth <= 0 {
				p.depth, p.round, p.probe, p.points = 0, 0, false, ""
			}
		case p.depth == 0 && p.probe && p.round == 0 && (c == ',' || c == '='):
			p.point = i + 1
			if c == '=' {
				first = i + 1
			}
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			w := word.FindString(rest)
			i += len(w) - 1
			if w == "probe" && p.depth == 0 {
				p.probe, first, p.point = true, i+1, i+1
			}
		}
	}
	return p
}

// closed reports whether a text may be whole: no bracket, string or comment is open at its end.
func closed(text string) bool {
	p := where(text)
	return p.depth == 0 && p.round <= 0 && p.quote < 0 && !p.comment
}

// constructs are the words that begin with @.
var constructs = []string{"@avg(", "@cast(", "@choose_defined(", "@count(", "@defined(", "@entry(", "@hist_linear(",
	"@hist_log(", "@max(", "@min(", "@sum(", "@var(", "@variance("}

// keywords are the words of the language within bodies.
var keywords = []string{"break", "catch", "continue", "delete", "else", "for", "foreach", "if", "in", "limit", "next",
	"print", "printd", "printdln", "printf", "println", "return", "sprint", "sprintf", "try", "while"}

// Complete says how a script, or a probe point alone, could go on: what may stand in place of the end of it.
func Complete(c Command, text string, point bool) (end string, words []string) {
	s := &session{Config: Config{Command: c}}
	if point {
		return s.completePoint(text)
	}
	start, words := s.completeScript(text, len(text))
	return text[start:], words
}

// complete gives what may stand in place of the end of a line, from start on.
func (s *session) complete(before string) (start int, words []string) {
	if s.pending == "" {
		first, arg, more := strings.Cut(before, " ")
		if !more {
			words = slices.Clone(declarations)
			for _, c := range commands() {
				words = append(words, c.name)
			}
			return 0, prompt.Fitting(words, first)
		}
		if c := find(first); c != nil {
			return s.completeArg(c.name, arg, len(before))
		}
	}
	return s.completeScript(s.pending+before, len(before))
}

// completeArg completes what stands behind a command. end is the length of the line.
func (s *session) completeArg(name, arg string, end int) (int, []string) {
	arg = strings.TrimLeft(arg, " ")
	switch name {
	case "load", "save":
		return end - len(arg), prompt.Files(arg, "")
	case "set", "unset", "show":
		return end - len(arg), prompt.Fitting(s.Config.Command.Options(), arg)
	case "help":
		return s.names(arg, end)
	case "sample":
		var names []string
		for _, e := range samples {
			names = append(names, e.name)
		}
		return end - len(arg), prompt.Fitting(names, arg)
	case "points":
		part, words := s.completePoint(arg)
		return end - len(part), words
	case "add", "complete":
		return s.completeScript(arg, end)
	}
	return end, nil
}

func (s *session) names(arg string, end int) (int, []string) {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return end - len(arg), prompt.Fitting(names, arg)
}

// completeScript completes a text that a script may begin with.
func (s *session) completeScript(text string, end int) (int, []string) {
	p := where(text)
	switch {
	case p.comment:
		return end, nil
	case p.depth == 0 && p.probe:
		part, words := s.completePoint(strings.TrimLeft(text[p.point:], " \t\n"))
		return end - len(part), words
	case p.quote >= 0:
		return end, nil
	}
	last := tail.FindString(text)
	switch {
	case p.depth == 0:
		return end - len(last), prompt.Fitting(declarations, last)
	case strings.HasPrefix(last, "@"):
		return end - len(last), prompt.Fitting(constructs, last)
	}
	all := []string{}
	if p.points != "" {
		all = append(all, s.known.variables(s, p.points)...)
	}
	if strings.HasPrefix(last, "$") {
		return end - len(last), prompt.Fitting(append(all, "$$locals", "$$parms", "$$vars"), last)
	}
	if last == "" {
		return end, nil
	}
	functions, _ := s.known.listing(s, compiler.Functions)
	for _, f := range functions {
		if name := word.FindString(f); name != "" && !strings.HasPrefix(name, "__") {
			all = append(all, name+"(")
		}
	}
	script := s.text() + text[:len(text)-len(last)]
	for _, at := range word.FindAllStringIndex(script, -1) {
		if name := script[at[0]:at[1]]; !slices.Contains(declarations, name) &&
			!slices.Contains(all, name+"(") && (at[0] == 0 || !strings.ContainsRune(`$@."`, rune(script[at[0]-1]))) {
			all = append(all, name)
		}
	}
	return end - len(last), prompt.Fitting(append(all, keywords...), last)
}

// tail is the name that a text ends with.
var tail = regexp.MustCompile(`(\$\$?|@)?[A-Za-z0-9_]*$`)

// split takes a text apart at a character outside of strings and parentheses.
func split(text string, at byte) (parts []string) {
	quoted, round, from := false, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			round++
		case c == ')':
			round--
		case c == at && round == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

// literal is an argument in a probe point.
var literal = regexp.MustCompile(`\(\s*("[^"]*"|[0-9][0-9a-zA-Z]*)\s*\)`)

// opened is a probe point that ends within the text of an argument: what comes before, its name, and the text.
var opened = regexp.MustCompile(`^((?:.*\.)?)([a-z_]+)\("([^"]*)$`)

// completePoint gives the part at the end of a probe point that can be completed, and how.
func (s *session) completePoint(point string) (part string, words []string) {
	if m := opened.FindStringSubmatch(point); m != nil {
		switch m[2] {
		case "process", "library":
			return m[3], prompt.Files(m[3], "")
		}
		return m[3], s.arguments(m[1]+m[2], m[2], m[3])
	}
	parts := split(point, '.')
	part = parts[len(parts)-1]
	// As the kinds of points are written: with words for what stands in parentheses.
	head := literal.ReplaceAllStringFunc(point[:len(point)-len(part)], func(l string) string {
		if strings.Contains(l, `"`) {
			return "(string)"
		}
		return "(number)"
	})
	types, _ := s.known.listing(s, compiler.ProbeTypes)
	aliases, _ := s.known.listing(s, compiler.ProbeAliases)
	for _, l := range slices.Concat(types, aliases) {
		l, _, _ = strings.Cut(l, " = ")
		rest, ok := strings.CutPrefix(l, head)
		if !ok || strings.HasPrefix(l, "__") {
			continue
		}
		next := split(rest, '.')[0]
		next = strings.Replace(strings.Replace(next, "(string)", `("`, 1), "(number)", "(", 1)
		words = append(words, next)
	}
	return part, prompt.Fitting(words, part)
}

// arguments are the names that a part of a probe point has something for, and that begin so.
func (s *session) arguments(head, name, begin string) (words []string) {
	lines, _ := s.Points(s.Options, s.text(), head+`("`+begin+`*")`, false)
	for _, l := range lines {
		i := strings.LastIndex(l, name+`("`)
		if i < 0 {
			continue
		}
		arg, _, _ := strings.Cut(l[i+len(name)+2:], `"`)
		arg, _, _ = strings.Cut(arg, "@")
		words = append(words, arg)
	}
	return prompt.Fitting(words, begin)
}
