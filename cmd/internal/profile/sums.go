package profile

import (
	"github.com/gostap/gostap"
	"github.com/gostap/gostap/runtime/export"
	procstate "github.com/gostap/gostap/runtime/host/goroutines"
)

// sums takes what sumScript has added up.
type sums struct {
	*goroutines
	since  int64 // the script's times count from here
	first  int64
	missed int64
	done   []total
	// pid is a process that ran already, else 0. reader reads its goroutines, unread is why not. there are those that
	// were there at the time read, by address, seen are those of which there was an event.
	pid    int
	reader *procstate.Reader
	unread error
	there  map[uint64]*procstate.Goroutine
	read   int64
	seen   map[int64]bool
	notes  []string
}

// total is a sum of sumScript's: n times, ns together. Of what has not ended ns is the sum of the beginnings.
type total struct {
	state  string
	stack  []export.Frame
	n, ns  int64
	open   bool
	labels []export.Label
}

func newSums(n *namer, what string, pid int, since int64) *sums {
	c := &sums{goroutines: newGoroutines(n, what), since: since, pid: pid, seen: map[int64]bool{}}
	if pid != 0 {
		c.reader, c.unread = reader(pid, c.goroutines)
	}
	return c
}

func (c *sums) event(a []gostap.Value) {
	switch a[0].Int {
	case codeBegin:
		c.first = a[2].Int - c.since
		if c.pid != 0 {
			if err := c.look(); err != nil {
				c.notes = append(c.notes, "goroutines that do the same all the time are not told: "+err.Error())
			}
		}
	case codeReason, codeLabels:
		c.goroutines.event(a)
	case codeFirst:
		c.firstOf(a[1].Int, a[2].Int<<tickShift, a[3].Int, c.sets.get(a[4].Int))
	case codeSum, codeOpen:
		stack := c.names.user(a[5])
		c.done = append(c.done, total{c.state(a[1].Int, stack), stack, a[2].Int, a[3].Int << tickShift,
			a[0].Int == codeOpen, c.sets.get(a[4].Int)})
	case codeRan:
		c.done = append(c.done, total{running, c.began(a[1].Int), a[2].Int, a[3].Int << tickShift, false,
			c.sets.get(a[4].Int)})
	case codeOpenRun:
		c.done = append(c.done, total{running, nil, a[1].Int, a[2].Int << tickShift, true, c.sets.get(a[3].Int)})
	case codeMissed:
		c.missed += a[1].Int
	}
}

// look reads what goroutines do that are there. The probes are in place, so of those that go on meanwhile there is an
// event.
func (c *sums) look() error {
	if c.reader == nil {
		return c.unread
	}
	all, err := c.reader.All(deepestKept)
	if err != nil {
		return err
	}
	c.read = clock() - c.since
	c.there = make(map[uint64]*procstate.Goroutine, len(all))
	for i := range all {
		c.there[all[i].Addr] = &all[i]
	}
	return nil
}

// firstOf takes the first event of a goroutine, before which it did what kind says, from the beginning on.
func (c *sums) firstOf(addr, now, kind int64, labels []export.Label) {
	c.seen[addr] = true
	if kind == kindIdle || now <= c.first { // it was made just then
		return
	}
	t := total{n: 1, ns: now - c.first, labels: labels}
	var state string
	if g := c.there[uint64(addr)]; g != nil && now > c.read {
		state, t.stack = c.doing(g)
	}
	if t.state = c.state(kind, t.stack); kind == kindSyscall && t.stack != nil {
		t.state = state
	}
	c.done = append(c.done, t)
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
	for addr, g := range c.there {
		if !c.seen[int64(addr)] {
			state, stack := c.doing(g)
			c.done = append(c.done, total{state, stack, 1, c.first, true, readLabels(g)})
		}
	}
	for _, t := range c.done {
		if t.open { // what began after the end was counted is negative, and takes back what was counted too much
			t.ns = t.n*(end-c.since) - t.ns
		}
		if wanted(c.what, t.state) {
			p.Samples = append(p.Samples, export.Sample{Stack: t.stack, Values: []int64{t.ns, t.n},
				Labels: with(t.labels, export.Label{Key: "state", Text: t.state})})
		}
	}
	p.Notes = c.notes
	if c.missed > 0 {
		p.Notes = append(p.Notes, noRoom(c.missed))
	}
	return p
}
