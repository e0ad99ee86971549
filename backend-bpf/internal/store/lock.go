package store

import (
	"errors"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// patience is how long the host waits for a lock. A handler in the kernel that does not get one gives its hit up
// after a few tries, since it is in the traced program's way. The host is in nobody's way, and an end
// handler that is skipped would lose everything; a holder can have been put aside by the scheduler.
const patience = 2 * time.Second

// host is the holder's mark for a lock that is taken here (handlers in the kernel use 1 + CPU).
const host = math.MaxUint32

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
	for i := 0; ; i++ {
		if l.CompareAndSwap(0, host) {
			return nil
		}
		switch {
		case i < 100:
		case i == 100:
			end = time.Now().Add(patience)
		default:
			if time.Now().After(end) {
				return interp.ErrLocked
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Unlock implements interp.Store.
func (s *Store) Unlock(class int) {
	if l := s.lock(class); l != nil {
		l.CompareAndSwap(host, 0)
	}
}

// nextSeq takes the next number of an insertion.
func (s *Store) nextSeq() uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.control[plan.CtlSeq])).Add(1)
}
