package sel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/regex"
	"github.com/gostap/gostap/compiler/types"
)

// matcher is a program that matches its string "s" (at most n bytes) with patterns and leaves the results as bits of
// "bits".
func matcher(t testing.TB, n int, patterns []string) *ir.Program {
	p := &ir.Program{Limits: layout.Default()}
	p.Limits.MaxString = max(n+1, 512)
	p.AddGlobal(&ir.Global{Name: "bits", Type: types.Long})
	p.AddGlobal(&ir.Global{Name: "s", Type: types.String, Cap: n})
	b := ir.NewBuilder("")
	s, bits := b.Str("s", n), b.Long("bits")
	b.Mov(bits, ir.I(0))
	b.OnGlobal(ir.OpGGet, 1, s)
	for i, pat := range patterns {
		re, err := regex.Compile(pat)
		if err != nil {
			t.Fatal(err)
		}
		p.Regexes = append(p.Regexes, re)
		b.Op(ir.OpOr, bits, ir.R(bits), b.Bin(ir.OpShl, b.Match(i, ir.R(s)), ir.I(int64(i))))
	}
	b.OnGlobal(ir.OpGSet, 0, ir.NoReg, ir.R(bits))
	b.End()
	p.Probes = append(p.Probes, &ir.Probe{Name: "match", Handler: b.Finish(), Cond: -1,
		Sites: []*probe.Site{{Kind: probe.Uprobe}}})
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// setText sets the string of a matcher.
func (m *machine) setText(text string) {
	m.t.Helper()
	var v []byte
	sc := m.coll.Maps[plan.MapScalars]
	if err := sc.Lookup(uint32(0), &v); err != nil {
		m.t.Fatal(err)
	}
	gl := &m.lay.Globals[1]
	clear(v[gl.ValueOff:][:gl.ValueSize])
	copy(v[gl.ValueOff:], text)
	if err := sc.Put(uint32(0), v); err != nil {
		m.t.Fatal(err)
	}
}

// TestMatch compares the automata in the kernel with those of package regex, over texts of all lengths: on the stack,
// walked word by word, as a loop and as steps.
func TestMatch(t *testing.T) {
	patterns := []string{"", "b", "^b", "a$", "^$", "^a*$", "x|y(ab)+", "[^a]b{3}", "b.*x$", "^[ab]{5,9}x?$", "\xff",
		"(a|b)*a(a|b){7}x", "$^b", "^[^x]*$", "x{2}$"}
	for _, n := range []int{3, 15, 63, 64, 127, 255, 256, 511, 1100, 8191} {
		for _, may := range forms() {
			t.Run(fmt.Sprintf("%d/%v", n, may), func(t *testing.T) {
				m := newMachine(t, matcher(t, n, patterns), sel.Features{MayGoto: may})
				r := rand.New(rand.NewPCG(uint64(n), 1))
				runs := 60
				if n < 100 {
					runs = 200
				}
				for i := range runs {
					size := r.IntN(n + 1)
					switch i % 8 {
					case 0:
						size = n - i/8%2
					case 1:
						size = i / 8
					}
					text := make([]byte, min(size, n))
					letters := []string{"a", "ab", "abx", "abxy\xff\x01"}[r.IntN(4)]
					for k := range text {
						text[k] = letters[r.IntN(len(letters))]
					}
					if r.IntN(3) == 0 && len(text) > 0 {
						text[len(text)-1] = "abx"[r.IntN(3)]
					}
					m.setText(string(text))
					m.run(0)
					var v []byte
					if err := m.coll.Maps[plan.MapScalars].Lookup(uint32(0), &v); err != nil {
						t.Fatal(err)
					}
					for k, re := range m.p.Regexes {
						got := v[k/8]>>(k%8)&1 != 0
						if got != re.Match(string(text)) {
							t.Fatalf("%q in %q: kernel says %v", patterns[k], text, got)
						}
					}
				}
			})
		}
	}
}

// TestMatchLarge: the largest automaton that the language takes.
func TestMatchLarge(t *testing.T) {
	pat := strings.Repeat("[ab]", 8)
	for _, may := range forms() {
		m := newMachine(t, matcher(t, 511, []string{"^a(b|c|d|e|f|g|h|i|j|k|l|m)" + strings.Repeat("[a-z]", 100),
			"(a|b)*a" + pat + "x", strings.Repeat("abcdefghijklmnopqrstuvwxyz", 30)}), sel.Features{MayGoto: may})
		for _, text := range []string{"", strings.Repeat("ab", 200), strings.Repeat("a", 100) + "bbbbbbbbbx",
			strings.Repeat("abcdefghijklmnopqrstuvwxyz", 19)} {
			m.setText(text)
			m.run(0)
			var v []byte
			if err := m.coll.Maps[plan.MapScalars].Lookup(uint32(0), &v); err != nil {
				t.Fatal(err)
			}
			for k, re := range m.p.Regexes {
				if got := v[0]>>k&1 != 0; got != re.Match(text) {
					t.Errorf("pattern %d in %q: kernel says %v", k, text, got)
				}
			}
		}
	}
}
