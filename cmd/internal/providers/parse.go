package providers

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
)

// mostArgs is how many arguments a mark can have (struct pt_regs and sys/sdt.h know no more than twelve).
const mostArgs = 12

// provider is a provider of a file with its marks.
type provider struct {
	name  string
	marks []mark
}

// mark is a probe of a provider. Its name is as in the file: "query__start".
type mark struct {
	name string
	args []arg
}

// arg is an argument: its type in C, and its name, "" if it has none.
type arg struct{ typ, name string }

// token is a word, a number or a sign; at is where it begins.
type token struct {
	text string
	at   int
}

// parser reads a file of providers (the D language of DTrace, as far as it describes providers).
type parser struct {
	file *source.File
	list []token
	next int
}

// parse gives the providers of a file. An error is a *diag.Diagnostic.
func parse(file *source.File) (out []provider, err error) {
	p := &parser{file: file}
	if p.list, err = p.tokens(string(file.Text)); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for !p.ended() {
		t := p.peek()
		if t.text != "provider" {
			if err := p.skip(); err != nil { // typedefs and structures
				return nil, err
			}
			continue
		}
		p.next++
		pr, err := p.provider()
		if err != nil {
			return nil, err
		}
		for _, m := range pr.marks {
			if key := pr.name + " " + m.name; seen[key] {
				return nil, p.errorf(t, "provider %s has two probes %s", pr.name, m.name)
			} else {
				seen[key] = true
			}
		}
		out = append(out, pr)
	}
	if len(out) == 0 {
		d := p.errorf(token{at: 0}, "the file has no provider")
		if len(p.list) > 0 && len(diag.Nearest(p.list[0].text, []string{"provider"}, 1)) > 0 {
			return nil, p.errorf(p.list[0], "the file has no provider").Hintf("did you mean provider?")
		}
		return nil, d.Hintf("provider app { probe start(int id, char *name); };")
	}
	return out, nil
}

func (p *parser) errorf(t token, format string, args ...any) *diag.Diagnostic {
	n := max(1, len(t.text))
	at := min(t.at, max(0, p.file.Size()-1))
	sp := source.Span{From: p.file.Pos(at), To: p.file.Pos(min(at+n, p.file.Size()))}
	return &diag.Diagnostic{Phase: diag.Parse, Span: sp, Message: fmt.Sprintf(format, args...)}
}

func word(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// tokens cuts text into tokens. Comments and the lines of the preprocessor are left out.
func (p *parser) tokens(s string) (out []token, err error) {
	fresh := true // nothing stands before on this line
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\n':
			fresh = true
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
		case strings.HasPrefix(s[i:], "/*"):
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return nil, p.errorf(token{"/*", i}, "the comment has no end")
			}
			i += n + 4
		case strings.HasPrefix(s[i:], "//"), c == '#' && fresh:
			for i < len(s) && s[i] != '\n' {
				if s[i] == '\\' && i+1 < len(s) {
					i++
				}
				i++
			}
		case word(c):
			n := i
			for n < len(s) && word(s[n]) {
				n++
			}
			out = append(out, token{s[i:n], i})
			i, fresh = n, false
		default:
			out = append(out, token{s[i : i+1], i})
			i, fresh = i+1, false
		}
	}
	return out, nil
}

func (p *parser) ended() bool { return p.next >= len(p.list) }

// peek is the next token, one without text behind the last.
func (p *parser) peek() token {
	if p.ended() {
		return token{"", p.file.Size()}
	}
	return p.list[p.next]
}

