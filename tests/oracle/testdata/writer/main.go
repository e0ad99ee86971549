// A program that writes to maps and a slice without a pause while it gives them to functions that only gostap looks at.
// Keys up to 15 never change: k has 3k+1. All others come and go, and have 3k+1 or, before that is written, 0.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
)

type item struct {
	Key, Val int
	Next     *item
}

//go:noinline
func numbers(m map[int]int, k int, i int) int { return i }

//go:noinline
func texts(m map[string]*item, k string, i int) int { return i }

//go:noinline
func ring(r *item, list *[]item, i int) int { return i }

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.SetGCPercent(5)
	byNumber, byText := map[int]int{}, map[string]*item{}
	key := func(k int) string { return fmt.Sprintf("key-%d", k) }
	for k := range 16 {
		byNumber[k], byText[key(k)] = 3*k+1, &item{Key: k, Val: 3*k + 1}
	}
	first := &item{Key: 1, Val: 4}
	first.Next = first
	list := &[]item{}
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		for n := 0; !stop.Load(); n++ {
			most := 1 << (n % 12)
			for k := 1000; k < 1000+most; k++ {
				byNumber[k] = 3*k + 1
				byText[key(k)] = &item{Key: k, Val: 3*k + 1}
				first.Next = &item{Key: k, Val: 3*k + 1, Next: first}
				*list = append(*list, item{Key: k, Val: 3*k + 1})
			}
			for k := 1000; k < 1000+most; k++ {
				delete(byNumber, k)
				delete(byText, key(k))
			}
			first.Next, *list = first, nil
			if n%8 == 0 {
				runtime.GC()
			}
		}
		close(done)
	}()
	sum := 0
	for i := range rounds {
		sum += numbers(byNumber, i%16, i) + texts(byText, key(i%16), i) + ring(first, list, i)
	}
	stop.Store(true)
	<-done
	if sum < 0 {
		println(sum)
	}
}
