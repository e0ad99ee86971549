// Command rich has functions with parameters and results of all kinds, for tests of
// target variables.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

type Kind uint8

type Inner struct {
	Depth int32
	Tag   string
}

type Pt struct {
	X int32
	Y int64
	S string
}

type Node struct {
	*Inner
	Name  string
	Kids  []*Node
	Attrs map[string]int
	Pt    Pt
	Arr   [4]int16
	K     Kind
	OK    bool
	F     float64
	Err   error
	Next  *Node
}

//go:noinline
func ints(a int8, b uint16, c int32, d uint64, e bool, k Kind) (r1 int16, r2 uint32) {
	return int16(a) - 1, uint32(c) + 7
}

//go:noinline
func strs(s string, bs []byte, ss []string) string {
	return strings.ToUpper(s) + string(bs) + ss[len(ss)-1]
}

//go:noinline
func structs(p Pt, q *Pt, one [1]int, two [2]int) (Pt, error) {
	return Pt{p.X + 1, q.Y + int64(two[1]), p.S + q.S}, errors.New("no")
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int) (int, int, int, int, int, int, int, int, int, int) {
	return a, b, c, d, e, f, g, h, i, j + k
}

//go:noinline
func floats(x float64, n int, y float32) (float64, int) { return x * 2, n }

//go:noinline
func iface(v any, e error, w fmt.Stringer) any { return v }

//go:noinline
func maps(m map[string]int, c chan int, f func(int) int) int { return len(m) + f(1) }

func (n *Node) Visit(depth int) (count int, err error) {
	count = 1
	for _, k := range n.Kids {
		c, e := k.Visit(depth + 1)
		count += c
		if e != nil {
			err = e
		}
	}
	return
}

//go:noinline
func (k Kind) String() string { return fmt.Sprint("kind ", uint8(k)) }

//go:noinline
func Map[T, U any](in []T, f func(T) U) []U {
	var out []U
	for _, x := range in {
		out = append(out, f(x))
	}
	return out
}

//go:noinline
func deferred(n int) (res int, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = -1, fmt.Errorf("got %v", r)
		}
	}()
	if n > 1 {
		panic("big")
	}
	return n, nil
}

//go:noinline
func escape(n int) *int { n++; return &n }

func small(a, b int) int { return a*3 + b }

//go:noinline
func variadic(pre string, xs ...int) (sum int) {
	for _, x := range xs {
		sum += small(x, len(pre))
	}
	return
}

func main() {
	r1, r2 := ints(-3, 65535, -2, 1<<63, true, 9)
	fmt.Println(r1, r2)
	fmt.Println(strs("héllo", []byte("by"), []string{"x", "last"}))
	fmt.Println(structs(Pt{1, 2, "p"}, &Pt{3, 4, "q"}, [1]int{5}, [2]int{6, 7}))
	fmt.Println(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
	fmt.Println(floats(1.5, 4, 2.5))
	fmt.Println(iface(42, errors.New("e"), Kind(3)))
	fmt.Println(maps(map[string]int{"a": 1}, make(chan int), func(i int) int { return i }))
	n := &Node{Inner: &Inner{7, "tag"}, Name: "root", Arr: [4]int16{1, -2, 3, -4}, K: 5, OK: true, F: 2.5, Pt: Pt{-1, -2, "pt"}}
	n.Kids = []*Node{{Name: "kid", Next: n}, {Name: "kid2"}}
	fmt.Println(n.Visit(0))
	fmt.Println(Map([]int{1, 2}, func(i int) string { return fmt.Sprint(i) }))
	fmt.Println(Map([]string{"a"}, func(s string) int { return len(s) }))
	fmt.Println(deferred(1))
	fmt.Println(deferred(2))
	fmt.Println(*escape(4))
	fmt.Println(variadic("ab", 1, 2, 3))
	if len(os.Args) > 5 {
		n.Visit(len(os.Args))
	}
}
