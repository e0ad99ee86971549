package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/lateregexp"
)

// Option is an option of a tool, or an argument.
type Option struct {
	// Name is that of the option without its dashes, "" for an argument.
	Name string
	// Place stands for the value in texts: N, TIME, a|b. "" for an option without one.
	Place    string
	Kind     Kind
	Text     []string
	Required bool // of arguments
	// Default is the literal in the script.
	Default string

	global     string // the variable that gets the value, "" for a macro
	macro      string
	start, end int // of the literal in Source
}

// IsMacro says whether the value has to be known when the script is translated.
func (o *Option) IsMacro() bool { return o.macro != "" }

// String is how the option is written.
func (o *Option) String() string {
	switch {
	case o.Name == "" && o.Required:
		return o.Place
	case o.Name == "":
		return "[" + o.Place + "]"
	case o.Place == "":
		return "--" + o.Name
	}
	return "--" + o.Name + " " + o.Place
}

var (
	// What a declaration of an option looks like: one of the language, and a comment that begins with --name or with
	// the word for an argument.
	declared = lateregexp.New(`^(?:(?:private )?global (\w+) = ("(?:[^"\\]|\\.)*"|-?\w+)|` +
		`@define (\w+) %\( (.*) %\)) +// (?:--([a-z][a-z0-9-]*)(?: ([A-Z]+|[a-z]+(?:\|[a-z]+)+))?` +
		`|(\[?)([A-Z]+)\]?): (.*)$`)
	example = lateregexp.New(`^Example: (gostap .*)$`)
	column  = lateregexp.New(`^  (\S+(?: \S+)*)  +(\S.*)$`)
)

// Parse takes a script apart. Its head is the comment that it begins with:
//
//	// NAME: what it is for
//	//
//	// More text, any number of paragraphs.
//	//
//	// Output:
//	//   COLUMN   what stands in this column
//	//            and goes on here
//	//
//	// Example: gostap NAME --min 5ms
//	//   what this does
//
// An option is a global, or a macro where its value has to be known when the script is translated, with a comment of
// this form behind it; lines of comment below that are indented by three blanks go on with the text:
//
//	global min = 10000000 // --min TIME: only calls slower than TIME
//	@define program %( process %) // --program PROGRAM: in this program instead of that of -x or -c
//	@define function %( "main" %) // FUNCTION: an argument that has to be there
//	@define point %( kernel.trace("sched:*") %) // [POINT]: an argument that may be left out
//
// The word for the value says which values are taken (kinds). An option without one is off unless it is given: its
// literal is 0.
func Parse(name, subject, source string) (*Tool, error) {
	t := &Tool{Name: name, Subject: subject, File: name + ".stp", Source: source}
	bad := func(line int, format string, args ...any) (*Tool, error) {
		return nil, fmt.Errorf("%s/%s.stp:%d: %s", subject, name, line, fmt.Sprintf(format, args...))
	}
	lines := strings.SplitAfter(source, "\n")
	i := 0
	var head []string
	for ; i < len(lines) && strings.HasPrefix(lines[i], "//"); i++ {
		head = append(head, strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(lines[i], "//"), " "), " \n"))
	}
	if len(head) == 0 {
		return bad(1, "no head: its first line is // %s: what it is for", name)
	}
	own, purpose, ok := strings.Cut(head[0], ": ")
	if !ok || own != name || purpose == "" {
		return bad(1, "the head begins with // %s: what it is for", name)
	}
	t.Purpose = purpose
	if n, err := t.sections(head[1:]); err != nil {
		return bad(n+2, "%v", err)
	}
	off := 0
	for _, l := range lines[:i] {
		off += len(l)
	}
	var last *Option
	for n, l := range lines[i:] {
		text := strings.TrimRight(l, "\n")
		m := declared().FindStringSubmatchIndex(text)
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		switch more, goesOn := strings.CutPrefix(text, "//   "); {
		case m != nil:
			o := Option{Name: part(5), Place: part(6), Text: []string{part(9)}, global: part(1), macro: part(3)}
			if o.Name == "" {
				o.Place, o.Required = part(8), part(7) == ""
			}
			group := 2
			if o.macro != "" {
				group = 4
			}
			o.Default, o.start, o.end = part(group), off+m[2*group], off+m[2*group+1]
			if err := o.setKind(); err != nil {
				return bad(i+n+1, "%v", err)
			}
			if slices.ContainsFunc(t.Options, func(p Option) bool { return p.Name == o.Name && o.Name != "" }) {
				return bad(i+n+1, "--%s is declared twice", o.Name)
			}
			t.Options = append(t.Options, o)
			last = &t.Options[len(t.Options)-1]
		case goesOn && last != nil:
			last.Text = append(last.Text, more)
		default:
			last = nil
			if strings.Contains(text, "// --") {
				return bad(i+n+1, "an option is global NAME = LITERAL or @define NAME %%( LITERAL %%), and "+
					"// --name PLACE: text")
			}
		}
		off += len(l)
	}
	slices.SortStableFunc(t.Options, func(a, b Option) int {
		if (a.Name == "") == (b.Name == "") {
			return 0
		} else if b.Name == "" {
			return -1
		}
		return 1
	})
	optional := false
	for _, o := range t.Options {
		if o.Name == "" && o.Required && optional {
			return bad(1, "%s stands behind an argument that may be left out", o.Place)
		}
		optional = optional || o.Name == "" && !o.Required
	}
	return t, nil
}

// sections reads the head's lines below the first one. n is the line of an error.
func (t *Tool) sections(lines []string) (n int, err error) {
	in := ""
	for n, l := range lines {
		switch m := example().FindStringSubmatch(l); {
		case m != nil:
			in = "example"
			t.Examples = append(t.Examples, Example{Command: m[1]})
		case l == "Output:":
			in = "output"
		case l == "" && in != "":
			in = "between"
		case in == "output" && column().MatchString(l) && !strings.HasPrefix(l, "     "):
			m := column().FindStringSubmatch(l)
			t.Output = append(t.Output, Column{m[1], m[2]})
		case in == "output" && len(t.Output) > 0 && strings.HasPrefix(l, "     "):
			t.Output[len(t.Output)-1].Text += "\n" + strings.TrimSpace(l)
		case in == "example" && strings.HasPrefix(l, "  "):
			e := &t.Examples[len(t.Examples)-1]
			e.Text = append(e.Text, strings.TrimPrefix(l, "  "))
		case in == "":
			t.About = append(t.About, l)
		default:
			return n, fmt.Errorf("this line belongs to no part of the head: %q", l)
		}
	}
	for len(t.About) > 0 && t.About[0] == "" {
		t.About = t.About[1:]
	}
	for len(t.About) > 0 && t.About[len(t.About)-1] == "" {
		t.About = t.About[:len(t.About)-1]
	}
	return 0, nil
}
