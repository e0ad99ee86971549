// Package funcname knows the names that Go's linker gives functions, and the patterns that mean them.
//
// In: the text of a probe point, names. Out: whether a name is meant, names without their type arguments.
package funcname

import (
	"bytes"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// Pattern matches function names. It is the text of a probe point: an exact name or a glob.
//
// Go's names hold characters that globs use, so these stand for themselves:
//
//	main.(*T).M              the star behind a parenthesis and before a name
//	main.Map[go.shape.int]   brackets with type arguments
//
// and these have a meaning of their own:
//
//	main.Map[...]            any type arguments; so does main.Map, without brackets
//	yaml.v3                  also what the linker writes as yaml%2ev3
type Pattern struct {
	Text   string
	Glob   bool // holds * ? or a class
	Args   bool // says something about type arguments
	toks   []token
	prefix string // what every match begins with
}

type tokenKind uint8

const (
	litTok   tokenKind = iota
	starTok            // any bytes
	anyTok             // one byte
	classTok           // one byte of a set
	argsTok            // one balanced pair of brackets
)

type token struct {
	kind tokenKind
	lit  string // of litTok; the class without its brackets
}

// Parse reads a pattern; any text is one.
func Parse(s string) *Pattern {
	p := &Pattern{Text: s}
	var lit strings.Builder
	add := func(t token) {
		if lit.Len() > 0 {
			p.toks = append(p.toks, token{litTok, lit.String()})
			lit.Reset()
		}
		p.toks = append(p.toks, t)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i+1 < len(s) {
				i++
			}
			lit.WriteByte(s[i])
		case '*':
			if i > 0 && s[i-1] == '(' && i+1 < len(s) && s[i+1] != ')' {
				lit.WriteByte('*')
				continue
			}
			p.Glob = true
			add(token{kind: starTok})
		case '?':
			p.Glob = true
			add(token{kind: anyTok})
		case '[':
			inner, ok := brackets(s[i:])
			switch {
			case !ok:
				lit.WriteByte('[')
			case inner == "...":
				p.Args = true
				add(token{kind: argsTok})
				i += len(inner) + 1
			case typeArgs(inner):
				p.Args = true
				lit.WriteString(s[i : i+len(inner)+2])
				i += len(inner) + 1
			default:
				end := classEnd(s[i:])
				if end < 0 {
					lit.WriteByte('[')
					continue
				}
				p.Glob = true
				add(token{classTok, s[i+1 : i+end]})
				i += end
			}
		default:
			lit.WriteByte(c)
		}
	}
	if lit.Len() > 0 {
		p.toks = append(p.toks, token{litTok, lit.String()})
	}
	if len(p.toks) > 0 && p.toks[0].kind == litTok {
		p.prefix = p.toks[0].lit
	}
	return p
}

// brackets gives what is between the bracket that s begins with and its counterpart.
func brackets(s string) (string, bool) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return s[1:i], true
			}
		}
	}
	return "", false
}

// classEnd is the index of the bracket that ends the class that s begins with, -1 if none does.
func classEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	if j := strings.IndexByte(s[i:], ']'); j >= 0 {
		return i + j
	}
	return -1
}

// predeclared are Go's types without a package.
const predeclared = " bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string " +
	"uint uint16 uint32 uint64 uint8 uintptr any "

// typeArgs reports whether what is between brackets can only be type arguments.
func typeArgs(s string) bool {
	return strings.ContainsAny(s, ".,*[{") || strings.Contains(predeclared, " "+s+" ")
}

// Match reports whether a function's linker name is meant.
func (p *Pattern) Match(name []byte) bool {
	if len(p.toks) == 1 && p.toks[0].kind == starTok {
		return true
	}
	// Most names are told apart by their beginnings: where a name leaves that of the pattern, only type arguments or an
	// escape before that place can make it match.
	k := 0
	for k < len(p.prefix) && k < len(name) && name[k] == p.prefix[k] {
		k++
	}
	if k < len(p.prefix) {
		head := name[:min(k+1, len(name))]
		if bytes.IndexByte(head, '%') < 0 && (p.Args || bytes.IndexByte(head, '[') < 0) {
			return false
		}
	}
	if bytes.IndexByte(name, '%') >= 0 {
		if plain := pclntab.Unescape(name); !bytes.Equal(plain, name) && p.Match(plain) {
			return true
		}
	}
	if matchTokens(p.toks, name) {
		return true
	}
	if !p.Args && bytes.IndexByte(name, '[') >= 0 {
		return matchTokens(p.toks, StripArgs(name))
	}
	return false
}

func matchTokens(toks []token, s []byte) bool {
	// Positions to return to when a later part fails: behind the last star.
	star, from := -1, 0
	t, i := 0, 0
	for {
		if t == len(toks) {
			if i == len(s) {
				return true
			}
		} else {
			switch tok := toks[t]; tok.kind {
			case starTok:
				star, from = t, i
				t++
				continue
			case litTok:
				if n := len(tok.lit); len(s)-i >= n && string(s[i:i+n]) == tok.lit {
					i += n
					t++
					continue
				}
			case anyTok:
				if i < len(s) {
					i++
					t++
					continue
				}
			case classTok:
				if i < len(s) && inClass(tok.lit, s[i]) {
					i++
					t++
					continue
				}
			case argsTok:
				if n := balanced(s[i:]); n > 0 {
					i += n
					t++
					continue
				}
			}
		}
		if star < 0 || from >= len(s) {
			return false
		}
		from++
		t, i = star+1, from
	}
}

// balanced is the length of the pair of brackets that s begins with, 0 if there is none.
func balanced(s []byte) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			if c == ']' {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

func inClass(set string, c byte) bool {
	not := false
	if set != "" && (set[0] == '!' || set[0] == '^') {
		not, set = true, set[1:]
	}
	in := false
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			in = in || set[i] <= c && c <= set[i+2]
			i += 2
			continue
		}
		in = in || set[i] == c
	}
	return in != not
}

// StripArgs leaves the type arguments out of a name: "main.(*List[go.shape.int]).Push" is
// "main.(*List).Push".
func StripArgs(name []byte) []byte {
	if bytes.IndexByte(name, '[') < 0 {
		return name
	}
	out := make([]byte, 0, len(name))
	depth := 0
	for _, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	return out
}
