package store

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// patience is how long the host waits for a lock. A handler in the kernel that does not get one gives its hit up, since
// it is in the traced program's way. The host is in nobody's way, and an end handler that is skipped would lose everything.
const patience = 2 * time.Second

// Lock implements interp.Store: it gives interp.ErrLocked when the lock cannot be had in two seconds.
func (s *Store) Lock(class int) error {
	s.hurry()
	end := time.Now().Add(patience)
	for {
		_, err := s.m.Do(stage.Lock, uint32(class), 0, nil, nil)
		if err == nil {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(end) {
			s.relax()
			return interp.ErrLocked
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// Unlock releases it.
func (s *Store) Unlock(class int) {
	s.m.Do(stage.Unlock, uint32(class), 0, nil, nil)
	s.relax()
}

// hurry has the caller's thread run before all ordinary ones until relax: on a busy machine it would else be put
// aside for milliseconds while it holds a lock that handlers in the kernel wait for. Without the right to it
// (CAP_SYS_NICE) everything stays as it is. The module knows the holder by its thread.
func (s *Store) hurry() {
	runtime.LockOSThread()
	if was, err := unix.SchedGetAttr(0, 0); err == nil && was.Policy == unix.SCHED_NORMAL {
		now := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 1}
		if unix.SchedSetAttr(0, &now, 0) == nil {
			s.was = was
		}
	}
}

func (s *Store) relax() {
	if s.was != nil {
		unix.SchedSetAttr(0, s.was, 0) // to what it was is always allowed
		s.was = nil
	}
	runtime.UnlockOSThread()
}
