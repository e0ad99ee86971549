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
	if m == nil || number <= 0 || number > plan.MaxStacks {
		return out, false, nil
	}
	val := make([]byte, m.ValueSize)
	if err := kern.Lookup(m.FD(), binary.NativeEndian.AppendUint32(nil, uint32(number)), val); err != nil {
		if err == unix.ENOENT {
			return out, false, nil
		}
		return out, false, fmt.Errorf("look up stack %d: %w", number, err)
	}
	word := func(i int) uint32 { return binary.NativeEndian.Uint32(val[4*i:]) }
	n := int(word(0))
	if n == 0 || n > (len(val)-16)/8 {
		return out, false, nil
	}
	is := word(3)
	out = backend.KeptStack{Tgid: word(2), User: is != 0, Walked: is&plan.StackWalked != 0, Cut: is&plan.StackCut != 0}
	for i := range n {
		pc := binary.NativeEndian.Uint64(val[16+8*i:])
		if out.Walked && i > 0 && pc&plan.Interrupted != 0 {
			pc &^= plan.Interrupted
			out.Exact = append(out.Exact, i)
		}
		out.PCs = append(out.PCs, pc)
	}
	return out, true, nil
}
