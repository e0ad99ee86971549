package store

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// patience is how long the host waits for a lock. A handler in the kernel that does not get one gives its hit up
// after a few tries, since it is in the traced program's way. The host is in nobody's way, and an end
// handler that is skipped would lose everything; a holder can have been put aside by the scheduler.
const patience = 2 * time.Second

// ErrNoLock says that there is no such lock class.
var ErrNoLock = errors.New("no such lock class")

func (s *Store) lock(class int) *atomic.Uint32 {
	off := plan.CtlLocks + 4*class
	if class < 0 || off+4 > len(s.control) {
		return nil
	}
	return (*atomic.Uint32)(unsafe.Pointer(&s.control[off]))
}

// Lock implements interp.Store: it gives interp.ErrLocked when the lock cannot be had in two seconds.
func (s *Store) Lock(class int) error {
	l := s.lock(class)
	if l == nil {
		return ErrNoLock
	}
	var end time.Time
	s.hurry()
	me := uint32(plan.HostHolds | unix.Gettid())
	for i := 0; ; i++ {
		if l.CompareAndSwap(0, me) {
			s.mark = me
			return nil
		}
		switch {
		case i < 100:
		case i == 100:
			end = time.Now().Add(patience)
		default:
			if time.Now().After(end) {
				s.relax()
				return interp.ErrLocked
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Unlock implements interp.Store.
func (s *Store) Unlock(class int) {
	if l := s.lock(class); l != nil {
		l.CompareAndSwap(s.mark, 0)
		s.relax()
	}
}

// hurry has the caller's thread run before all ordinary ones until relax: on a busy machine it would else be put
// aside for milliseconds while it holds a lock that handlers in the kernel wait for. Without the right to it
// (CAP_SYS_NICE) everything stays as it is.
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

// nextSeq takes the next number of an insertion.
func (s *Store) nextSeq() uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.control[plan.CtlSeq])).Add(1)
}
