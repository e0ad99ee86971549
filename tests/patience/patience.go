// Package patience is a clock for tests that wait: it goes as fast as a thread of this machine that always wants to
// run.
//
// In: nothing. Out: durations, contexts and timers. With four threads ready to run for each CPU a second of this
// clock takes four on the wall; on a quiet machine the two are the same. So a limit says how much of the machine
// something may have, however busy the machine is with other things, and what hangs is told all the same.
//
// The command tests/patience/supervise runs the tests of a package by that clock.
package patience

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// tick is how often the clock looks at the machine.
const tick = 50 * time.Millisecond

// clock is the one clock of a process.
type clock struct {
	once    sync.Once
	mu      sync.Mutex
	now     time.Duration
	last    time.Time
	waiting map[*timer]bool
}

type timer struct {
	at   time.Duration
	fire func()
}

var the clock

// share is the part of a CPU that a thread gets when so many are ready to run on so many CPUs.
func share(running, cpus int) float64 { return min(1, float64(cpus)/float64(max(1, running))) }

// running is how many threads of the machine are ready to run now.
func running() int {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 1
	}
	var a, c, d float64
	n := 1
	fmt.Sscanf(string(b), "%f %f %f %d/", &a, &c, &d, &n)
	return n
}

func (c *clock) start() {
	c.once.Do(func() {
		c.last, c.waiting = time.Now(), map[*timer]bool{}
		go func() {
			for range time.Tick(tick) {
				for _, t := range c.step(time.Now(), running()) {
					go t.fire()
				}
			}
		}()
	})
}

// step advances the clock to a moment of the wall's at which so many threads are ready to run, and gives the timers
// that are due.
func (c *clock) step(wall time.Time, ready int) (due []*timer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += time.Duration(float64(wall.Sub(c.last)) * share(ready, runtime.NumCPU()))
	c.last = wall
	for t := range c.waiting {
		if c.now >= t.at {
			due = append(due, t)
			delete(c.waiting, t)
		}
	}
	return due
}

// Now is what the clock shows; it begins with the first call of this package.
func Now() time.Duration {
	the.start()
	the.mu.Lock()
	defer the.mu.Unlock()
	return the.now
}

// AfterFunc calls f when the clock has advanced by d, unless stop is called before.
func AfterFunc(d time.Duration, f func()) (stop func()) {
	now := Now()
	t := &timer{now + d, f}
	the.mu.Lock()
	the.waiting[t] = true
	the.mu.Unlock()
	return func() {
		the.mu.Lock()
		delete(the.waiting, t)
		the.mu.Unlock()
	}
}

// After closes the channel when the clock has advanced by d.
func After(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	AfterFunc(d, func() { close(c) })
	return c
}

// ErrOver is the cause of the end of a Context.
var ErrOver = errors.New("out of patience")

// Context ends when the clock has advanced by d.
func Context(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := AfterFunc(d, func() { cancel(ErrOver) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Share is the part of a CPU that a thread of this machine gets now: times on the wall times Share are what they
// would be on a quiet machine, roughly.
func Share() float64 { return share(running(), runtime.NumCPU()) }
