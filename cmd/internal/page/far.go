package page

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gostap/gostap/cmd/internal/page/state"
)

// Far is a session on another machine, whose states come from somewhere now and then: another source of a page.
type Far struct {
	stops bool

	mu      sync.Mutex
	now     state.State  // without lines
	lines   []state.Line // the last ones, in order
	last    uint64       // the number of the last one that was there or will not come
	taken   time.Time    // when the last state came
	old     bool         // nothing comes for now
	viewed  time.Time
	ended   time.Time // when it was shown as over
	changed chan struct{}
}

// NewFar makes one of which nothing is known but its name; stops says that the page has a button which ends it.
func NewFar(name string, stops bool) *Far {
	return &Far{stops: stops, changed: make(chan struct{}, 1), now: state.State{Name: name, State: state.Starting,
		Sources: []state.Source{}, Probes: []state.Probe{}, Globals: []state.Global{},
		Far: &state.Far{Stops: stops}}}
}

// Take takes a state: what it has of lines comes to those that are there, each once. That it is over is said by Tell
// alone, since more may come of it.
func (f *Far) Take(s *state.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, far, is, why := f.now.Name, f.now.Far, f.now.State, f.now.Error
	over := f.now.Over()
	f.now = *s
	f.now.Name, f.now.Far, f.now.Lines = name, far, nil
	switch {
	case over:
		f.now.State, f.now.Error = is, why
	case s.Over():
		f.now.State = state.Running
	}
	for _, l := range s.Lines {
		if l.Number > f.last {
			f.lines, f.last = append(f.lines, l), l.Number
		}
	}
	if s.Over() {
		f.last = max(f.last, s.Last)
	}
	if more := len(f.lines) - keptLines; more > 0 {
		f.lines = slices.Delete(f.lines, 0, more)
	}
	f.taken = time.Now()
}

// Tell says how the session is, one of the states of package state, "" for as before; how it ended; and what is to be
// known of what is shown. old: it is not known how the session is now.
func (f *Far) Tell(is, why, note string, old bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if is != "" {
		f.now.State = is
	}
	if why != "" {
		f.now.Error = why
	}
	f.now.Far = &state.Far{Stops: f.stops, Note: note}
	f.old = old
}

// state implements source.
func (f *Far) state(since uint64, most int, _ bool) *state.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.now
	far := *out.Far
	out.Far = &far
	switch {
	case out.Over():
		far.Stops = false
	case f.now.State == state.Running && !f.old && !f.taken.IsZero() && out.Now > 0:
		far.Clock = out.Now + time.Since(f.taken).Milliseconds()
	}
	i := len(f.lines)
	for i > 0 && i > len(f.lines)-most && f.lines[i-1].Number > since {
		i--
	}
	out.Lines, out.Last = append([]state.Line{}, f.lines[i:]...), f.last
	if f.viewed = time.Now(); out.Over() && f.ended.IsZero() {
		f.ended = f.viewed
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
	return &out
}

// seen implements source.
func (f *Far) seen(most time.Duration) {
	f.mu.Lock()
	watched := f.now.Over() && f.ended.IsZero() && time.Since(f.viewed) < 2*time.Second
	f.mu.Unlock()
	if !watched {
		return
	}
	select {
	case <-f.changed:
		time.Sleep(min(most, time.Second)) // the rest of its requests, and others who look on
	case <-time.After(most):
	}
}

// errFar is said of buttons that the page of such a session does not have.
var errFar = errors.New("this session runs elsewhere: it can only be looked at here")

func (f *Far) flip(bool, int) error { return errFar }

func (f *Far) reset() error { return errFar }

// Show serves a session that is elsewhere while do runs. The stop button, if there is one, ends the context of do.
func (p *Page) Show(ctx context.Context, f *Far, do func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.from = f; f.stops {
		p.stop = cancel
	}
	shut := p.serve()
	do(ctx)
	shut()
}
