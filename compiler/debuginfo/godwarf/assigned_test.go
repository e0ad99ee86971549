package godwarf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const assignedSource = `package main

import "os"

//go:noinline
func get(n int) (*int, int) { return &n, n * 3 }

//go:noinline
func use(n int) {}

//go:noinline
func call(n int) int {
	a, x := get(n)
	use(x)
	use(x)
	b, x := get(n + 1)
	if x > 0 { // call x=6
		use(9) // call x=6
		return *b + *a
	}
	return *a
}

//go:noinline
func add(n int) int {
	_, x := get(n)
	use(1)
	use(x)
	x += n
	use(2) // add x=4
	use(3) // add x=4
	return x * x
}

//go:noinline
func constant(n int) int {
	_, x := get(n)
	use(x)
	k := x
	x = 7
	use(4) // constant x=7
	x = k
	use(5) // constant x=3
	use(x)
	return x
}

//go:noinline
func swap(n int) int {
	_, x := get(n)
	_, y := get(n + 1)
	use(x) // swap x=3 y=6
	x, y = y, x
	use(y) // swap x=6 y=3
	use(x) // swap x=6 y=3
	return x - y
}

//go:noinline
func once(n int) int {
	_, x := get(n)
	use(1) // once x=3
	use(x) // once x=3
	return x
}

//go:noinline
func last(n int) int {
	_, x := get(n)
	use(x)
	_, x = get(n + 1)
	use(x) // last x=6
	use(1) // last x=6
	return x
}

//go:noinline
func stored(n int) int {
	_, x := get(n)
	use(x)
	for k := range n * 2 {
		_, x = get(n + k - k)
		use(1) // stored x=3
		use(2) // stored x=3
	}
	use(x)
	return x
}

func main() {
	n := len(os.Args)
	use(call(n) + add(n) + constant(n) + swap(n) + once(n) + last(n) + stored(n))
}
`

// TestAssigned asks for variables behind assignments that the compiler's location lists do not know of: there the list
// names the place of the value from before. What is known is right, and without doubt it is known.
func TestAssigned(t *testing.T) {
	im, path := imageOf(t, assignedSource)
	known, told := heldAgainst(t, im, assignedSource)
	if known["once"] < 2 || known["last"] == 0 || known["stored"] < 4 || told == 0 {
		t.Errorf("known: %v, %d other lines", known, told)
	}
	// Without the source nobody knows that a variable is assigned to again.
	os.Remove(filepath.Join(filepath.Dir(path), "main.go"))
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	above, _, _ := strings.Cut(assignedSource, "if x > 0")
	fs, err := im.LineSites(debuginfo.LineQuery{Func: "main.call", Line: 1 + strings.Count(above, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := im.Var(fs[0], "x"); err != nil {
		t.Errorf("without the source: %v", err)
	}
}

// heldAgainst compares variables with what comments of a source say ("// function name=value"). It gives how many were
// known, by function, and how many lines are told in which others are.
func heldAgainst(t *testing.T, im *Image, source string) (known map[string]int, told int) {
	hooks := map[uint64]func(*thread){}
	known = map[string]int{}
	for i, l := range strings.Split(source, "\n") {
		_, note, ok := strings.Cut(l, "// ")
		if !ok {
			continue
		}
		words := strings.Fields(note)
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "main." + words[0], Line: i + 1})
		if err != nil || len(sites) != 1 {
			t.Fatal(i+1, sites, err)
		}
		var checks []func(*thread)
		for _, word := range words[1:] {
			name, want, _ := strings.Cut(word, "=")
			v, err := im.Var(sites[0], name)
			var nl *debuginfo.NotLiveError
			if errors.As(err, &nl) {
				told += len(nl.Lines)
				for _, l := range nl.Lines {
					there, err := im.LineSites(debuginfo.LineQuery{Func: "main." + words[0], Line: l})
					if err != nil || len(there) != 1 {
						t.Fatal(l, there, err)
					}
					if _, err := im.Var(there[0], name); err != nil {
						t.Errorf("line %d: %s can be read in line %d, and there: %v", i+1, name, l, err)
					}
				}
			} else if err == nil {
				checks = append(checks, func(th *thread) {
					th.lost = false
					if got := th.show(v); th.lost {
						return
					} else if known[words[0]]++; got != want {
						t.Errorf("line %d: %s is %s, want %s", i+1, name, got, want)
					}
				})
			}
		}
		hooks[sites[0].PC] = func(th *thread) {
			for _, c := range checks {
				c(th)
			}
		}
	}
	run(t, im, hooks)
	return known, told
}
