package session

import (
	"fmt"

	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/backend"
)

// Keeps implements backend.Keeper.
func (s *Session) Keeps() bool { return s.cfg.Unit.Keeps > 0 }

// Stack implements backend.Keeper.
func (s *Session) Stack(number int64) (out backend.KeptStack, ok bool, err error) {
	room := s.cfg.Unit.Keeps
	if room == 0 || number <= 0 {
		return out, false, nil
	}
	val := make([]byte, backend.KeptHead+8*room)
	n, err := s.m.Do(stage.Stack, 0, number, nil, val)
	if err != nil {
		return out, false, fmt.Errorf("look up stack %d: %w", number, err)
	}
	if n == 0 {
		return out, false, nil
	}
	out, ok = backend.ParseKept(val)
	return out, ok, nil
}

var _ backend.Keeper = (*Session)(nil)
