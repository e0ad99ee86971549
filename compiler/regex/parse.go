package regex

import (
	"fmt"
	"strings"
)

// Error is a mistake in a pattern.
type Error struct {
	// Off is the byte of the pattern that it stands at.
	Off int
	Msg string
}

func (e *Error) Error() string { return e.Msg }

// set is a set of bytes.
type set [4]uint64

func (s *set) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

func (s *set) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s.add(byte(c))
	}
}

func (s *set) negate() {
	for i := range s {
		s[i] = ^s[i]
	}
}

type kind uint8

const (
	kEmpty kind = iota
	kSet
	kBegin
	kEnd
	kCat
	kAlt
	kRepeat
	kGroup
)

// node is a part of a pattern.
type node struct {
	kind kind
	set  set
	subs []*node
	// min and max are those of kRepeat; max is -1 for any number.
	min, max int
	group    int
}

// Bounds of what is taken in, so that no pattern takes long.
const (
	maxPattern = 1024
	maxRepeat  = 1000
	maxDepth   = 100
)

type parser struct {
	s      string
	at     int
	groups int
	depth  int
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(&Error{Off: at, Msg: fmt.Sprintf(format, args...)})
}

// parse makes the tree of a pattern.
func parse(s string) (n *node, groups int, err error) {
	if len(s) > maxPattern {
		return nil, 0, &Error{Msg: fmt.Sprintf("the pattern is longer than %d bytes", maxPattern)}
	}
	p := &parser{s: s}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			n, err = nil, e
		}
	}()
	n = p.alt()
	if p.at < len(s) {
		p.fail(p.at, "there is no ( for this )")
	}
	return n, p.groups, nil
}

func (p *parser) more() bool { return p.at < len(p.s) }

func (p *parser) accept(c byte) bool {
	if p.more() && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) alt() *node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.at, "groups are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	n := &node{kind: kAlt, subs: []*node{p.cat()}}
	for p.accept('|') {
		n.subs = append(n.subs, p.cat())
	}
	if len(n.subs) == 1 {
		return n.subs[0]
	}
	return n
}

func (p *parser) cat() *node {
	n := &node{kind: kCat}
	for p.more() && p.s[p.at] != '|' && p.s[p.at] != ')' {
		n.subs = append(n.subs, p.repeat())
	}
	return n
}

func (p *parser) repeat() *node {
	start := p.at
	n := p.atom()
	for p.more() {
		r := &node{kind: kRepeat, subs: []*node{n}, max: -1}
		switch c := p.s[p.at]; c {
		case '*', '+', '?', '{':
			if n.kind == kBegin || n.kind == kEnd {
				p.fail(p.at, "%c repeats %s, which stands for no character", c, p.s[start:p.at])
			}
		}
		switch c := p.s[p.at]; c {
		case '*':
			p.at++
		case '+':
			p.at++
			r.min = 1
		case '?':
			p.at++
			r.max = 1
		case '{':
			p.bounds(r)
		default:
			return n
		}
		if p.at-start > maxPattern {
			p.fail(start, "too many repetitions")
		}
		n = r
	}
	return n
}

