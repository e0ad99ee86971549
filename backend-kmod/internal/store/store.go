// Package store shows the globals of a loaded module as the interpreter's Store, so
// that handlers on the host see and change what those in the kernel do. Every
// method is one operation on the control file, atomic towards handlers. Globals that no
// handler in the kernel uses are kept here.
//
// In: the layout of the globals and the module. Out: an interp.Store.
package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-kmod/internal/cgen"
	"github.com/gostap/gostap/backend-kmod/internal/stage"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/priority"
)

var le = binary.LittleEndian

// Module is what the store needs of a stage.Module.
type Module interface {
	Do(op stage.Op, glob uint32, n int64, key, val []byte) (int64, error)
}

// Store is an interp.Store over a module.
type Store struct {
	p      *ir.Program
	lay    []cgen.Layout
	m      Module
	mem    *interp.MemStore
	thread priority.Raised // while a lock is held
}

// New makes a store.
func New(p *ir.Program, lay []cgen.Layout, m Module) *Store {
	return &Store{p: p, lay: lay, m: m, mem: interp.NewMemStore(p)}
}

func (s *Store) key(g int, k interp.Key) []byte {
	l, gl := &s.lay[g], s.p.Globals[g]
	b := make([]byte, l.KeySize)
	for i, c := range gl.Keys {
		if i >= len(k) {
			break
		}
		if c.Type == types.String {
			layout.PutString(b[l.Off[i]:l.Off[i]+l.Size[i]], k[i].Str, c.Cap)
		} else {
			le.PutUint64(b[l.Off[i]:], uint64(k[i].Int))
		}
	}
	return b
}

func (s *Store) parseKey(g int, b []byte) interp.Key {
	l, gl := &s.lay[g], s.p.Globals[g]
	k := make(interp.Key, len(gl.Keys))
	for i, c := range gl.Keys {
		if c.Type == types.String {
			k[i].Str = unix.ByteSliceToString(b[l.Off[i] : l.Off[i]+l.Size[i]])
		} else {
			k[i].Int = int64(le.Uint64(b[l.Off[i]:]))
		}
	}
	return k
}

func (s *Store) value(g int, b []byte) interp.Val {
	if s.p.Globals[g].Type == types.String {
		return interp.Val{Str: unix.ByteSliceToString(b)}
	}
	return interp.Val{Int: int64(le.Uint64(b))}
}

func (s *Store) agg(g int, b []byte) *interp.Agg {
	w := func(i int) uint64 { return le.Uint64(b[8*i:]) }
	a := &interp.Agg{Count: int64(w(0)), Sum: int64(w(1)), Min: int64(w(2)), Max: int64(w(3)), SqLo: w(4), SqHi: w(5)}
	at := cgen.AggHead / 8
	for _, h := range s.p.Globals[g].Stat.Hists {
		counts := make([]int64, h.Buckets())
		for i := range counts {
			counts[i] = int64(w(at + i))
		}
		at += len(counts)
		a.Hists = append(a.Hists, counts)
	}
	return a
}

// do runs one operation. key is nil for scalars; the module ignores val where the operation has none, but wants its
// room.
func (s *Store) do(op stage.Op, g int, n int64, k interp.Key, val []byte) (int64, error) {
	l := &s.lay[g]
	if val == nil {
		val = make([]byte, l.ValueSize)
	}
	var key []byte
	if l.KeySize > 0 && op != stage.Elems {
		key = s.key(g, k)
	}
	for i := 0; ; i++ {
		got, err := s.m.Do(op, uint32(l.Index), n, key, val)
		switch {
		case err == nil:
			return got, nil
		case err == unix.ENOSPC:
			return 0, interp.ErrFull
		case err != unix.EBUSY || i >= maxBusy:
			return 0, fmt.Errorf("global %s in the module: %w", s.p.Globals[g].Name, err)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// maxBusy is how often an operation is tried when a handler has the lock, which is for microseconds unless the
// handler's CPU is taken away, as in a virtual machine.
const maxBusy = 20000

// Get implements interp.Store, as do the next ones.
func (s *Store) Get(g int, k interp.Key) (interp.Val, bool, error) {
	if s.lay[g].Absent {
		return s.mem.Get(g, k)
	}
	val := make([]byte, s.lay[g].ValueSize)
	n, err := s.do(stage.Get, g, 0, k, val)
	if err != nil || n == 0 {
		return interp.Val{}, false, err
	}
	return s.value(g, val), true, nil
}

// Set stores a value.
func (s *Store) Set(g int, k interp.Key, v interp.Val) error {
	if s.lay[g].Absent {
		return s.mem.Set(g, k, v)
	}
	val := make([]byte, s.lay[g].ValueSize)
	if gl := s.p.Globals[g]; gl.Type == types.String {
		layout.PutString(val, v.Str, gl.Cap)
	} else {
		le.PutUint64(val, uint64(v.Int))
	}
	_, err := s.do(stage.Set, g, 0, k, val)
	return err
}

// Add adds to a Long.
func (s *Store) Add(g int, k interp.Key, n int64) (int64, error) {
	if s.lay[g].Absent {
		return s.mem.Add(g, k, n)
	}
	return s.do(stage.Add, g, n, k, nil)
}

// Delete removes an element or resets a scalar.
func (s *Store) Delete(g int, k interp.Key) error {
	if s.lay[g].Absent {
		return s.mem.Delete(g, k)
	}
	_, err := s.do(stage.Delete, g, 0, k, nil)
	return err
}

// Clear removes all elements or resets a scalar.
func (s *Store) Clear(g int) error {
	if s.lay[g].Absent {
		return s.mem.Clear(g)
	}
	_, err := s.do(stage.Clear, g, 0, nil, nil)
	return err
}

// AddStat adds a value to an aggregate.
func (s *Store) AddStat(g int, k interp.Key, v int64) error {
	if s.lay[g].Absent {
		return s.mem.AddStat(g, k, v)
	}
	_, err := s.do(stage.AddStat, g, v, k, nil)
	return err
}

// Stat reads an aggregate.
func (s *Store) Stat(g int, k interp.Key) (interp.Agg, bool, error) {
	if s.lay[g].Absent {
		return s.mem.Stat(g, k)
	}
	val := make([]byte, s.lay[g].ValueSize)
	n, err := s.do(stage.Get, g, 0, k, val)
	if err != nil || n == 0 {
		return interp.Agg{}, false, err
	}
	return *s.agg(g, val), true, nil
}

// Elems lists the elements in the order of insertion.
func (s *Store) Elems(g int) ([]interp.Elem, error) {
	if s.lay[g].Absent {
		return s.mem.Elems(g)
	}
	l, gl := &s.lay[g], s.p.Globals[g]
	size := l.KeySize + l.ValueSize
	buf := make([]byte, gl.Size*size)
	n, err := s.do(stage.Elems, g, 0, nil, buf)
	if err != nil {
		return nil, err
	}
	out := make([]interp.Elem, 0, n)
	for i := range int(n) {
		b := buf[i*size : (i+1)*size]
		e := interp.Elem{Key: s.parseKey(g, b)}
		if gl.Type == types.Stats {
			e.Agg = s.agg(g, b[l.KeySize:])
		} else {
			e.Val = s.value(g, b[l.KeySize:])
		}
		out = append(out, e)
	}
	return out, nil
}
