package gather

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gostap/gostap/runtime/export/feed"
	"github.com/gostap/gostap/runtime/export/text"
)

// clock is what is known of a machine's clock: how far it is ahead of the one here, and by how much that may be wrong.
type clock struct{ ahead, within time.Duration }

// order holds lines back until none is expected that is of an earlier time, by the clock here.
type order struct {
	hold time.Duration
	lines
	came []arrival // in that order
	seq  int
	last time.Time // of what was passed on
	late int       // lines that came behind later ones
	soon *time.Timer
	over bool
}

type arrival struct{ at, came time.Time }

// held is a line. at is when it was, by the clock here.
type held struct {
	at   time.Time
	seq  int
	line []byte
}

// lines are a heap, the earliest first.
type lines []held

func (l lines) Len() int { return len(l) }
func (l lines) Less(i, j int) bool {
	if c := l[i].at.Compare(l[j].at); c != 0 {
		return c < 0
	}
	return l[i].seq < l[j].seq
}
func (l lines) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *lines) Push(x any)   { *l = append(*l, x.(held)) }
func (l *lines) Pop() any {
	n := len(*l) - 1
	x := (*l)[n]
	*l = (*l)[:n]
	return x
}

// put takes a line. own: the time is the line's own.
func (o *order) put(at time.Time, own bool, now time.Time, line []byte) {
	if own && at.Before(o.last) {
		o.late++
	}
	o.seq++
	heap.Push(&o.lines, held{at, o.seq, line})
	o.came = append(o.came, arrival{at, now})
}

// due gives the lines that have been held back for long enough, and those that are earlier; all of them if that is
// asked for. next is when there will be more, zero if nothing waits.
func (o *order) due(now time.Time, all bool) (out []byte, next time.Time) {
	var until time.Time
	n := 0
	for ; n < len(o.came) && (all || now.Sub(o.came[n].came) >= o.hold); n++ {
		if o.came[n].at.After(until) {
			until = o.came[n].at
		}
	}
	o.came = o.came[n:]
	for n > 0 && len(o.lines) > 0 && !o.lines[0].at.After(until) {
		h := heap.Pop(&o.lines).(held)
		if out = append(out, h.line...); h.at.After(o.last) {
			o.last = h.at
		}
	}
	if len(o.lines) == 0 {
		o.came = nil
	} else {
		next = o.came[0].came.Add(o.hold)
	}
	return out, next
}

// InOrder has lines of all machines come in the order of time, of which each is held back so long. It is called before
// anything is written.
func (s *Stream) InOrder(hold time.Duration) { s.order = &order{hold: hold} }

// put takes a line of a source in its order: of a time by the clock there.
func (s *Stream) put(at time.Time, own bool, of *Source, line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.put(at.Add(-s.clockOf(of).ahead), own, time.Now(), line)
	return s.passOn(s.order.over)
}

// passOn writes what is due, and comes again for the rest. s.mu is held.
func (s *Stream) passOn(all bool) error {
	b, next := s.order.due(time.Now(), all)
	if len(b) > 0 && s.err == nil {
		_, s.err = s.to.Write(b)
	}
	if !next.IsZero() && s.order.soon == nil {
		s.order.soon = time.AfterFunc(time.Until(next), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.order.soon = nil
			s.passOn(false)
		})
	}
	return s.err
}

// Settle ends the order, if there is one: what is held back is written, and how far it can be trusted is told.
func (s *Stream) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order == nil || s.order.over {
		return
	}
	s.order.over = true
	s.passOn(true)
	var within time.Duration
	unknown := 0
	for _, c := range s.clocks {
		if c == nil {
			unknown++
			continue
		}
		within = max(within, c.within)
	}
	said := fmt.Sprintf("the order of lines is right within %v: so well the clocks of %d machines are known",
		within.Round(10*time.Microsecond), len(s.clocks)-unknown)
	if unknown > 0 {
		said += fmt.Sprintf("; of %d machines they are not, and their times were taken as they were told", unknown)
	}
	s.tell(said)
	if s.order.late > 0 {
		s.tell(fmt.Sprintf("WARNING: %d lines came more than %v late, and stand behind later ones", s.order.late,
			s.order.hold))
	}
}

// Clock takes what is known of the machine's clock from now on.
func (r *Source) Clock(ahead, within time.Duration) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.clocks[r] = &clock{ahead, within}
}

// clockOf is what is known of a source's clock, nothing of one that is here. s.mu is held.
func (s *Stream) clockOf(r *Source) (c clock) {
	if known := s.clocks[r]; known != nil {
		c = *known
	}
	return c
}

func (r *Source) clock() clock {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.clockOf(r)
}

// begun says that there are lines of the machine.
func (r *Source) begun() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if _, ok := r.s.clocks[r]; !ok {
		r.s.clocks[r] = nil
	}
}

// known are the members of a line that say what is known of a machine's clock.
func (r *Source) known() []byte {
	c := r.clock()
	if c == (clock{}) {
		return nil
	}
	return fmt.Appendf(nil, `,"clock_ahead_ns":%d,"clock_within_ns":%d`, c.ahead, c.within)
}

// at is when a line was said, and whether it says so itself: else it has the time of the one before, behind which it
// stays.
func (r *Source) at(line []byte) (at time.Time, own bool) {
	var l struct{ Time time.Time }
	if json.Unmarshal(line, &l) == nil && !l.Time.IsZero() {
		r.last, own = l.Time, true
	}
	if r.last.IsZero() {
		r.last = time.Now().Add(r.clock().ahead)
	}
	return r.last, own
}

// Text is a writer of lines that prints them as text to out, and the messages among them to errw.
func Text(out, errw io.Writer) io.Writer { return &printer{to: text.New(out), errw: errw} }

type printer struct {
	mu   sync.Mutex
	to   *text.Printer
	errw io.Writer
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range bytes.Lines(b) {
		var l feed.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return 0, err
		}
		if said := text.Message(&l); said != "" {
			fmt.Fprintln(p.errw, said)
		}
		p.to.Take(&l)
		if l.Type == "end" {
			p.to.Close(context.Background())
		}
	}
	p.to.Idle()
	return len(b), p.to.Err()
}
