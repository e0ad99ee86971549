package godwarf

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const hiddenSource = `package main

import "os"

//go:noinline
func get(n int) (int, int) { return n + 1, n * 3 }

//go:noinline
func use(n int) {}

//go:noinline
func argument(p int) int {
	use(p) // argument p=1
	if p > 0 {
		use(p) // argument p=1
		a, p := get(p + 8)
		_ = p
		use(a) // argument p=27
		use(7) // argument p=27
	}
	use(p) // argument p=1
	return p
}

//go:noinline
func local(n int) int {
	x, _ := get(n)
	use(x) // local x=2
	for i := range 2 {
		use(x + i) // local x=2
		x, y := get(x + 3)
		_ = x
		use(y) // local x=6
		use(8) // local x=6
	}
	use(3) // local x=2
	return x * x
}

//go:noinline
func named(n int) (r int) {
	r, _ = get(n)
	use(r) // named r=2
	if r, ok := get(n + 4); ok > 0 {
		_ = r
		use(ok) // named r=6
	}
	use(9) // named r=2
	return r
}

func main() {
	n := len(os.Args)
	use(argument(n) + local(n) + named(n))
}
`

// TestHidden asks for variables where several have one name: the one that is meant, or none.
func TestHidden(t *testing.T) {
	im, _ := imageOf(t, hiddenSource)
	hooks := map[uint64]func(*thread){}
	known := map[string]int{}
	for i, l := range strings.Split(hiddenSource, "\n") {
		_, note, ok := strings.Cut(l, "// ")
		if !ok {
			continue
		}
		fn, word, _ := strings.Cut(note, " ")
		name, want, _ := strings.Cut(word, "=")
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main." + fn, Line: i + 1})
		if err != nil || len(sites) != 1 {
			t.Fatal(i+1, sites, err)
		}
		all, err := im.Vars(sites[0])
		n := 0
		for _, x := range all {
			if x.Name == name {
				n++
			}
		}
		if err != nil || n != 1 {
			t.Errorf("line %d: %d variables %s, %v", i+1, n, name, err)
		}
		v, err := im.Var(sites[0], name)
		if err != nil {
			t.Logf("line %d: %v", i+1, err)
			continue
		}
		hooks[sites[0].PC] = func(th *thread) {
			known[fn]++
			if got := th.show(v); got != want {
				t.Errorf("line %d: %s is %s, want %s", i+1, name, got, want)
			}
		}
	}
	run(t, im, hooks)
	if known["argument"] < 2 || known["local"] < 4 {
		t.Errorf("known: %v", known)
	}
}
