// Command shapes has a function of every shape that the reader of Go programs must know.
// Line numbers matter to the tests.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/godwarf/testdata/shapes/vec"
)

// Point has padding behind a.
type Point struct {
	a int32
	b int64
	s string
}

// Server has methods, and fields of most kinds.
type Server struct {
	Point
	name  string
	conns map[string]int
	log   io.Writer
	next  *Server
	fn    func(int) int
	ch    chan int
	tags  [4]string
	ok    bool
	ratio float64
}

//go:noinline
func traceme(a int, b int) (ret int) {
	return a + b
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int) (int, int, int, int, int, int, int, int, int, int) {
	return k, j, i, h, g, f, e, d, c, b + a
}

//go:noinline
func text(s string, l []byte, m map[string]int, e error, any any) (string, error) {
	if len(l) > 10 {
		return s + s, e
	}
	return s, fmt.Errorf("%v %v %v", m, e, any)
}

//go:noinline
func structs(p Point, q *Point, one [1]int, two [2]int) Point {
	p.b += q.b + int64(one[0]+two[1])
	return p
}

//go:noinline
func floats(x float64, n int, y float32, c complex128) (float64, int) {
	return x + float64(y) + real(c), n
}

//go:noinline
func unnamed(int, string) (bool, error) {
	return len(os.Args) > 5, nil
}

//go:noinline
func blank(_ int, b int, _ string, d int) (_ int, err error) {
	return b + d, errors.New("blank")
}

// Handle is a method with a pointer receiver.
//
//go:noinline
func (s *Server) Handle(req string, n int) (err error) {
	if n > 3 {
		return errors.New(req)
	}
	s.conns[req] += n
	return nil
}

// Len is a method with a value receiver.
//
//go:noinline
func (p Point) Len(scale int) int {
	return len(p.s) * scale
}

// Lener is what Len implements.
type Lener interface{ Len(int) int }

// Map is generic.
//
//go:noinline
func Map[E, R any](s []E, f func(E) R) []R {
	var out []R
	for _, e := range s {
		out = append(out, f(e))
	}
	return out
}

// List is a generic type.
type List[E any] struct {
	items []E
}

// Push adds an item.
//
//go:noinline
func (l *List[E]) Push(e E) int {
	l.items = append(l.items, e)
	return len(l.items)
}

//go:noinline
func recurse(n int) int {
	var room [256]byte
	room[n&255] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return recurse(n-1) + int(room[n&255])
}

//go:noinline
func recovers(n int) (res int, err error) {
	defer func() {
		if r := recover(); r != nil {
			res, err = -1, fmt.Errorf("recovered: %v", r)
		}
	}()
	if n > 2 {
		panic("too many")
	}
	return n, nil
}

//go:noinline
func large(n int) (sum int) {
	var room [6000]int
	for i := range room {
		room[i] = i * n
	}
	for _, v := range room {
		sum += v
	}
	return sum
}

//go:noinline
func huge(n int) int {
	var room [200000]byte
	fill(room[:], byte(n))
	return int(room[n])
}

//go:noinline
func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

//go:noinline
func escapes(x int) (res *int) {
	y := x * 2
	res = &y
	banner = fmt.Sprint(&x, &res)[:0]
	return res
}

//go:noinline
func counter(base int, step string) func(int) int {
	total := 0
	return func(n int) int {
		total += n*base + len(step)
		return total // captured
	}
}

//go:noinline
func never(n int) {
	fmt.Fprintln(os.Stderr, "never", n)
	os.Exit(n)
	panic("unreachable")
}

func small(a int, s string) int {
	return a*3 + len(s)
}

func middle(v int) int {
	w := small(v, "four")
	return w + small(v+1, "three")
}

//go:noinline
func outer(n int) int {
	total := middle(n)
	total += small(total, strings.Repeat("x", n))
	return total
}

func onlyInlined(z int) int { return z ^ 0x55 }

func digits(v int) (n int) {
	for v > 0 {
		v /= 10
		n++
	}
	return n
}

func clamp(v, limit int) int {
	if v > limit {
		return limit
	}
	return v
}

//go:noinline
func loops(list []int) (sum int) {
	for _, v := range list {
		sum += clamp(v, 50) * 2
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i]%2 == 0 {
			sum += digits(list[i])
		}
	}
	return sum
}

//go:noinline
func spin(p *int) {
	for *p == 0 {
	}
}

//go:noinline
func statements(n int, names []string) int {
	count := 0
	for i, name := range names {
		length := len(name)
		if length > n {
			count += length
			keep(count, i)
		}
	}
	keep(count, n)
	return count
}

//go:noinline
func keep(a, b int) { sink += a ^ b }

var sink int

var (
	answer  = 42
	servers = []*Server{}
	banner  string
	sums    = vec.Sum // its address makes the compiler write a wrapper
)

func main() {
	s := &Server{Point: Point{1, 2, "pt"}, name: "srv", conns: map[string]int{}, log: os.Stdout, ch: make(chan int, 1)}
	servers = append(servers, s)
	fmt.Println("traceme", traceme(1, 2))
	fmt.Println(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
	fmt.Println(text("str", []byte("bytes"), map[string]int{"k": 7}, errors.New("err"), 12))
	fmt.Println(structs(Point{3, 4, "five"}, &s.Point, [1]int{6}, [2]int{7, 8}))
	fmt.Println(floats(1.5, 9, 2.5, 3i))
	fmt.Println(unnamed(13, "un"))
	fmt.Println(blank(14, 15, "bl", 16))
	fmt.Println(s.Handle("req", 2), s.Handle("bad", 5))
	var l Lener = s.Point
	fmt.Println(l.Len(3))
	l = &s.Point
	fmt.Println(l.Len(4))
	fmt.Println(Map([]int{1, 2}, func(i int) string { return strings.Repeat("m", i) }))
	fmt.Println(Map([]string{"a"}, strings.ToUpper))
	li := &List[string]{}
	fmt.Println(li.Push("p"), li.Push("q"), (&List[int]{}).Push(3))
	fmt.Println(recurse(200))
	fmt.Println(recovers(1))
	fmt.Println(recovers(3))
	fmt.Println(large(2), huge(3))
	fmt.Println(*escapes(21))
	c := counter(10, "step")
	fmt.Println(c(1), c(2))
	fmt.Println(outer(2), onlyInlined(len(os.Args)))
	one := 1
	spin(&one)
	fmt.Println(loops([]int{7, 12, 333, 60, 4444}))
	fmt.Println(statements(2, []string{"a", "bcd", "efgh"}), sink, answer, banner)
	fmt.Println(sums(1, 2, []int64{3, 4}))
	fmt.Println(vec.Product(6, 7))
	done := make(chan bool)
	go func(id int, name string) {
		fmt.Println("goroutine", id, name)
		done <- true
	}(7, "worker")
	<-done
	for runtime.NumGoroutine() > 1 { // until it has returned
		runtime.Gosched()
	}
	if len(os.Args) > 9 {
		never(1)
	}
}
