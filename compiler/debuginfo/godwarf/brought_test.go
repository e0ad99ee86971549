package godwarf

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const broughtSource = `package main

import "os"

//go:noinline
func use(n int) {}

//go:noinline
func uses(s string) {}

//go:noinline
func zero(p int, q string) int {
	d := len(q) + p
	e := len(q) + p
	use(p)
	a := d ^ e
	b := d - e
	c := e ^ d
	k := p
	use(d) // zero a=0 b=0 c=0 k=1
	f := p - a
	g := p - b
	h := p - c
	use(f) // zero a=0 f=1 g=1 h=1 k=1
	use(g)
	use(h)
	uses(q)
	use(e)
	return d + k
}

func main() {
	use(zero(len(os.Args), os.Args[0]))
}
`

// TestBrought asks for variables that turn out to be constants only after others: a and g are where the parts of q are
// in the debug information of Go 1.26, k is p.
func TestBrought(t *testing.T) {
	im, _ := imageOf(t, broughtSource)
	hooks := map[uint64]func(*thread){}
	known := map[string]int{}
	for i, l := range strings.Split(broughtSource, "\n") {
		_, note, ok := strings.Cut(l, "// zero ")
		if !ok {
			continue
		}
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main.zero", Line: i + 1})
		if err != nil || len(sites) != 1 {
			t.Fatal(i+1, sites, err)
		}
		hooks[sites[0].PC] = func(th *thread) {
			for word := range strings.FieldsSeq(note) {
				name, want, _ := strings.Cut(word, "=")
				v, err := im.Var(sites[0], name)
				if err != nil {
					continue
				}
				known[name]++
				if got := th.show(v); got != want {
					t.Errorf("line %d: %s is %s, want %s", i+1, name, got, want)
				}
			}
		}
	}
	run(t, im, hooks)
	if known["k"] != 2 {
		t.Errorf("known: %v", known)
	}
}
