// Package memory is a session without a kernel: for scripts whose probes all fire in
// the tracer itself (begin, end, error, timers), and for --runtime=host.
//
// In: an ir.Program. Out: a backend.Session whose store lies in memory; it sends no
// records.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/runtime/wire"
)

// Session implements backend.Session.
type Session struct {
	p     *ir.Program
	store *interp.MemStore
	state atomic.Uint32
	wake  chan struct{}
}

var _ backend.Session = (*Session)(nil)

// Fits reports whether every probe of p fires on the host, or can be served there; if not, it gives one that does not.
func Fits(p *ir.Program) (bool, *probe.Site) {
	for _, pr := range p.Probes {
		for _, s := range pr.Sites {
			if !s.Kind.OnHost() && !s.Kind.Served() {
				return false, s
			}
		}
	}
	return true, nil
}

// New makes a session for a program that Fits.
func New(p *ir.Program) (*Session, error) {
	if ok, s := Fits(p); !ok {
		return nil, fmt.Errorf("%s needs a kernel", s.Point)
	}
	return &Session{p: p, store: interp.NewMemStore(p), wake: make(chan struct{}, 1)}, nil
}

// Store implements backend.Session, as do the next ones.
func (s *Session) Store() interp.Store { return s.store }

func (s *Session) HostProbes() []int {
	out := make([]int, len(s.p.Probes))
	for i := range out {
		out[i] = i
	}
	return out
}

func (s *Session) Schema() *wire.Schema         { return &wire.Schema{} }
func (s *Session) Deferred(int) *ir.Func        { return nil }
func (s *Session) SetTarget(int) error          { return nil }
func (s *Session) Attach(context.Context) error { return nil }

// Read waits for the deadline or a Wake; there are never records.
func (s *Session) Read(deadline time.Time, _ func([]byte) error) error {
	d := time.Until(deadline)
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.wake:
	}
	return nil
}

func (s *Session) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Session) State() wire.State { return wire.State(s.state.Load()) }

func (s *Session) SetState(st wire.State) error {
	if st > wire.Failed {
		return errors.New("no such state")
	}
	s.state.Store(uint32(st))
	return nil
}

func (s *Session) Counters() (wire.Counters, error) {
	return wire.Counters{ByCause: make([]uint64, ir.NumCauses)}, nil
}

func (s *Session) Detach() error    { return nil }
func (s *Session) Close() error     { return nil }
func (s *Session) Report() []string { return nil }
