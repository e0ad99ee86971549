// Command prog is traced by the tests in the virtual machine.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
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

func main() {
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