// shown is a token as messages name it.
func shown(t token) string {
	if t.text == "" {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", t.text)
}

func (p *parser) expect(text, what string) error {
	t := p.peek()
	if t.text != text {
		return p.errorf(t, "expected %q %s, found %s", text, what, shown(t))
	}
	p.next++
	return nil
}

// ident takes a name.
func (p *parser) ident(what string) (string, error) {
	t := p.peek()
	if t.text == "" || !word(t.text[0]) || t.text[0] >= '0' && t.text[0] <= '9' {
		return "", p.errorf(t, "expected the name of %s, found %s", what, shown(t))
	}
	p.next++
	return t.text, nil
}

// skip passes over a declaration, up to its semicolon.
func (p *parser) skip() error {
	first := p.peek()
	for depth := 0; ; p.next++ {
		switch t := p.peek(); t.text {
		case "":
			d := p.errorf(first, "the declaration has no end")
			if near := diag.Nearest(first.text, []string{"provider"}, 1); len(near) > 0 {
				d.Hintf("did you mean provider?")
			}
			return d
		case "{":
			depth++
		case "}":
			depth--
		case ";":
			if depth <= 0 {
				p.next++
				return nil
			}
		case "provider", "probe":
			if depth <= 0 {
				return p.errorf(first, "the declaration has no semicolon before %q", t.text)
			}
		}
	}
}

// provider reads what follows the word provider.
func (p *parser) provider() (pr provider, err error) {
	if pr.name, err = p.ident("a provider"); err != nil {
		return pr, err
	}
	if err := p.expect("{", "behind the provider's name"); err != nil {
		return pr, err
	}
	for p.peek().text != "}" {
		if t := p.peek(); t.text != "probe" {
			d := p.errorf(t, "expected probe or }, found %s", shown(t))
			return pr, d.Hintf("probe start(int id, char *name);")
		}
		p.next++
		m, err := p.mark()
		if err != nil {
			return pr, err
		}
		pr.marks = append(pr.marks, m)
	}
	p.next++
	if p.peek().text == ";" { // DTrace wants it, many leave it out
		p.next++
	}
	return pr, nil
}

// mark reads what follows the word probe: "name (type name, ...);", or "name;".
func (p *parser) mark() (m mark, err error) {
	at := p.peek()
	if m.name, err = p.ident("a probe"); err != nil {
		return m, err
	}
	if p.peek().text == ";" {
		p.next++
		return m, nil
	}
	if err := p.expect("(", "behind the probe's name"); err != nil {
		return m, err
	}
	var part []token
	end := func() {
		if a := argument(part); a.typ != "" && (a.typ != "void" || a.name != "") {
			m.args = append(m.args, a)
		}
		part = nil
	}
	for depth := 0; ; p.next++ {
		t := p.peek()
		switch {
		case t.text == "" || t.text == ";" || t.text == "{" || t.text == "}":
			return m, p.errorf(t, "expected \")\" behind the arguments of %s, found %s", m.name, shown(t))
		case t.text == "," && depth == 0:
			if len(part) == 0 {
				return m, p.errorf(t, "expected an argument, found \",\"")
			}
			end()
			continue
		case t.text == ")" && depth == 0:
			end()
			p.next++
			if len(m.args) > mostArgs {
				return m, p.errorf(at, "probe %s has %d arguments, and %d is the most", m.name, len(m.args), mostArgs)
			}
			if p.peek().text == ":" { // the translated arguments of DTrace are of no use here
				for t := p.peek().text; t != ";" && t != "}" && t != ""; t = p.peek().text {
					p.next++
				}
			}
			return m, p.expect(";", "behind the probe")
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth--
		}
		part = append(part, t)
	}
}

// typeWords are words of C's types that are no names of arguments.
var typeWords = map[string]bool{"void": true, "char": true, "short": true, "int": true, "long": true, "float": true,
	"double": true, "signed": true, "unsigned": true, "_Bool": true, "bool": true, "const": true, "volatile": true,
	"restrict": true, "string": true}

// argument divides a parameter into type and name: the name is the last word in front of brackets, unless that is all
// there is, or belongs to the type.
func argument(part []token) arg {
	name := -1
	for i, t := range part {
		if t.text == "[" {
			break
		}
		if !word(t.text[0]) || typeWords[t.text] {
			continue
		}
		named := i > 0
		if i > 0 {
			if before := part[i-1].text; before == "struct" || before == "union" || before == "enum" {
				named = false
			} else if only(part[:i], "const", "volatile", "restrict") {
				named = false
			}
		}
		if named {
			name = i
		}
	}
	var a arg
	var words []string
	for i, t := range part {
		if i == name {
			a.name = t.text
			continue
		}
		words = append(words, t.text)
	}
	a.typ = strings.Join(words, " ")
	for _, r := range [][2]string{{"* *", "**"}, {" [ ", "["}, {"[ ", "["}, {" ]", "]"}} {
		a.typ = strings.ReplaceAll(a.typ, r[0], r[1])
	}
	return a
}

// only reports whether all tokens are among words.
func only(part []token, words ...string) bool {
	for _, t := range part {
		found := false
		for _, w := range words {
			found = found || t.text == w
		}
		if !found {
			return false
		}
	}
	return true
}
