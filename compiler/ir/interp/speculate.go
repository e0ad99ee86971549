package interp

import "fmt"

// speculations hold back text until it is known whether it matters, by number.
type speculations struct {
	last int64
	held map[int64][]byte
	size int // bytes held
}

// maxHeld bounds the bytes of all that is held back, with each for the rest of an entry.
const (
	maxHeld = 64 << 20
	each    = 64
)

func speculation(m *Machine, _ []Val, _ int) (Val, error) {
	m.spec.last++
	return long(m.spec.last)
}

func speculate(m *Machine, a []Val, _ int) (Val, error) {
	s := &m.spec
	if s.size+len(a[1].Str)+each > maxHeld {
		return Val{}, badArg(fmt.Sprintf("speculate: %d megabytes are held back; commit or discard some", maxHeld>>20))
	}
	if s.held == nil {
		s.held = map[int64][]byte{}
	}
	if _, ok := s.held[a[0].Int]; !ok {
		s.size += each
	}
	s.size += len(a[1].Str)
	s.held[a[0].Int] = append(s.held[a[0].Int], a[1].Str...)
	return Val{}, nil
}

// commit and discard do nothing where nothing is held: 0 is what scripts look up for a thread whose begin
// they have not seen.
func commit(m *Machine, a []Val, _ int) (Val, error) {
	if text := m.spec.held[a[0].Int]; len(text) > 0 {
		m.out.Print(text)
	}
	return discard(m, a, 0)
}

func discard(m *Machine, a []Val, _ int) (Val, error) {
	s := &m.spec
	if text, ok := s.held[a[0].Int]; ok {
		s.size -= len(text) + each
		delete(s.held, a[0].Int)
	}
	return Val{}, nil
}
