package gostap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/host"
)

// mostWaiting is how many events wait for a reader while probes are in place. Then the session waits too, the kernel's
// buffer fills, and what does not go into that is counted as lost.
const mostWaiting = 4096

// queue is where the events of a session that was started wait for who reads them.
type queue struct {
	mu     sync.Mutex
	events []Event
	// bounded: mostWaiting holds. reading: somebody reads; waited: somebody waits for the end, perhaps without reading.
	bounded, reading, waited bool
	// left: who read has gone. ended: no more comes.
	left, ended bool
	dropped     uint64
	more, room  chan struct{}
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1), room: make(chan struct{}, 1)} }

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// with changes q, and has the other side look at it.
func (q *queue) with(bell chan struct{}, f func()) {
	q.mu.Lock()
	f()
	q.mu.Unlock()
	ring(bell)
}

// offer takes an event if there is room for it.
func (q *queue) offer(e Event) (taken bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.left:
	case !q.bounded || len(q.events) < mostWaiting:
		q.events = append(q.events, e)
		ring(q.more)
	case q.waited && !q.reading:
		q.dropped++
	default:
		return false
	}
	return true
}

// take gives what waits, and whether that is all there will ever be.
func (q *queue) take() (events []Event, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	events, q.events = q.events, nil
	ring(q.room)
	return events, q.ended
}

// put passes an event on, or waits until there is room. What others ask for is done meanwhile.
func (s *Session) put(ctx context.Context, e Event) error {
	q := s.queue
	for !q.offer(e) {
		select {
		case <-q.room:
		case f := <-s.ask:
			f()
		case <-ctx.Done(): // what comes now is what the kernel's buffer holds
			q.with(q.more, func() { q.bounded = false })
		}
	}
	return nil
}

// Start prepares p and runs it in the background. When it returns, begin probes have run and the probes are in place,
// or the script has come to its end already; a context that ends before is an error. Events reads what the session
// says, Stop ends it.
func (p *Program) Start(ctx context.Context) (*Session, error) {
	s, err := p.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	s.queue = newQueue()
	ctx, s.cancel = context.WithCancel(ctx)
	started := make(chan struct{})
	go func() {
		defer s.cancel()
		s.run(ctx, host.Config{Stdout: p.o.Stdout, Stderr: p.o.Stderr}, func(e Event) error { return s.put(ctx, e) },
			func() error {
				s.queue.with(s.queue.more, func() { s.queue.bounded = true })
				close(started)
				return nil
			})
		s.queue.with(s.queue.more, func() {
			if n := s.queue.dropped; n > 0 {
				s.queue.events = append(s.queue.events, Event{Kind: Lost, Cause: "unread", Count: n, CPU: -1,
					Text: fmt.Sprintf("%d events came while nobody read any, and the session was waited for", n)})
			}
			s.queue.ended = true
		})
	}()
	select {
	case <-started:
	case <-s.over:
		if _, ran := errors.AsType[*Failure](s.err); s.err != nil && !ran {
			return nil, s.err
		}
		if s.result.Untraced {
			return nil, ctx.Err()
		}
	}
	return s, nil
}

// Events gives what a session that was started says, in order, until its end; an error, at most one, comes last. A
// reader who leaves early ends the session.
func (s *Session) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		q := s.queue
		if q == nil {
			yield(Event{}, errNotStarted)
			return
		}
		q.with(q.room, func() { q.reading = true })
		whole := false
		defer func() {
			if !whole {
				q.with(q.room, func() { q.left = true })
				s.Stop()
			}
		}()
		for {
			events, ended := q.take()
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if ended {
				break
			}
			if len(events) == 0 {
				<-q.more
			}
		}
		whole = true
		if s.err != nil {
			yield(Event{}, s.err)
		}
	}
}

var errNotStarted = errors.New("the session was not started by Program.Start")

// Stop ends a session that was started, in order: the probes are taken away, what they had seen becomes events, end
// probes run. It waits for that; Events gives what nobody has read yet. The error is that of the session.
func (s *Session) Stop() error {
	if s.queue == nil {
		return errNotStarted
	}
	s.cancel()
	<-s.over
	return s.err
}

// Wait waits until a session that was started comes to its end. While nobody reads Events, those beyond a few
// thousand are counted and left out; Events tells it. The error is that of the session.
func (s *Session) Wait() error {
	if s.queue == nil {
		return errNotStarted
	}
	s.queue.with(s.queue.room, func() { s.queue.waited = true })
	<-s.over
	return s.err
}

// Globals are the globals of the script as they are now, or were behind the end probes if the session has ended.
// Those of programs compiled with Options.Text are not kept.
func (s *Session) Globals() (out Globals, err error) {
	ran, failure := s.between(func() { out, err = s.look(false) })
	switch {
	case failure != nil:
		return nil, failure
	case !ran:
		return s.globals, s.broken
	}
	return out, err
}

// Set gives a global that is a number, and no array, another value while the session runs. A handler that begins when
// Set has returned sees it. It is an error if the session has ended.
func (s *Session) Set(name string, n int64) (err error) {
	i := slices.IndexFunc(s.p.ir.Globals, func(g *ir.Global) bool { return g.Name == name })
	if i < 0 {
		return fmt.Errorf("no global %s is in use", name)
	}
	g := s.p.ir.Globals[i]
	if g.IsArray() || g.Type != types.Long {
		return fmt.Errorf("%s is no global with one number", name)
	}
	ran, failure := s.between(func() {
		store := s.b.Store()
		if g.Class >= 0 {
			if err = store.Lock(g.Class); err != nil {
				return
			}
			defer store.Unlock(g.Class)
		}
		v := interp.Val{Int: n}
		if g.Float {
			v.Int = int64(math.Float64bits(float64(n)))
		}
		err = store.Set(i, nil, v)
	})
	switch {
	case failure != nil:
		return failure
	case !ran:
		return errors.New("the session has ended")
	}
	return err
}

// between has f called by the goroutine that drives the session, between two handlers, and waits for it. It does not
// run if the session has ended.
func (s *Session) between(f func()) (ran bool, err error) {
	done := make(chan struct{})
	s.mu.Lock()
	if s.tell == nil {
		s.mu.Unlock()
		return false, errors.New("the session does not run")
	}
	busy := false
	if !s.ended {
		select {
		case s.ask <- func() {
			defer close(done)
			f()
		}:
			s.b.Wake()
		default:
			busy = true
		}
	}
	s.mu.Unlock()
	if busy {
		return false, errors.New("many others ask for the globals")
	}
	select {
	case <-done:
		return true, nil
	case <-s.over:
	}
	select {
	case <-done: // both
		return true, nil
	default:
		return false, nil
	}
}
