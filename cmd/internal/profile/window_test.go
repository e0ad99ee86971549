package profile

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export"
)

// TestEnd: what ends a profile first is its end.
func TestEnd(t *testing.T) {
	for _, c := range []struct{ ended, exit, want int64 }{{5, 0, 5}, {5, 7, 5}, {7, 5, 5}, {0, 5, 5}} {
		if got := (&window{ended: c.ended}).end(c.exit); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if now := clock(); (&window{}).end(0) < now {
		t.Error("a profile that nobody ended has ended already")
	}
}

// restless are goroutines that do something else all the time, in states of all kinds.
const restless = `package main

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

//go:noinline
func receives(c chan int) {
	for range c {
	}
}

//go:noinline
func locks(mu *sync.Mutex) {
	for {
		mu.Lock()
		time.Sleep(50 * time.Microsecond)
		mu.Unlock()
	}
}

func main() {
	debug.SetGCPercent(-1) // no goroutine is made or ends
	var mu sync.Mutex
	c := make(chan int)
	for range 20 {
		go receives(c)
		go locks(&mu)
	}
	c <- 0
	fmt.Println("ready")
	for {
		c <- 1
		time.Sleep(20 * time.Microsecond)
	}
}
`

// TestWindow: nothing is counted before the beginning and behind the end, though the probes are in place long before
// and after: the states of each goroutine sum to the time to the nanosecond, and those that are asked for to no more.
func TestWindow(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	program := builtFor(t, restless, "")
	for _, c := range []struct {
		what, how string
		exact     bool
	}{{"wall", "for", true}, {"wall", "signal", true}, {"wall", "exit", true}, {"wall --each", "for", false},
		{"chan", "for", false}, {"lock", "signal", false}, {"lock,chan", "exit", false}} {
		t.Run(c.what+" "+c.how, func(t *testing.T) {
			app := exec.Command(program)
			ready, err := app.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Start(); err != nil {
				t.Fatal(err)
			}
			defer app.Wait()
			defer app.Process.Kill()
			if _, err := io.ReadFull(ready, make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			p := held(t, app.Process, c.what, c.how)
			took := p.Duration.Nanoseconds()
			if n := p.Total(0) / took; c.exact && (n < 41 || n > 60 || p.Total(0) != n*took) {
				t.Errorf("41 goroutines and those of the runtime for %d ns: %d ns", took, p.Total(0))
			}
			for _, fn := range []string{"main.receives", "main.locks"} {
				var sum int64
				by := map[string]int64{}
				for i := range p.Samples {
					s := &p.Samples[i]
					in := func(f export.Frame) bool { return strings.HasPrefix(f.Func, fn) }
					if slices.ContainsFunc(s.Stack, in) {
						sum += s.Values[0]
						by[s.Label("goroutine")] += s.Values[0]
					}
				}
				if sum > 20*took || sum == 0 && len(strings.Split(c.what, ",")) == 2 {
					t.Errorf("20 goroutines in %s for %d ns: %d ns; in all %d samples, %d ns", fn, took, sum,
						len(p.Samples), p.Total(0))
				}
				for g, sum := range by {
					if g != "" && sum > took {
						t.Errorf("goroutine %s in %s for %d ns: %d ns", g, fn, took, sum)
					}
				}
			}
		})
	}
}

// held profiles a process, with the probes in place for long before and after the profile.
func held(t *testing.T, process *os.Process, what, how string) *export.Profile {
	t.Helper()
	o := &options{pid: process.Pid, hold: 100 * time.Millisecond}
	list := strings.Fields(what)
	o.what, o.each = list[0], len(list) > 1
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch how {
	case "for":
		o.length = 200 * time.Millisecond
	case "signal":
		o.begun = func() { time.AfterFunc(200*time.Millisecond, cancel) }
	case "exit":
		o.begun = func() {
			before := ran(t, process.Pid)
			time.AfterFunc(200*time.Millisecond, func() {
				until := time.Now().Add(time.Minute)
				for ran(t, process.Pid) < before+20e6 && time.Now().Before(until) {
					time.Sleep(time.Millisecond) // others had the processors
				}
				process.Kill()
			})
		}
	}
	return recorded(t, ctx, o)
}

// ran is for how many ns the threads of a process had a processor.
func ran(t *testing.T, pid int) (sum int64) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		t.Errorf("no threads of %d: %v", pid, err)
		return 1 << 62
	}
	for _, f := range files {
		var ns int64
		if b, err := os.ReadFile(f); err == nil {
			fmt.Sscan(string(b), &ns)
		}
		sum += ns
	}
	return sum
}
