// A program for BenchmarkValues: "values err CALLS" and "values map ELEMENTS CALLS". It prints what a call takes of a
// processor, and for maps what it takes itself to look a key up.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

type NotFound struct {
	Code int
	Key  string
}

func (e *NotFound) Error() string { return e.Key }

//go:noinline
func find(i int, err error) int {
	if i < 0 {
		println(err)
	}
	return i + 1
}

//go:noinline
func text(i int, m map[string]int, k string) int {
	if i < 0 {
		println(m, k)
	}
	return i + 1
}

//go:noinline
func number(i int, m map[int]int, k int) int {
	if i < 0 {
		println(m, k)
	}
	return i + 1
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

var sum int

func main() {
	arg := func(i int) int {
		n, err := strconv.Atoi(os.Args[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	if os.Args[1] == "err" {
		calls, err := arg(2), error(&NotFound{404, "ab"})
		before := cpu()
		for i := range calls {
			sum += find(i, err)
		}
		fmt.Printf("cpu_ns_per_call %.1f\n", (cpu()-before)/float64(calls))
		return
	}
	n, calls := arg(2), arg(3)
	byText, byNumber, keys := make(map[string]int), make(map[int]int), make([]string, n)
	for i := range n {
		keys[i] = fmt.Sprintf("key-%07d", i)
		byText[keys[i]], byNumber[i] = i, i
	}
	measure := func(name string, f func(i, at int)) {
		before, at := cpu(), 1
		for i := range calls {
			at = (at*1103515245 + 12345) & (1<<31 - 1)
			f(i, at%n)
		}
		fmt.Printf("%s %.1f\n", name, (cpu()-before)/float64(calls))
	}
	measure("bare", func(i, at int) { sum += len(keys[at]) })
	measure("own_text", func(i, at int) { sum += byText[keys[at]] })
	measure("own_number", func(i, at int) { sum += byNumber[at] })
	measure("call_text", func(i, at int) { sum += text(i, byText, keys[at]) })
	measure("call_number", func(i, at int) { sum += number(i, byNumber, at) })
}
