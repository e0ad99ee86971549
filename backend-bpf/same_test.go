package bpf

import (
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/layout"
)

// TestSameProgram: a script makes the same program each time, also where a handler of loops and recursive functions is
// made of steps that stop in several places.
func TestSameProgram(t *testing.T) {
	const script = `
global n, s
function f:long(x:long) { if (x <= 0) return 0; for (i = 0; i < x; i++) n += f(x - 1); s[x] = n; return n }
probe process("/bin/true").begin { t = 5 while (t > 0) { println(t, f(t), s[t]) t-- } }
`
	first := ""
	for range 20 {
		r, ds := compiler.Compile(t.Context(), compiler.Options{
			Scripts: []compiler.Script{{Name: "t.stp", Text: []byte(script)}}, Limits: layout.Default(),
		})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		a, ds := New().Build(t.Context(), r.Program, backend.BuildOptions{Name: "x"})
		r.Close()
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if first == "" {
			first = a.Listing()
		}
		if a.Listing() != first {
			t.Fatal("another program than the time before")
		}
	}
}
