package session

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/backend"
)

// Keeps implements backend.Keeper.
func (s *Session) Keeps() bool { return s.col.Maps[plan.MapStackList] != nil }

// Stack implements backend.Keeper.
func (s *Session) Stack(number int64) (out backend.KeptStack, ok bool, err error) {
	m := s.col.Maps[plan.MapStackList]
	if m == nil || number <= 0 || number > backend.MaxStacks {
		return out, false, nil
	}
	val := make([]byte, m.ValueSize)
	if err := kern.Lookup(m.FD(), binary.NativeEndian.AppendUint32(nil, uint32(number)), val); err != nil {
		if err == unix.ENOENT {
			return out, false, nil
		}
		return out, false, fmt.Errorf("look up stack %d: %w", number, err)
	}
	out, ok = backend.ParseKept(val)
	return out, ok, nil
}
