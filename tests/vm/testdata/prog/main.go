// Command prog is traced by the tests in the virtual machine.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
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

// timedBlock is how many calls are timed at once: about half a millisecond of a CPU that runs an instruction in a
// nanosecond, so that most blocks have no timer tick and no other thread in them.
const timedBlock = 500

// timed calls quick n times on each of some threads and prints what a call took, in ns: the median over blocks of calls.
func timed(n, threads int) {
	var wg sync.WaitGroup
	took := make([][]int64, threads)
	for t := range threads {
		took[t] = make([]int64, 0, n/timedBlock+1)
		wg.Go(func() {
			runtime.LockOSThread()
			for done := 0; done < n; {
				block := min(timedBlock, n-done)
				start := time.Now()
				for i := range block {
					quick(t, (done+i)%16)
				}
				took[t] = append(took[t], time.Since(start).Nanoseconds()/int64(block))
				done += block
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Println("call", all[len(all)/2], "blocks", all[0], "to", all[len(all)-1])
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
