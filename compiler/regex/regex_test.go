package regex

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pat, text string
		want      []int
	}{
		{"", "abc", []int{0, 0}},
		{"b", "abc", []int{1, 2}},
		{"^b", "abc", nil},
		{"^a", "abc", []int{0, 1}},
		{"c$", "abc", []int{2, 3}},
		{"b$", "abc", nil},
		{"^$", "", []int{0, 0}},
		{"^$", "x", nil},
		{"a|ab|abc", "xabcd", []int{1, 4}},
		{"a*", "baaa", []int{0, 0}},
		{"a+", "baaa", []int{1, 4}},
		{"a{2}", "baaa", []int{1, 3}},
		{"a{2,}", "baaa", []int{1, 4}},
		{"a{1,2}b", "aaab", []int{1, 4}},
		{`x\{`, "x{", []int{0, 2}},
		{"x[{]}", "x{}", []int{0, 3}},
		{"a{300}", strings.Repeat("a", 301), []int{0, 300}},
		{"[[:digit:]]+", "ab123c", []int{2, 5}},
		{"[^a-c]", "abcd", []int{3, 4}},
		{"[]a]+", "x]a]", []int{1, 4}},
		{"[a-]+", "x-a-", []int{1, 4}},
		{`[\]x]+`, "]x]", []int{0, 3}},
		{`a\.b`, "axb a.b", []int{4, 7}},
		{"(a)(b)?", "ac", []int{0, 1, 0, 1, -1, -1}},
		{"([a-z]+)=([a-z]+)", "key=val", []int{0, 7, 0, 3, 4, 7}},
		{"(?:ab)+(c)", "ababc", []int{0, 5, 4, 5}},
		{"(a|b)*c", "abac", []int{0, 4, 2, 3}},
		{"\xff", "a\xff", []int{1, 2}},
	} {
		r, err := Compile(c.pat)
		if err != nil {
			t.Errorf("%q: %v", c.pat, err)
			continue
		}
		if got := r.Find(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %q: %v, want %v", c.pat, c.text, got, c.want)
		}
		if got := r.Match(c.text); got != (c.want != nil) {
			t.Errorf("%q in %q: automaton says %v", c.pat, c.text, got)
		}
		if got := r.DFA.Table().Match(c.text); got != (c.want != nil) {
			t.Errorf("%q in %q: table says %v", c.pat, c.text, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		pat, want string
		off       int
	}{
		{"(a", "no ) for this (", 0}, {"a)", "no ( for this )", 1}, {"*a", "nothing in front of *", 0},
		{"a|+", "nothing in front of +", 2},
		{"[a", "no ] for this [", 0}, {"[[:foo:]]", "no class [:foo:]", 1}, {"[z-a]", "runs backwards", 1},
		{"a{3,2}", "below the lower", 1},
		{"a{1001}", "more than 1000", 1}, {"a{", "no } for this {", 1}, {"a{1,2", "no } for this {", 1},
		{"a{}", "no number of repetitions", 1},
		{"a{x}", "no number of repetitions", 1}, {"{", "nothing in front of {", 0}, {"^*", "* repeats ^", 1},
		{"a$+", "+ repeats $", 2}, {"^{2}", "{ repeats ^", 1}, {"a{,3}", "lower bound is missing", 1},
		{`a\`, "nothing behind the backslash", 1}, {`\d`, "write [[:digit:]]", 0},
		{`(a)\1`, "references back", 3}, {"[[.a.]]", "not in this language", 1}, {"(?=a)", "(? is followed by :", 0},
		{`\q`, "not in this language", 0},
		{"((a{200}){200})", "too large", 0}, {"(a|b)*a(a|b){12}", "too large", 0},
		{strings.Repeat("a", 2000), "longer than", 0},
		{"{2}", "nothing in front of {", 0},
	} {
		_, err := Compile(c.pat)
		e, ok := err.(*Error)
		if !ok || !strings.Contains(e.Msg, c.want) || e.Off != c.off {
			t.Errorf("%q: %v (%+v), want %q at %d", c.pat, err, e, c.want, c.off)
		}
	}
}

// TestMinimal: the number of states is the least possible, Lost and Found among them.
func TestMinimal(t *testing.T) {
	for _, c := range []struct {
		pat    string
		states int
	}{{"", 2}, {"a", 3}, {"^a", 3}, {"ab", 4}, {"a|b|c|d", 3}, {"(ab|cb)", 4}, {"a$", 4}} {
		r, err := Compile(c.pat)
		if err != nil {
			t.Fatal(err)
		}
		if r.DFA.States != c.states {
			t.Errorf("%q: %d states, want %d", c.pat, r.DFA.States, c.states)
		}
	}
}

// FuzzMatch compares with Go's expressions in POSIX mode over ASCII texts.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"(a|ab)(c|bcd)(d*)", "abcd"}, {"^(a*)*b$", "aab"}, {"[[:alpha:]_]+[0-9]{1,3}", "x_12345"}, {"(^|b)a", "ba"},
		{"a.c$|^x", "abc"},
		{"((a)|b)+?", "ab"}, {"(a$)|(a.)", "aa"}, {"()*", "x"}, {"(a|b|){2,3}c", "abc"}, {"(^a)*b", "aab"},
		{"x*$", "axx"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pat, text string) {
		if len(pat) > 60 || len(text) > 60 || strings.IndexFunc(text+pat, func(r rune) bool {
			return r == 0 || r > 126 || r < ' '
		}) >= 0 {
			if r, err := Compile(pat); err == nil {
				r.Find(text) // must not panic
				if got, want := r.DFA.Table().Match(text), r.Match(text); got != want &&
					!strings.Contains(text, "\x00") {
					t.Fatalf("%q in %q: table says %v, automaton %v", pat, text, got, want)
				}
			}
			return
		}
		r, err := Compile(pat)
		if err != nil {
			return
		}
		want, err := regexp.CompilePOSIX(pat)
		if err != nil {
			return
		}
		if got := r.Match(text); got != want.MatchString(text) {
			t.Fatalf("%q in %q: automaton says %v", pat, text, got)
		}
		if got := r.DFA.Table().Match(text); got != want.MatchString(text) {
			t.Fatalf("%q in %q: table says %v", pat, text, got)
		}
		got, oracle := r.Find(text), want.FindStringIndex(text)
		if (got == nil) != (oracle == nil) || got != nil && (got[0] != oracle[0] || got[1] != oracle[1]) {
			t.Fatalf("%q in %q: found %v, want %v", pat, text, got, oracle)
		}
		for i := 2; i < len(got); i += 2 {
			if got[i] >= 0 && (got[i] > got[i+1] || got[i] < got[0] || got[i+1] > got[1]) {
				t.Fatalf("%q in %q: group %d is %v", pat, text, i/2, got)
			}
		}
	})
}
