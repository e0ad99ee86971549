package profile

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/compiler/debuginfo/open"
	"github.com/gostap/gostap/runtime/export"
	procstate "github.com/gostap/gostap/runtime/host/goroutines"
)

// Goroutines are looked at every tick, or less often: behind a look that takes CPU time d there is none for rest times
// d, so that looks take 5 % of one processor at most.
const (
	tick = 10 * time.Millisecond
	rest = 19
)

// used is the CPU time that this process has used.
func used() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// samples looks at what all goroutines do now and then, by the memory of the process, without any probe. What is seen
// stands for the time since the look before.
type samples struct {
	*goroutines
	reader *procstate.Reader
	unread error
	// last is when goroutines were looked at last, next when they may be again.
	last, next int64
	sums       map[place]*total
	looks      int
	all        []procstate.Goroutine // of the last one
}

func newSamples(n *namer, what string) *samples {
	return &samples{goroutines: newGoroutines(n, what), sums: map[place]*total{}}
}

func (c *samples) event(a []gostap.Value) {
	if a[0].Int == codeBegin {
		c.last = a[2].Int
	}
	if a[0].Int != codeTick || c.names.pid == 0 {
		return
	}
	if c.last == 0 {
		c.last = a[1].Int
	}
	if a[1].Int < c.next {
		return
	}
	if c.reader == nil { // a command has just begun, perhaps
		if c.reader, c.unread = reader(int(c.names.pid), c.goroutines); c.reader == nil {
			c.next = clock() + int64(10*tick)
			return
		}
	}
	before, begun := used(), clock()
	all, err := c.reader.All(deepestKept)
	if err != nil {
		return // it has ended
	}
	c.seen(all, begun)
	c.next = clock() + int64(rest*(used()-before))
}

// seen takes what goroutines did at a time.
func (c *samples) seen(all []procstate.Goroutine, at int64) {
	c.looks++
	c.add(all, 1, at-c.last)
	c.all, c.last = all, at
}

// add counts what was seen n times for ns. A stack that changed while it was read is none.
func (c *samples) add(all []procstate.Goroutine, n, ns int64) {
	for i := range all {
		if all[i].Moved {
			all[i].Stack = nil
		}
		state, stack := c.doing(&all[i])
		labels := readLabels(&all[i])
		if !wanted(c.what, state) {
			continue
		}
		key := placeOf(state, stack, labels)
		t := c.sums[key]
		if t == nil {
			t = &total{state: state, stack: stack, labels: labels}
			c.sums[key] = t
		}
		t.n, t.ns = t.n+n, t.ns+ns
	}
}

func (c *samples) finish(end int64) *export.Profile {
	if c.looks > 0 { // the last look stands for what is left, too, or was behind the end
		c.add(c.all, 0, end-c.last)
	}
	p := &export.Profile{Title: titles[c.what], Types: []export.Type{{Name: "time", Unit: "nanoseconds"},
		{Name: "samples", Unit: "count"}}}
	if p.Title == "" {
		p.Title = "time of goroutines in " + c.what
	}
	p.Title += ", by " + strconv.Itoa(c.looks) + " looks"
	for _, t := range c.sums {
		p.Samples = append(p.Samples, export.Sample{Stack: t.stack, Values: []int64{t.ns, t.n},
			Labels: with(t.labels, export.Label{Key: "state", Text: t.state})})
	}
	if c.unread != nil {
		p.Notes = append(p.Notes, "goroutines cannot be read: "+c.unread.Error())
	}
	return p
}

// reader finds where the goroutines of a process are known, and gives c the texts of the reasons to wait.
func reader(pid int, c *goroutines) (*procstate.Reader, error) {
	img, err := open.Open("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return nil, err
	}
	defer img.Close()
	r, err := procstate.New(pid, img)
	if err != nil {
		return nil, err
	}
	for i, text := range r.Reasons() {
		if text != "" {
			c.reasons[int64(i)] = text
		}
	}
	return r, nil
}

// doing is what a goroutine did when it was read, and its stack.
func (c *goroutines) doing(g *procstate.Goroutine) (state string, stack []export.Frame) {
	if g.Status == procstate.Running {
		return running, c.began(int64(g.StartPC))
	}
	stack = c.names.addresses(g.Stack, g.Cut)
	switch g.Status {
	case procstate.Runnable:
		return runnable, stack
	case procstate.Syscall:
		return goSyscall(stack), stack
	}
	return c.reason(int64(g.Reason)), stack
}
