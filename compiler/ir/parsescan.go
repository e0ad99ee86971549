package ir

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/source"
)

// textError leaves the parser from any depth.
type textError string

// textParser holds one line at a time as tokens.
type textParser struct {
	p     *Program
	lines []string
	line  int // number of the current line, from 1
	toks  []tok
	globs map[string]int
	pos   source.Pos // of the current line
}

// tok is a token: kind 'w' word, 'i' integer, 's' string, or a punctuation byte. Words and strings have their
// text, integers their value.
type tok struct {
	kind byte
	text string
	n    int64
	glue bool // no space before it
}

func (ps *textParser) fail(format string, args ...any) {
	panic(textError(fmt.Sprintf(format, args...)))
}

// next goes to the next line that has tokens.
func (ps *textParser) next() bool {
	for ps.line < len(ps.lines) {
		ps.line++
		ps.toks, ps.pos = ps.scan(ps.lines[ps.line-1]), source.NoPos
		if n := len(ps.toks); n > 2 && ps.toks[n-2].kind == '~' && ps.toks[n-1].kind == 'i' {
			if p := ps.toks[n-1].n; p > 0 && p <= math.MaxInt32 {
				ps.pos = source.Pos(p)
			}
			ps.toks = ps.toks[:n-2]
		}
		if len(ps.toks) > 0 {
			return true
		}
	}
	return false
}

func (ps *textParser) scan(s string) []tok {
	var toks []tok
	glue := false
	for i := 0; i < len(s); {
		c := s[i]
		j := i + 1
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			glue = false
			i++
			continue
		case c == '#':
			return toks
		case c == '"':
			for j < len(s) && s[j] != '"' {
				if s[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(s) {
				ps.fail("unfinished string")
			}
			j++
			text, err := strconv.Unquote(s[i:j])
			if err != nil {
				ps.fail("bad string %s", s[i:j])
			}
			toks = append(toks, tok{'s', text, 0, glue})
		case c >= '0' && c <= '9' || c == '-' && j < len(s) && s[j] >= '0' && s[j] <= '9':
			for j < len(s) && nameByte(s[j]) {
				j++
			}
			n, err := strconv.ParseInt(s[i:j], 0, 64)
			if err != nil {
				u, err := strconv.ParseUint(s[i:j], 0, 64)
				if err != nil {
					ps.fail("bad number %s", s[i:j])
				}
				n = int64(u)
			}
			toks = append(toks, tok{'i', s[i:j], n, glue})
		case nameByte(c):
			for j < len(s) && nameByte(s[j]) {
				j++
			}
			toks = append(toks, tok{'w', s[i:j], 0, glue})
		default:
			toks = append(toks, tok{c, s[i:j], 0, glue})
		}
		i, glue = j, true
	}
	return toks
}

func (ps *textParser) peek() tok {
	if len(ps.toks) == 0 {
		return tok{}
	}
	return ps.toks[0]
}

func (ps *textParser) take() tok {
	t := ps.peek()
	if t.kind == 0 {
		ps.fail("the line ends too early")
	}
	ps.toks = ps.toks[1:]
	return t
}

// accept takes punctuation or the word s if it comes next.
func (ps *textParser) accept(s string) bool {
	if t := ps.peek(); t.kind != 0 && t.kind != 's' && t.kind != 'i' && t.text == s {
		ps.toks = ps.toks[1:]
		return true
	}
	return false
}

func (ps *textParser) want(s string) {
	if !ps.accept(s) {
		ps.fail("expected %q, found %q", s, ps.peek().text)
	}
}

func (ps *textParser) done() {
	if len(ps.toks) > 0 {
		ps.fail("unexpected %q", ps.toks[0].text)
	}
}

func (ps *textParser) int() int64 {
	t := ps.take()
	if t.kind != 'i' {
		ps.fail("expected a number, found %q", t.text)
	}
	return t.n
}

// small reads a number that counts something.
func (ps *textParser) small() int {
	n := ps.int()
	if n < 0 || n > math.MaxInt32 {
		ps.fail("%d is out of range", n)
	}
	return int(n)
}

func (ps *textParser) word() string {
	t := ps.take()
	if t.kind != 'w' {
		ps.fail("expected a word, found %q", t.text)
	}
	return t.text
}

func (ps *textParser) string() string {
	t := ps.take()
	if t.kind != 's' {
		ps.fail("expected a string, found %q", t.text)
	}
	return t.text
}

func (ps *textParser) name() string {
	t := ps.take()
	if t.kind != 'w' && t.kind != 's' {
		ps.fail("expected a name, found %q", t.text)
	}
	return t.text
}

// numbered reads a word made of prefix and a number: r3, b0.
func (ps *textParser) numbered(prefix string) int {
	w := ps.word()
	n, ok := number(w, prefix)
	if !ok {
		ps.fail("expected %s and a number, found %q", prefix, w)
	}
	return n
}

func number(w, prefix string) (int, bool) {
	d, ok := strings.CutPrefix(w, prefix)
	if !ok || len(d) == 0 || len(d) > 1 && d[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(d, 10, 24)
	return int(n), err == nil
}
