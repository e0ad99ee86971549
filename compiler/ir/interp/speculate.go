package interp

import "fmt"

// speculations are outputs that are held back, by number.
type speculations struct {
	last int64
	held map[int64][]byte
	// now is the one that the running handler prints to, 0 for none.
	now int64
	// full: it was said that a speculation grew too large.
	full bool
}

// Bounds of what is held back.
const (
	maxSpeculations = 4096
	maxSpeculation  = 1 << 20 // bytes of one
)

// print writes text to where the handler's output goes now.
func (m *Machine) print(text []byte) {
	s := &m.spec
	if s.now == 0 {
		m.out.Print(text)
		return
	}
	buf := s.held[s.now]
	if len(buf)+len(text) > maxSpeculation {
		if !s.full {
			s.full = true
			m.out.Warn(fmt.Sprintf("speculation %d holds %d bytes; what it prints further is lost", s.now, len(buf)))
		}
		return
	}
	s.held[s.now] = append(buf, text...)
}

func speculation(m *Machine, _ []Val, _ int) (Val, error) {
	s := &m.spec
	if len(s.held) >= maxSpeculations {
		return Val{}, badArg(fmt.Sprintf("speculation: %d are open; commit or discard some", len(s.held)))
	}
	if s.held == nil {
		s.held = map[int64][]byte{}
	}
	s.last++
	s.held[s.last] = nil
	return long(s.last)
}

// logText is log(): a line among the output, held back like the rest.
func logText(m *Machine, a []Val, _ int) (Val, error) {
	if m.spec.now == 0 {
		m.out.Log(a[0].Str)
	} else {
		m.print([]byte(a[0].Str + "\n"))
	}
	return Val{}, nil
}

func speculate(m *Machine, a []Val, _ int) (Val, error) {
	id := a[0].Int
	if _, ok := m.spec.held[id]; !ok {
		return Val{}, badArg(fmt.Sprintf("speculate: there is no open speculation %d", id))
	}
	m.spec.now = id
	return Val{}, nil
}

// commit and discard do nothing to a speculation that is not open: 0 is what scripts look up for a
// thread whose begin they have not seen.
func commit(m *Machine, a []Val, _ int) (Val, error) {
	id := a[0].Int
	if text := m.spec.held[id]; len(text) > 0 {
		m.out.Print(text)
	}
	m.spec.end(id)
	return Val{}, nil
}

func discard(m *Machine, a []Val, _ int) (Val, error) {
	m.spec.end(a[0].Int)
	return Val{}, nil
}

func (s *speculations) end(id int64) {
	delete(s.held, id)
	if s.now == id {
		s.now = 0
	}
}
