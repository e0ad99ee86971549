// Package scoped knows the names of functions in C++ and Rust: what a linker's symbol means (shop::Cart::add for
// _ZN4shop4Cart3addEi), and which of them a pattern of a script means. It is the only user of the demangler.
//
// A pattern with :: is compared scope by scope from the end, as in stap: Cart::add is shop::Cart::add too, shop::*
// is everything directly in shop. :: in front says that nothing stands before. Arguments of templates and types of
// parameters need not be written.
package scoped

import (
	"path"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Mangled reports whether a symbol looks like one of a C++ or Rust compiler.
func Mangled(symbol string) bool {
	return len(symbol) > 2 && symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R')
}

// Name gives the name with its scopes that a symbol stands for, without the types of parameters; the symbol itself
// if it is of no such compiler.
func Name(symbol string) string {
	if !Mangled(symbol) {
		return symbol
	}
	// 8 kB: hostile ones grow without end
	s, err := demangle.ToString(symbol, demangle.NoParams, demangle.MaxLength(13))
	if err != nil || s == "" {
		return symbol
	}
	return s
}

// Pattern is what a script names functions by.
type Pattern struct {
	scopes   []string
	absolute bool
	// word is what every symbol contains whose name matches, "" if that is not known.
	word string
}

// Parse reads a pattern, nil if it has no scopes and is of no operator: names of other functions are in their symbols
// as they are.
func Parse(s string) *Pattern {
	if !strings.Contains(s, "::") && !operator(s) {
		return nil
	}
	p := &Pattern{}
	s, p.absolute = strings.CutPrefix(s, "::")
	p.scopes = split(s)
	for _, part := range p.scopes {
		if w := literal(part); len(w) > len(p.word) {
			p.word = w
		}
	}
	return p
}

// operator reports whether a name can be that of an operator: "operator new", "operator==", "* new*".
func operator(s string) bool {
	rest, ok := strings.CutPrefix(s, "operator")
	return strings.Contains(s, " ") || ok && rest != "" && rest[0] != '_' && (rest[0] < '0' || rest[0] > '9') &&
		(rest[0]|0x20 < 'a' || rest[0]|0x20 > 'z')
}

// literal gives the longest identifier in part that its symbol holds as it is, "" if there is none.
func literal(part string) string {
	// What compilers have abbreviations or other words for.
	if strings.ContainsAny(part, "({<[ ") || strings.HasPrefix(part, "operator") {
		return ""
	}
	best := ""
	for _, w := range strings.FieldsFunc(part, func(r rune) bool { return r == '*' || r == '?' || r == '~' }) {
		switch w {
		case "std", "allocator", "string", "basic_string", "istream", "ostream", "iostream", "basic_istream",
			"basic_ostream", "basic_iostream":
			continue
		}
		for i := 0; i < len(w); i++ {
			if c := w[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return best // not ASCII: Rust's symbols have it in another form
			}
		}
		if len(w) > len(best) {
			best = w
		}
	}
	return best
}

// Match reports whether a symbol is of a function that p means.
func (p *Pattern) Match(symbol string) bool {
	if !Mangled(symbol) || !strings.Contains(symbol, p.word) {
		return false
	}
	name := Name(symbol)
	return name != symbol && p.MatchName(name)
}

// Last is a pattern of the last scope, as DWARF has it: with the arguments of a template or without.
func (p *Pattern) Last() string {
	last := p.scopes[len(p.scopes)-1]
	if strings.HasPrefix(last, "operator") || strings.ContainsAny(last, "{(") {
		return "*"
	}
	last, _, _ = strings.Cut(last, "<")
	return last + "*"
}

// MatchName is Match for a name with scopes.
func (p *Pattern) MatchName(name string) bool {
	have := split(name)
	// impl blocks of Rust: <shop::Cart>::add and <shop::Cart as shop::Item>::add are shop::Cart::add too.
	if len(have) > 1 && strings.HasPrefix(have[0], "<") && strings.HasSuffix(have[0], ">") {
		inner := have[0][1 : len(have[0])-1]
		if i := outside(inner, " as "); i >= 0 {
			inner = inner[:i]
		}
		if p.match(append(split(inner), have[1:]...)) {
			return true
		}
	}
	return p.match(have)
}

func (p *Pattern) match(have []string) bool {
	n := len(p.scopes)
	if n > len(have) || p.absolute && n != len(have) {
		return false
	}
	for i, want := range p.scopes {
		if !one(want, have[len(have)-n+i]) {
			return false
		}
	}
	return true
}

// one compares one scope, with the arguments of its template or without.
func one(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	bare := name
	if !strings.HasPrefix(name, "operator") && !strings.HasPrefix(name, "<") {
		if i := strings.IndexByte(name, '<'); i > 0 {
			bare = name[:i]
		}
	}
	if pattern == bare {
		return true
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	hide := strings.NewReplacer("/", "\x01")
	for _, s := range []string{name, bare} {
		if ok, _ := path.Match(hide.Replace(pattern), hide.Replace(s)); ok {
			return true
		}
	}
	return false
}

// split takes a name apart at the :: that stand in no brackets.
func split(name string) []string {
	var out []string
	for {
		i := outside(name, "::")
		if i < 0 {
			return append(out, name)
		}
		if i > 0 { // Rust: name::<T> gives its arguments behind a :: of their own
			out = append(out, name[:i])
		}
		name = name[i+2:]
		if strings.HasPrefix(name, "<") && len(out) > 0 && outside(name, "::") < 0 && strings.HasSuffix(name, ">") {
			out[len(out)-1] += name
			return out
		}
	}
}

// outside finds sep where it stands in no brackets, -1 if it does not.
func outside(s, sep string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		if depth == 0 && strings.HasPrefix(s[i:], sep) {
			return i
		}
		if rest, ok := strings.CutPrefix(s[i:], "operator"); ok {
			// The signs of operators are no brackets.
			i += len("operator") - 1
			for _, op := range []string{"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "<",
				">"} {
				if strings.HasPrefix(rest, op) {
					i += len(op)
					break
				}
			}
			continue
		}
		switch s[i] {
		case '<', '(', '[', '{':
			depth++
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue
			}
			depth--
		case ')', ']', '}':
			depth--
		}
	}
	return -1
}
