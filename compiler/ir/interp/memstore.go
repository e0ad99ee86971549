package interp

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/types"
)

// MemStore is a Store in memory: for tests, and for globals that only host handlers touch. It is safe
// for use by several goroutines.
type MemStore struct {
	mu     sync.Mutex
	globs  []memGlobal
	limits layout.Limits
	locks  []sync.Mutex
	buf    []byte
}

// memGlobal is a scalar, or an array as a hash table threaded by a list in the order of insertion.
type memGlobal struct {
	g           *ir.Global
	scalar      Val
	agg         Agg
	elems       map[string]*memElem
	first, last *memElem
}

type memElem struct {
	hash       string // the encoded key
	key        Key
	val        Val
	agg        *Agg
	prev, next *memElem
}

// ErrLocked is returned by Lock when the lock could not be had in time.
var ErrLocked = errors.New("lock is taken")

// NewMemStore makes the globals of p with their first values.
func NewMemStore(p *ir.Program) *MemStore {
	s := &MemStore{globs: make([]memGlobal, len(p.Globals)), limits: p.Limits, locks: make([]sync.Mutex, p.Locks)}
	for i, g := range p.Globals {
		s.globs[i] = memGlobal{g: g, scalar: Val{Int: g.InitInt, Str: g.InitStr}}
		if g.IsArray() {
			s.globs[i].elems = map[string]*memElem{}
		}
	}
	return s
}

// encode writes k so that different keys give different bytes. The result is valid until the next call.
func (s *MemStore) encode(g *ir.Global, k Key) []byte {
	s.buf = s.buf[:0]
	for i, c := range g.Keys {
		if i >= len(k) {
			break
		}
		if c.Type == types.Long {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(k[i].Int))
			continue
		}
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(k[i].Str)))
		s.buf = append(s.buf, k[i].Str...)
	}
	return s.buf
}

func (s *MemStore) find(m *memGlobal, k Key) *memElem { return m.elems[string(s.encode(m.g, k))] }

// make finds or enters the element k.
func (s *MemStore) make(m *memGlobal, k Key) (*memElem, error) {
	enc := s.encode(m.g, k)
	if e := m.elems[string(enc)]; e != nil {
		return e, nil
	}
	if len(m.elems) >= m.g.Size {
		if !m.g.Wrap || m.first == nil {
			return nil, ErrFull
		}
		m.remove(m.first)
	}
	e := &memElem{hash: string(enc), key: append(Key(nil), k...)}
	if m.g.Type == types.Stats {
		e.agg = &Agg{}
	}
	m.append(e)
	return e, nil
}

// append puts e behind all others.
func (m *memGlobal) append(e *memElem) {
	if e.prev = m.last; e.prev != nil {
		e.prev.next = e
	} else {
		m.first = e
	}
	m.last = e
	m.elems[e.hash] = e
}

func (m *memGlobal) remove(e *memElem) {
	delete(m.elems, e.hash)
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		m.first = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		m.last = e.prev
	}
}

// Get implements Store.
func (s *MemStore) Get(g int, k Key) (Val, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	if m.elems == nil {
		return m.scalar, true, nil
	}
	if e := s.find(m, k); e != nil {
		return e.val, true, nil
	}
	return Val{}, false, nil
}

// Set implements Store.
func (s *MemStore) Set(g int, k Key, v Val) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	if m.elems == nil {
		m.scalar = v
		return nil
	}
	e, err := s.make(m, k)
	if err == nil {
		e.val = v
	}
	return err
}

// Add implements Store.
func (s *MemStore) Add(g int, k Key, n int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	v := &m.scalar
	if m.elems != nil {
		e, err := s.make(m, k)
		if err != nil {
			return 0, err
		}
		v = &e.val
	}
	before := v.Int
	v.Int += n
	return before, nil
}

// Delete implements Store.
func (s *MemStore) Delete(g int, k Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	if m.elems == nil {
		m.scalar, m.agg = Val{}, Agg{}
	} else if e := s.find(m, k); e != nil {
		m.remove(e)
	}
	return nil
}

// Clear implements Store.
func (s *MemStore) Clear(g int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	m.scalar, m.agg = Val{}, Agg{}
	if m.elems != nil {
		clear(m.elems)
		m.first, m.last = nil, nil
	}
	return nil
}

// aggregate finds or enters an aggregate. The store is locked.
func (s *MemStore) aggregate(g int, k Key) (*Agg, error) {
	m := &s.globs[g]
	if m.elems == nil {
		return &m.agg, nil
	}
	e, err := s.make(m, k)
	if err != nil {
		return nil, err
	}
	return e.agg, nil
}

// AddStat implements Store.
func (s *MemStore) AddStat(g int, k Key, v int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.aggregate(g, k)
	if err == nil {
		a.Add(v, &s.globs[g].g.Stat)
	}
	return err
}

// MergeStat adds to an aggregate what another one has got since it was added last; bounds says that Min and Max of a
// are known.
func (s *MemStore) MergeStat(g int, k Key, a *Agg, bounds bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to, err := s.aggregate(g, k)
	if err == nil {
		to.join(a, bounds)
	}
	return err
}

// Stat implements Store.
func (s *MemStore) Stat(g int, k Key) (Agg, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	if m.elems == nil {
		return *m.agg.clone(), true, nil
	}
	if e := s.find(m, k); e != nil && e.agg != nil {
		return *e.agg.clone(), true, nil
	}
	return Agg{}, false, nil
}

// Elems implements Store: in the order of insertion.
func (s *MemStore) Elems(g int) ([]Elem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.globs[g]
	out := make([]Elem, 0, len(m.elems))
	for e := m.first; e != nil; e = e.next {
		el := Elem{Key: e.key, Val: e.val}
		if e.agg != nil {
			el.Agg = e.agg.clone()
		}
		out = append(out, el)
	}
	return out, nil
}

// Lock implements Store: it tries MAXTRYLOCK times, TRYLOCKDELAY apart, then gives ErrLocked.
func (s *MemStore) Lock(class int) error {
	for i := 0; ; i++ {
		if s.locks[class].TryLock() {
			return nil
		}
		if i >= s.limits.MaxTryLock {
			return ErrLocked
		}
		time.Sleep(time.Duration(s.limits.TryLockDelay) * time.Microsecond)
	}
}

// Unlock implements Store.
func (s *MemStore) Unlock(class int) { s.locks[class].Unlock() }