// bounds reads {m}, {m,} and {m,n}.
func (p *parser) bounds(r *node) {
	start := p.at
	rest := p.s[p.at+1:]
	end := strings.IndexByte(rest, '}')
	switch {
	case end < 0:
		p.fail(start, "there is no } for this {, which stands for itself as \\\\{")
	case end == 0 || rest[0] != ',' && !digit(rest[0]):
		p.fail(start, "{%s} is no number of repetitions; a { stands for itself as \\\\{", rest[:end])
	}
	lo, hi, comma := strings.Cut(rest[:end], ",")
	num := func(s string) int {
		n := 0
		for i := 0; i < len(s); i++ {
			if !digit(s[i]) {
				p.fail(start, "{%s} is no number of repetitions", rest[:end])
			}
			if n = n*10 + int(s[i]-'0'); n > maxRepeat {
				p.fail(start, "{%s}: more than %d repetitions", rest[:end], maxRepeat)
			}
		}
		return n
	}
	if lo == "" {
		p.fail(start, "{%s}: the lower bound is missing, {0%s}", rest[:end], rest[:end])
	}
	r.min = num(lo)
	switch {
	case !comma:
		r.max = r.min
	case hi != "":
		if r.max = num(hi); r.max < r.min {
			p.fail(start, "{%s}: the upper bound is below the lower one", rest[:end])
		}
	}
	p.at += end + 2
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func one(c byte) *node {
	n := &node{kind: kSet}
	n.set.add(c)
	return n
}

func (p *parser) atom() *node {
	at := p.at
	c := p.s[p.at]
	p.at++
	switch c {
	case '(':
		n := &node{kind: kGroup}
		if strings.HasPrefix(p.s[p.at:], "?:") {
			p.at += 2
		} else {
			if p.more() && p.s[p.at] == '?' {
				p.fail(at, "(? is followed by : for a group that is not counted, nothing else")
			}
			p.groups++
			n.group = p.groups
		}
		n.subs = []*node{p.alt()}
		if !p.accept(')') {
			p.fail(at, "there is no ) for this (")
		}
		if n.group == 0 {
			return n.subs[0]
		}
		return n
	case '.':
		n := &node{kind: kSet}
		n.set.addRange(1, 255)
		return n
	case '[':
		return p.bracket(at)
	case '^':
		return &node{kind: kBegin}
	case '$':
		return &node{kind: kEnd}
	case '*', '+', '?':
		p.fail(at, "there is nothing in front of %c to repeat", c)
	case '{':
		p.fail(at, "there is nothing in front of { to repeat; it stands for itself as \\\\{")
	case '\\':
		return one(p.escape(at))
	}
	return one(c)
}

// escape reads what is behind a backslash: a sign that stands for itself or one of \a \f \n \r \t \v.
func (p *parser) escape(at int) byte {
	if !p.more() {
		p.fail(at, "there is nothing behind the backslash")
	}
	c := p.s[p.at]
	p.at++
	if i := strings.IndexByte("afnrtv", c); i >= 0 {
		return "\a\f\n\r\t\v"[i]
	}
	switch {
	case digit(c):
		p.fail(at, `\%c: references back to a group are not in this language`, c)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		if class := map[byte]string{'d': "[[:digit:]]", 'w': "[[:alnum:]_]", 's': "[[:space:]]", 'D': "[^[:digit:]]",
			'W': "[^[:alnum:]_]", 'S': "[^[:space:]]"}[c]; class != "" {
			p.fail(at, `\%c is not in this language; write %s`, c, class)
		}
		p.fail(at, `\%c is not in this language`, c)
	}
	return c
}

// classes are the named sets of bytes of the C locale.
var classes = map[string][]byte{
	"alnum": []byte("09AZaz"), "alpha": []byte("AZaz"), "blank": []byte("  \t\t"), "cntrl": {1, 31, 127, 127},
	"digit": []byte("09"),
	"graph": []byte("!~"), "lower": []byte("az"), "print": []byte(" ~"), "punct": []byte("!/:@[`{~"),
	"space": []byte("  \t\r"),
	"upper": []byte("AZ"), "xdigit": []byte("09AFaf"), "word": []byte("09AZaz__"),
}

func (p *parser) bracket(at int) *node {
	n := &node{kind: kSet}
	negated := p.accept('^')
	for first := true; ; first = false {
		if !p.more() {
			p.fail(at, "there is no ] for this [")
		}
		if p.s[p.at] == ']' && !first {
			p.at++
			break
		}
		start := p.at
		if rest := p.s[p.at:]; len(rest) > 1 && rest[0] == '[' && strings.IndexByte(":.=", rest[1]) >= 0 {
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if end < 0 && rest[1] == ':' {
				p.fail(start, "there is no :] for this [:")
			}
			if end >= 0 {
				name := rest[2 : 2+end]
				if rest[1] != ':' {
					p.fail(start, "%s is not in this language", rest[:end+4])
				}
				class, ok := classes[name]
				if !ok {
					p.fail(start, "there is no class [:%s:]", name)
				}
				for i := 0; i < len(class); i += 2 {
					n.set.addRange(class[i], class[i+1])
				}
				p.at += end + 4
				continue
			}
		}
		lo := p.member(start)
		hi := lo
		if rest := p.s[p.at:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			p.at++
			if hi = p.member(p.at); hi < lo {
				p.fail(start, "%s: the range runs backwards", p.s[start:p.at])
			}
		}
		n.set.addRange(lo, hi)
	}
	if negated {
		n.set.negate()
	}
	n.set[0] &^= 1 // no string holds a NUL
	return n
}

func (p *parser) member(at int) byte {
	c := p.s[p.at]
	p.at++
	if c == '\\' {
		return p.escape(at)
	}
	return c
}
