package store

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/runtime/priority"
)

// Lock implements interp.Store: it gives interp.ErrLocked when the lock cannot be had in two seconds. The module
// knows the holder by its thread.
func (s *Store) Lock(class int) error {
	s.thread.Raise()
	end := time.Now().Add(priority.Patience)
	for {
		_, err := s.m.Do(stage.Lock, uint32(class), 0, nil, nil)
		if err == nil {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(end) {
			s.thread.Restore()
			return interp.ErrLocked
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// Unlock releases it.
func (s *Store) Unlock(class int) {
	s.m.Do(stage.Unlock, uint32(class), 0, nil, nil)
	s.thread.Restore()
}
