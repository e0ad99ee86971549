// Package merged runs a script on several hosts and gives one answer (--merge): the hosts count, and what is about all
// of them runs here.
//
// In: a divided program and the hosts; on a host, its session. Out: what the script prints, an exit status; snapshots
// of what was counted.
package merged

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/remote"
)

// Printer runs the session here to its end: what it prints goes to out, messages to errw.
type Printer func(ctx context.Context, s *gostap.Session, out, errw io.Writer) error

// Run has the hosts of o count, and runs the part of m that is about all of them until it ends, by ctx or with the
// last host; print does. It gives the highest exit status of the hosts, and the error of the session here. Of o it
// sets what the two have to do with each other.
func Run(ctx context.Context, m *gostap.Merged, o remote.Options, print Printer) (status int, err error) {
	o.Request.Counts, o.Request.Shared, o.Prefix = true, m.Shared(), true
	o.Request.Ranked = m.Ranked()
	screen := &sync.Mutex{}
	o.Out, o.Err = remote.Together{To: o.Out, Mu: screen}, remote.Together{To: o.Err, Mu: screen}
	signals, hosts := make(chan os.Signal, 2), make(chan int, 1)
	o.Signals = signals
	var s *gostap.Session
	o.Counted = func(host int, b []byte) error { return s.Tell(host, b) }
	o.Ended = func(host int) { s.End(host) }
	var begin, end sync.Once
	start := func() {
		begin.Do(func() {
			go func() {
				status := remote.Run(context.Background(), o)
				s.Shut()
				hosts <- status
			}()
		})
	}
	stop := func() { end.Do(func() { signals <- syscall.SIGTERM }) }
	prepare := m.Prepare
	if o.Joins != nil {
		prepare = m.Open
		o.Joined = func(host int) error {
			_, err := s.Join() // the numbers of both are in the order in which they come
			return err
		}
	}
	if s, err = prepare(len(o.Hosts), start, stop); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go impatient(ctx, ended, signals)
	err = print(ctx, s, o.Out, o.Err)
	close(ended)
	stop()
	// Where the script came to its end before the hosts were asked, there is nothing to be waited for.
	begin.Do(func() { hosts <- 0 })
	return <-hosts, err
}

// impatient passes a second signal of the user on, which cuts the links to hosts that do not end.
func impatient(ctx context.Context, ended <-chan struct{}, signals chan<- os.Signal) {
	select {
	case <-ctx.Done():
	case <-ended:
		return
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(again)
	select {
	case sig := <-again:
		signals <- sig
	case <-ended:
	}
}

// every is how often a session tells another machine what it has counted.
const every = 250 * time.Millisecond

// Teller tells another machine now and then what a session has counted. nil tells nothing.
type Teller struct {
	s          *gostap.Session
	send       func([]byte) error
	begun      sync.Once
	stop, gone chan struct{}
}

// Tell makes one of a session that has not run yet, for who has sent r. send sends a snapshot.
func Tell(s *gostap.Session, r *remote.Request, send func([]byte) error) (*Teller, error) {
	if err := s.Share(r.Shared); err != nil {
		return nil, err
	}
	if r.Top > 0 {
		if err := s.Top(r.Top, r.Ranked); err != nil {
			return nil, err
		}
	}
	return &Teller{s: s, send: send, stop: make(chan struct{}), gone: make(chan struct{})}, nil
}

func (t *Teller) tell() error {
	b, err := t.s.Snapshot()
	if err == nil {
		err = t.send(b)
	}
	return err
}

// Begin is called when the probes are in place, which the first snapshot says.
func (t *Teller) Begin() {
	if t == nil {
		return
	}
	t.begun.Do(func() {
		go func() {
			defer close(t.gone)
			ticks := time.NewTicker(every)
			defer ticks.Stop()
			for t.tell() == nil { // else the link is broken, which ends the session, or the end is near
				select {
				case <-t.stop:
					return
				case <-ticks.C:
				}
			}
		}()
	})
}

// End is called when the session has ended: all that it has counted is told.
func (t *Teller) End() error {
	if t == nil {
		return nil
	}
	close(t.stop)
	placed := true
	t.begun.Do(func() { placed = false })
	if !placed {
		return nil // no probe was in place
	}
	<-t.gone
	return t.tell()
}
