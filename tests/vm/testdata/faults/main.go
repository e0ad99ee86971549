// Command faults serves calls from goroutines whose stacks grow and are copied while garbage is collected, and counts
// how their results come out.
//
//	faults N        N calls, then the counts
//	faults N FILE   makes FILE when the first call has failed, then serves until a thousand calls in a row went well, N at
//	                least
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Reply is a result that leads to memory of the heap.
type Reply struct {
	ID   int
	Text []byte
}

// ErrInjected is what nobody returns.
var ErrInjected = errors.New("injected")

var calls, failed, ended, wrong, row atomic.Int64

//go:noinline
func serve(id int, name string) (*Reply, error) {
	if id < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return &Reply{id, []byte(name)}, nil
}

// deep calls serve with n frames below it, so that stacks grow.
//
//go:noinline
func deep(n, id int, name string) (*Reply, error) {
	var pad [64]byte
	pad[id&63] = byte(n)
	if n > 0 {
		r, err := deep(n-1, id, name)
		runtime.KeepAlive(&pad)
		return r, err
	}
	return serve(id, name)
}

func once(id int, file string) {
	r, err := deep(id*7%60, id, strconv.Itoa(id))
	calls.Add(1)
	row.Add(1)
	switch {
	case err == ErrInjected && r == nil || err == io.EOF && r == nil:
		if row.Store(0); err == io.EOF {
			ended.Add(1)
		}
		if failed.Add(1) == 1 && file != "" {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				panic(err)
			}
		}
	case err != nil || r.ID != id || string(r.Text) != strconv.Itoa(id):
		wrong.Add(1)
	}
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	file := ""
	if len(os.Args) > 2 {
		file = os.Args[2]
	}
	more := func() bool { return file != "" && (failed.Load() == 0 || row.Load() < 1000) }
	const served = 8
	var wg sync.WaitGroup
	for g := range served {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < n/served || more(); {
				done := make(chan bool)
				go func() { // with a stack that is small again
					defer close(done)
					for range 25 {
						once(i*served+g, file)
						i++
					}
				}()
				<-done
				if i%100 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	wg.Wait()
	fmt.Println("calls", calls.Load(), "failed", failed.Load(), "ended", ended.Load(), "wrong", wrong.Load())
}
