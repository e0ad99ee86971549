// Bare has functions whose arguments are hard to place without DWARF.
package main

import (
	"fmt"
	"io"
	"os"
	"unsafe"
)

var sink int

//go:noinline
func smallArray(a [2]uint8, b uint8) { sink += int(b) }

//go:noinline
func smallArrayUsed(a [2]uint8, b uint8) { sink += int(a[1]) + int(b) }

//go:noinline
func smallWords(a uint8, b uint16, c bool) { sink += int(b) }

//go:noinline
func wordArray(a [2]int, b int) { sink += a[0] + b }

//go:noinline
func oneArray(a [1]int, b int) { sink += a[0] + b }

//go:noinline
func floatUnused(a float64, b int) { sink += b }

//go:noinline
func floatFirst(a float64, b int) { sink += int(a) + b }

//go:noinline
func intThenFloat(a int, b float32) { sink += a + int(b) }

//go:noinline
func complexes(a complex64, b complex128, c int) { sink += int(real(a)) + int(imag(b)) + c }

//go:noinline
func unused(a, b int, c string) { sink++ }

//go:noinline
func blank(_ int, b string, _ float64, d int) { sink += len(b) + d }

//go:noinline
func empty(a struct{}, b int, c [0]int, d string) { sink += b + len(d) }

//go:noinline
func nested(a struct {
	X int8
	Y struct {
		F float32
		S string
	}
	Z [1]uint16
}, b *int) {
	sink += int(a.X) + len(a.Y.S) + *b
}

//go:noinline
func variadic(a string, b ...int) { sink += len(a) + len(b) }

//go:noinline
func spills(a, b, c, d, e, f, g, h int, s string, k int8) { sink += a + h + len(s) + int(k) }

//go:noinline
func large(a [20]int, b, c int) { fmt.Fprint(io.Discard, a[3], b, c) }

//go:noinline
func floats(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64, q int) {
	fmt.Fprint(io.Discard, a+p, q)
}

//go:noinline
func pointers(a unsafe.Pointer, b func() int, c chan int, d map[string]int, e any, f error) {
	fmt.Fprint(io.Discard, b(), len(c), len(d), e, f)
}

//go:nosplit
//go:noinline
func nosplit(a int, b float64, c string) int { return a + len(c) }

type base struct{ n int }

//go:noinline
func (b *base) Grow(by int8, s string) (int, error) {
	b.n += int(by)
	fmt.Fprint(io.Discard, s)
	return b.n, nil
}

// Outer has a method of its own, and one that it has of what it embeds.
type outer struct {
	pad [3]string
	*base
}

//go:noinline
func (o *outer) Shrink(by float32) (s string, ok bool) {
	fmt.Fprint(io.Discard, by)
	return o.pad[0], by > 0
}

type number float64

//go:noinline
func (n number) Grow(by int8, s string) (int, error) {
	fmt.Fprint(io.Discard, by, s)
	return int(n), io.EOF
}

type triple [3]int

//go:noinline
func (t triple) Grow(by int8, s string) (int, error) { fmt.Fprint(io.Discard, by, s); return t[1], nil }

type nothing struct{}

//go:noinline
func (nothing) Grow(by int8, s string) (int, error) { fmt.Fprint(io.Discard, by, s); return 0, nil }

type headers map[string][]string

//go:noinline
func (h headers) Grow(by int8, s string) (int, error) {
	fmt.Fprint(io.Discard, by, s)
	return len(h), nil
}

type call func(int8) int

//go:noinline
func (f call) Grow(by int8, s string) (int, error) { fmt.Fprint(io.Discard, s); return f(by), nil }

type seq struct{ all func(func(int) bool) }

// Grow returns out of a loop over a function.
//
//go:noinline
func (q seq) Grow(by int8, s string) (int, error) {
	for n := range q.all {
		if n > int(by) {
			return n, nil
		}
	}
	return 0, io.EOF
}

//go:noinline
func each(yield func(int) bool) { _ = yield(1) && yield(7) }

func inlinedEach(yield func(int) bool) { _ = yield(1) && yield(7) }

type inlinedSeq struct{}

// Grow returns out of a loop whose body is inlined with the function that it goes over.
//
//go:noinline
func (q inlinedSeq) Grow(by int8, s string) (int, error) {
	for n := range inlinedEach {
		if n > int(by) {
			return n, nil
		}
	}
	return 0, io.EOF
}

type grower interface {
	Grow(by int8, s string) (int, error)
}

type list[T any] struct{ all []T }

//go:noinline
func (l *list[T]) Grow(by int8, s string) (int, error) {
	fmt.Fprint(io.Discard, by, s)
	return len(l.all), nil
}

//go:noinline
func (l list[T]) Put(v T, n int) int { fmt.Fprint(io.Discard, v); return n }

//go:noinline
func apply[K comparable, V any](k K, v V, f func(K, V) int) int {
	fmt.Fprint(io.Discard, k)
	return f(k, v)
}

// local declares a type with the name of one of the package, and with a method of the same name.
//
//go:noinline
func local() grower {
	type hidden struct {
		x, y string
		*base
	}
	return &hidden{"a", "b", &base{1}}
}

type hidden struct{ z int }

//go:noinline
func (h *hidden) Grow(by int8, s string) (int, error) { fmt.Fprint(io.Discard, by, s); return h.z, nil }

//go:noinline
func (h *hidden) Other(k int) int { fmt.Fprint(io.Discard, k); return h.z + k }

//go:noinline
func growers() []grower {
	return []grower{&base{2}, &outer{base: &base{3}}, number(2.5), triple{1, 2, 3}, nothing{}, headers{"a": nil},
		call(func(b int8) int { return int(b) + len(os.Args) }), &list[string]{}, &list[int16]{},
		seq{each}, inlinedSeq{}, local()}
}

func main() {
	n := 1
	smallArray([2]uint8{1, 2}, 3)
	smallArrayUsed([2]uint8{1, 2}, 3)
	smallWords(1, 2, true)
	wordArray([2]int{1, 2}, 3)
	oneArray([1]int{1}, 3)
	floatUnused(1, 2)
	floatFirst(1, 2)
	intThenFloat(1, 2)
	complexes(1, 2i, 3)
	unused(1, 2, "x")
	blank(1, "x", 2, 3)
	empty(struct{}{}, 1, [0]int{}, "x")
	nested(struct {
		X int8
		Y struct {
			F float32
			S string
		}
		Z [1]uint16
	}{}, &n)
	variadic("x", 1, 2)
	spills(1, 2, 3, 4, 5, 6, 7, 8, "x", 9)
	large([20]int{}, 1, 2)
	floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
	pointers(unsafe.Pointer(&n), func() int { return n }, nil, nil, n, nil)
	fmt.Println(nosplit(1, 2, "x"), sink)
	for _, g := range growers() {
		fmt.Println(g.Grow(1, "x"))
		if s, ok := g.(interface{ Shrink(float32) (string, bool) }); ok {
			fmt.Println(s.Shrink(1))
		}
	}
	l := list[string]{}
	fmt.Println(l.Put("a", 1), list[int16]{}.Put(1, 2), apply(1, "a", func(k int, v string) int { return k + len(v) }))
	h := &hidden{z: 3}
	fmt.Println(h.Other(2))
	fmt.Println(h.Grow(2, "x"))
}
