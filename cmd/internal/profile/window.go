package profile

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap"
)

// Handlers look at the clock and then at the global "from", and count if the clock says as much or more. Before the
// beginning and behind the end it is endless. So who begins a profile sets it to a time that has not come yet, and who
// ends it sets it back and looks at the clock then: nothing is counted before the one or behind the other, however long
// it takes to put probes in place and to take them away.
const endless = math.MaxInt64

// soon is how long before its beginning a profile is begun. Where a busy machine takes longer, changes of state in the
// time that is missing are not seen, but no time is lost: what goroutines did is known by what they do next.
const soon = 10 * time.Millisecond

// window is the time that is counted.
type window struct {
	begun int64 // by clock
	at    time.Time
	hold  time.Duration
	mu    sync.Mutex
	ended int64 // 0 if it was not close that ended it
}

// open starts the session and opens the window. It is closed when ctx ends, and after length if that is not 0. A
// command is counted from its first instruction on; waits says that it is a process that runs already.
func (w *window) open(ctx context.Context, p *gostap.Program, length time.Duration,
	waits bool) (*gostap.Session, error) {
	// The session does not end with ctx, but by close.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	early := context.AfterFunc(ctx, cancel)
	s, err := p.Start(own)
	if err != nil {
		cancel()
		return nil, err
	}
	early()
	time.Sleep(w.hold)
	w.begun = clock()
	if waits {
		w.begun += int64(soon)
		s.Set("from", w.begun) // else it has ended
	}
	time.Sleep(time.Duration(w.begun - clock()))
	w.at = time.Now().Add(time.Duration(w.begun - clock()))
	end := func() { w.close(s) }
	context.AfterFunc(ctx, end)
	if length > 0 {
		time.AfterFunc(length, end)
	}
	return s, nil
}

// close ends what is counted, and the session.
func (w *window) close(s *gostap.Session) {
	w.mu.Lock()
	if s.Set("from", endless) == nil && w.ended == 0 {
		w.ended = clock()
	}
	w.mu.Unlock()
	time.Sleep(w.hold)
	s.Stop()
}

// end is when nothing was counted any more. exit is when the process ended, 0 if that was not seen.
func (w *window) end(exit int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended != 0 && (exit == 0 || w.ended < exit):
		return w.ended
	case exit == 0:
		return clock()
	}
	return exit
}

// clock is the time as handlers have it: the real time, which may be set, would not do.
func clock() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}
