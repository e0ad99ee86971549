// Command prog has functions of the shapes that the table describes.
package main

import (
	"fmt"
	"os"
	"strings"
)

// T has a method.
type T struct{ n int }

// Method is not inlined.
//
//go:noinline
func (t *T) Method(a int) int {
	return t.n + a
}

//go:noinline
func deferring(s string) {
	defer fmt.Println(s)
	if strings.Contains(s, "panic") {
		panic(s)
	}
}

func inner(x int) int { return x*x + 1 }

func middle(x int) int { return inner(x) * 3 }

//go:noinline
func caller(x int) int { return middle(x) }

// Map is generic.
//
//go:noinline
func Map[E any](s []E, f func(E) E) []E {
	for i := range s {
		s[i] = f(s[i])
	}
	return s
}

func main() {
	t := &T{len(os.Args)}
	fmt.Println(t.Method(2), caller(len(os.Args)))
	deferring("x")
	n := t.n
	fmt.Println(Map([]int{1, 2}, func(i int) int { return i + n }))
	fmt.Println(Map([]string{"a"}, strings.ToUpper))
}
