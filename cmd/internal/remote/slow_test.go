package remote

import (
	"net"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// pager takes nothing for a while.
type pager struct {
	strings.Builder
	waits time.Duration
}

func (p *pager) Write(b []byte) (int, error) {
	time.Sleep(p.waits)
	p.waits = 0
	return p.Builder.Write(b)
}

// TestPager: a client whose output nobody takes for a while is there, and so is the session: nothing is lost.
func TestPager(t *testing.T) {
	for range 20 { // which of two things that have happened is seen first is chance
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			there, longest := newConn(b, b), time.Duration(0)
			go func() {
				for last := time.Now(); ; last = time.Now() {
					_, _, err := there.receive()
					if err != nil {
						return
					}
					longest = max(longest, time.Since(last))
				}
			}()
			go func() {
				there.sendJSON(frameHello, Hello{Protocol: Protocol})
				there.send(frameOut, []byte("one "))
				for range 10 {
					time.Sleep(aliveEvery)
					there.send(frameAlive, nil)
				}
				there.send(frameOut, []byte("two"))
				there.send(frameExit, []byte{7})
			}()
			out, errs, err := pager{waits: 2 * lostAfter}, strings.Builder{}, error(nil)
			s := &client{signals: make(chan byte), out: lines{on: new(screen), to: &out, err: &err},
				errs: lines{on: new(screen), to: &errs, err: &err}}
			status, _, err := s.talk(&link{conn: newConn(a, a)})
			a.Close()
			b.Close()
			synctest.Wait()
			if status != 7 || err != nil || out.String() != "one two" || errs.Len() > 0 || longest >= lostAfter/2 {
				t.Fatalf("%d %v %q %q, not heard of for %v", status, err, out.String(), errs.String(), longest)
			}
		})
	}
}

// TestHeldUp: a session that could not say anything for a while has not lost its client, which has said that it is
// there; it has when that has not.
func TestHeldUp(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	defer signal.Stop(signals)
	for i := range 20 {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			here, there := newConn(a, a), newConn(b, b)
			frames, done, gone := make(chan frame), make(chan struct{}), new(atomic.Bool)
			go readFrames(here, frames, done)
			go listen(here, frames, make(chan []Pod, 1), nil, done, gone)
			go func() {
				time.Sleep(2 * lostAfter) // nobody takes what it says
				for err := error(nil); err == nil; {
					_, _, err = there.receive()
				}
			}()
			silent := i == 0
			go func() {
				for err := error(nil); err == nil && !silent; time.Sleep(aliveEvery) {
					err = there.send(frameAlive, nil)
				}
			}()
			time.Sleep(4 * lostAfter)
			if gone.Load() != silent {
				t.Errorf("%d: gone: %v", i, gone.Load())
			}
			close(done)
			a.Close()
			b.Close()
			time.Sleep(2 * aliveEvery) // all see it
		})
	}
}
