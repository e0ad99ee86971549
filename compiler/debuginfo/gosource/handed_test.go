package gosource

import (
	"strings"
	"testing"
)

const handedSource = `package p

var global = 3

func f(p int, q string, s struct{ x, y int }, b, c bool) {
	copied := p            // p
	again := copied        // p
	sum := p + p           // none
	of := sum              // none
	zero := len(q) ^ p     // none
	length := len(q)       // q
	part := q[1:]          // q
	field := s.y           // s
	one, two := p, q       // one p, two q
	inlined := g(p+1, q)   // p q
	both := b && (c)       // b c
	not := !b              // none
	var spec = int64(p)    // p
	named := global        // none
	later := 1             // q
	later = len(q)
	for k, v := range q {  // k q, v q
	}
	func(n int) {
		inner := p         // outside
		own := n           // n
	}(p)
}
`

// TestHanded asks which arguments the variables of a function may be.
func TestHanded(t *testing.T) {
	f, err := Parse("p.go", []byte(handedSource))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(handedSource, "\n") {
		code, note, ok := strings.Cut(l, "// ")
		if !ok {
			continue
		}
		for want := range strings.SplitSeq(note, ", ") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(code), "var "))
			name := words[0]
			if strings.Contains(note, ", ") {
				name, want, _ = strings.Cut(want, " ")
			}
			from, outside, ok := f.Handed(name, i+1)
			if !ok {
				t.Errorf("line %d: no %s", i+1, name)
			}
			var got []string
			for _, o := range from {
				got = append(got, o.Name)
			}
			if outside {
				got = append(got, "outside")
			}
			if got == nil {
				got = []string{"none"}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("line %d: %s may be %v, want %s", i+1, name, got, want)
			}
		}
	}
	if _, _, ok := f.Handed("p", 6); ok {
		t.Error("p is declared in line 6")
	}
}
