package funcname

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
)

// slow is Match without looking at the beginnings of names first.
func slow(p *Pattern, name []byte) bool {
	plain := pclntab.Unescape(name)
	return matchTokens(p.toks, name) || !p.Args && matchTokens(p.toks, StripArgs(name)) ||
		!bytes.Equal(plain, name) && slow(p, plain)
}

// TestMatchBeginnings compares Match with slow, for patterns and names of few letters.
func TestMatchBeginnings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(pieces ...string) string {
		s := ""
		for range r.IntN(7) {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	matched := 0
	for range 300000 {
		p := Parse(text("a", "b", ".", "*", "(*a)", "[int]", "[...]", "?", "%2e", "[ab]"))
		name := []byte(text("a", "b", ".", "(*a)", "[int]", "[...]", "[", "]", "%2e", "%"))
		want := slow(p, name)
		if got := p.Match(name); got != want {
			t.Fatalf("%q and %q: %v, want %v", p.Text, name, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d names matched", matched)
	}
}
