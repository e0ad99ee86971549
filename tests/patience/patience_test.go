package patience

import (
	"context"
	"runtime"
	"testing"
	"time"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		running, cpus int
		want          float64
	}{{0, 2, 1}, {1, 2, 1}, {2, 2, 1}, {4, 2, 0.5}, {10, 2, 0.2}, {3, 1, 1.0 / 3}} {
		if got := share(c.running, c.cpus); got != c.want {
			t.Errorf("%d threads on %d CPUs: %v, want %v", c.running, c.cpus, got, c.want)
		}
	}
	if n := running(); n < 1 {
		t.Errorf("%d threads run, this one among them", n)
	}
}

// TestStep: on a machine five times too busy a limit of one second is over after five.
func TestStep(t *testing.T) {
	begin := time.Now()
	c := &clock{last: begin, waiting: map[*timer]bool{}}
	c.waiting[&timer{at: time.Second}] = true
	for s := 1; s <= 5; s++ {
		due := c.step(begin.Add(time.Duration(s)*time.Second), 5*runtime.NumCPU())
		if want := s == 5; (len(due) == 1) != want {
			t.Errorf("after %d s: %d timers are due, the clock shows %v", s, len(due), c.now)
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := Context(context.Background(), 10*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if context.Cause(ctx) != ErrOver {
		t.Error(context.Cause(ctx))
	}
	fired := false
	AfterFunc(0, func() { fired = true })()
	<-After(3 * tick)
	if fired {
		t.Error("a timer that was stopped has fired")
	}
}
