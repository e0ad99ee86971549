// Command prog is traced by the tests in the virtual machine.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

//go:noinline
func traceme(a, b int) int { fmt.Print(""); return a + b }

//go:noinline
func leaf(s string, n int) int { return len(s) + n }

//go:noinline
func deep(n int) int {
	var pad [64]byte
	if n == 0 {
		return int(pad[n])
	}
	return deep(n-1) + 1 + int(pad[n%64])
}

//go:noinline
func plus(a, b int) int { return a + b }

//go:noinline
func quick(a, b int) int { return plus(a, b) + 1 }

// timed calls quick n times on each of some threads and prints what a call took, in ns.
func timed(n, threads int) {
	var wg sync.WaitGroup
	start := time.Now()
	for t := range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			for i := range n {
				quick(t, i%16)
			}
		})
	}
	wg.Wait()
	fmt.Println("call", time.Since(start).Nanoseconds()/int64(n))
}

func main() {
	if len(os.Args) > 3 && os.Args[2] == "time" {
		n, _ := strconv.Atoi(os.Args[1])
		threads, _ := strconv.Atoi(os.Args[3])
		timed(n, threads)
		return
	}
	n := 5
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	sum := 0
	for i := 0; i < n; i++ {
		sum += traceme(i, i+10)
	}
	if len(os.Args) > 2 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { deep(200); leaf("go", 1) })
		}
		wg.Wait()
	}
	fmt.Println("sum", sum, leaf("xyz", n))
}
