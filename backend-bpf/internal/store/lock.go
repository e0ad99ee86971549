package store

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/runtime/priority"
)

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
	s.thread.Raise()
	me := uint32(plan.HostHolds | unix.Gettid())
	for i := 0; ; i++ {
		if l.CompareAndSwap(0, me) {
			s.mark = me
			return nil
		}
		switch {
		case i < 100:
		case i == 100:
			end = time.Now().Add(priority.Patience)
		default:
			if time.Now().After(end) {
				s.thread.Restore()
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
		s.thread.Restore()
	}
}

// nextSeq takes the next number of an insertion.
func (s *Store) nextSeq() uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.control[plan.CtlSeq])).Add(1)
}
