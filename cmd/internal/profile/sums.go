package profile

import (
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
)

// sums takes what sumScript has added up.
type sums struct {
	*goroutines
	since  int64 // the script's times count from here
	first  int64
	missed int64
	done   []total
	// early are goroutines that waited from before the beginning, by their first event.
	early map[int64]bool
}

// total is a sum of sumScript's: n times, ns together. Of what has not ended ns is the sum of the beginnings.
type total struct {
	state string
	stack []export.Frame
	n, ns int64
	open  bool
}

func newSums(n *namer, what string, since time.Time) *sums {
	return &sums{goroutines: newGoroutines(n, what), since: since.UnixNano(), early: map[int64]bool{}}
}

func (c *sums) event(a []gostap.Value) {
	switch a[0].Int {
	case codeBegin:
		c.first = a[2].Int - c.since
	case codeReason:
		c.goroutines.event(a)
	case codeFirst:
		c.seen(a[1].Int, a[2].Int, a[3].Int)
	case codeSum, codeOpen:
		stack := c.names.user(a[4])
		c.done = append(c.done, total{c.state(a[1].Int, stack), stack, a[2].Int, a[3].Int, a[0].Int == codeOpen})
	case codeRan:
		c.done = append(c.done, total{running, c.began(a[1].Int), a[2].Int, a[3].Int, false})
	case codeOpenRun:
		c.done = append(c.done, total{running, nil, a[1].Int, a[2].Int, true})
	case codeMissed:
		c.missed += a[1].Int
	}
}

// seen takes the first event of a goroutine that the script has not seen being made.
func (c *sums) seen(id, now, reason int64) {
	if c.first <= 0 || c.early[id] || reason == 0 {
		return
	}
	c.early[id] = true
	c.done = append(c.done, total{c.reason(reason), nil, 1, now - c.first, false})
}

// state names a kind of sumScript's.
func (c *sums) state(kind int64, stack []export.Frame) string {
	switch kind {
	case kindRunning, kindStepping:
		return running
	case kindRunnable:
		return runnable
	case kindSyscall:
		return goSyscall(stack)
	}
	return c.reason(kind)
}

func (c *sums) finish(end int64) *export.Profile {
	p := &export.Profile{Title: titles[c.what], Types: []export.Type{{Name: "time", Unit: "nanoseconds"},
		{Name: "times", Unit: "count"}}}
	if p.Title == "" {
		p.Title = "time of goroutines in " + c.what
	}
	for _, t := range c.done {
		if t.open { // what began after the end was counted is negative, and takes back what was counted too much
			t.ns = t.n*(end-c.since) - t.ns
		}
		if wanted(c.what, t.state) {
			p.Samples = append(p.Samples, export.Sample{Stack: t.stack, Values: []int64{t.ns, t.n},
				Labels: []export.Label{{Key: "state", Text: t.state}}})
		}
	}
	if c.missed > 0 {
		p.Notes = append(p.Notes, noRoom(c.missed))
	}
	return p
}
