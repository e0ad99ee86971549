package godwarf

import "testing"

const unfinishedSource = `package main

import "os"

var calls int

//go:noinline
func get(n int) (*int, int) { return &n, n * 3 }

//go:noinline
func use(n int) { calls++ }

//go:noinline
func bump(p *int) { *p += 7 }

func small(a, b int) int { if a > b { return a - b }; _, x := get(b); return x - a }

//go:noinline
func selected(n int) int {
	_, x := get(n)
	_, y := get(x)
	use(x)
	if y > 0 {
		x = x + 26
	}
	use(1) // selected x=29
	get(x)
	return y
}

//go:noinline
func inlined(n int) int {
	if a, x := get(n); x > 100 {
		n = *a
	}
	n = small(n, n)
	b := &[1]int{3} // inlined n=2
	use(2)          // inlined n=2
	get(n + b[0])
	return n
}

//go:noinline
func taken(p int, q string) int {
	q = ("z" + q)[p&1:]
	use(p)
	bump(&p)
	use(3) // taken p=8
	use(p) // taken p=8
	return p + len(q)
}

//go:noinline
func later(n, m int) int {
	_, x := get(n)
	b, _ := get(m)
	use(x)
	for k := 0; k < 1; k++ {
		c := 17 & m // later x=3
		_, x = get(*b)
		if x > 0 {
			get(c)
			use(x) // later x=9
		}
		use(*b)
	}
	return m
}

//go:noinline
func grown(n int, s string, f float64) int {
	n, _ = two(5) // grown n=1 s="abc" f=2.5
	var big [1 << 16]byte
	fill(&big)
	return int(big[n])
}

//go:noinline
func two(n int) (int, int) { return n, n }

//go:noinline
func fill(b *[1 << 16]byte) { b[1] = 3 }

func main() {
	n := len(os.Args)
	s := "abcde"[:n+2]
	done := make(chan int)
	go func() { done <- grown(n, s, float64(n)+1.5) }()
	use(selected(n) + inlined(n) + taken(n, s) + later(n, n+2) + <-done)
	for range 2 {
		use(grown(n, s, float64(n)+1.5))
	}
}
`

// TestUnfinished asks for variables that the compiler's location lists have wrong: those that are assigned to by code
// that comes behind the next line's, or by way of their addresses, and arguments that nothing uses, when the
// stack has to grow.
func TestUnfinished(t *testing.T) {
	im, _ := imageOf(t, unfinishedSource)
	known, _ := heldAgainst(t, im, unfinishedSource)
	if known["grown"] == 0 {
		t.Errorf("known: %v", known)
	}
}
