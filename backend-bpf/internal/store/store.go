// Package store shows the globals of a running program, which lie in BPF maps, as the
// interpreter's Store: handlers on the host see and change what handlers in the kernel do.
//
// In: the plan's layout of the globals and the descriptors of the maps. Out: an
// interp.Store.
//
// Long scalars lie in shared memory and are changed by the CPU's own atomic
// operations. Elements of arrays are read by system calls; they are changed by small
// programs that the kernel runs on request (package file apply.go), since a system call can
// only replace an element, and an addition in the kernel between the reading and the
// replacing would be lost. Aggregates that are kept per CPU are merged on reading. Globals that no handler in the
// kernel touches are kept here, in memory.
package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/backend-bpf/internal/load"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/priority"
)

var le = binary.LittleEndian

// Store is an interp.Store over maps. It is safe for use by several goroutines.
type Store struct {
	p       *ir.Program
	globals []global
	scalars []byte // shared memory
	control []byte
	mem     *interp.MemStore // for absent globals
	cpus    int
	mu      sync.Mutex // buffers and the programs of apply.go
	apply   applier
	raws    []raw  // by global, see CopyLocked
	mark    uint32 // the word of the lock that is held here
	thread  priority.Raised
}

type global struct {
	*plan.GlobalLayout
	g  *ir.Global
	m  *load.Map // nil for scalars in shared memory and absent ones
	ks int
	vs int // bytes of one value as the kernel copies it: a multiple of 8 for per-CPU maps
}

// Config is what a Store stands on.
type Config struct {
	Program *ir.Program
	Globals []plan.GlobalLayout
	Maps    map[string]*load.Map
	// Scalars and Control are the mapped values of plan.MapScalars (nil if there is none) and plan.MapControl.
	Scalars, Control []byte
	// CPUs is the number of possible CPUs.
	CPUs int
}

// New checks that the layout fits the maps.
func New(c Config) (*Store, error) {
	s := &Store{p: c.Program, scalars: c.Scalars, control: c.Control, cpus: c.CPUs,
		globals: make([]global, len(c.Program.Globals))}
	if len(c.Globals) != len(c.Program.Globals) {
		return nil, fmt.Errorf("layout of %d globals for a program with %d", len(c.Globals), len(c.Program.Globals))
	}
	absent := false
	for i := range s.globals {
		g := &s.globals[i]
		*g = global{GlobalLayout: &c.Globals[i], g: c.Program.Globals[i]}
		if g.Absent {
			absent = true
			continue
		}
		if g.Map == plan.MapScalars && !g.g.IsArray() && g.g.Type != types.Stats {
			if g.ValueOff < 0 || g.ValueOff%8 != 0 || g.ValueOff+g.ValueSize > len(s.scalars) || g.ValueSize < 8 {
				return nil, fmt.Errorf("global %s lies at %d+%d of %d bytes of scalars", g.g.Name, g.ValueOff,
					g.ValueSize, len(s.scalars))
			}
			continue
		}
		if g.m = c.Maps[g.Map]; g.m == nil {
			return nil, fmt.Errorf("global %s: no map %s", g.g.Name, g.Map)
		}
		g.ks, g.vs = int(g.m.KeySize), int(g.m.ValueSize)
		if g.PerCPU {
			g.vs = (g.vs + 7) &^ 7
		}
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("global %s: %w", g.g.Name, err)
		}
	}
	if absent {
		s.mem = interp.NewMemStore(c.Program)
	}
	return s, nil
}

// check compares a layout with its map.
func (g *global) check() error {
	vs := int(g.m.ValueSize)
	if g.ValueOff < 0 || g.ValueOff+g.ValueSize > vs {
		return fmt.Errorf("value at %d+%d of %d bytes", g.ValueOff, g.ValueSize, vs)
	}
	if g.SeqOff >= 0 && g.SeqOff+8 > vs {
		return fmt.Errorf("number at %d of %d bytes", g.SeqOff, vs)
	}
	if len(g.Keys) != len(g.g.Keys) {
		return fmt.Errorf("layout of %d key columns for %d", len(g.Keys), len(g.g.Keys))
	}
	for _, k := range g.Keys {
		if k.Off < 0 || k.Size < 1 || k.Off+k.Size > g.ks {
			return fmt.Errorf("key column at %d+%d of %d bytes", k.Off, k.Size, g.ks)
		}
	}
	if g.g.Type == types.Stats {
		f := []int{g.Stat.Count, g.Stat.Sum, g.Stat.Min, g.Stat.Max, g.Stat.SqHi, g.Stat.SqLo}
		for i, off := range g.Stat.Hists {
			if off >= 0 && i < len(g.g.Stat.Hists) {
				f = append(f, off+8*(g.g.Stat.Hists[i].Buckets()-1))
			}
		}
		for _, off := range f {
			if off >= 0 && g.ValueOff+off+8 > vs {
				return fmt.Errorf("field at %d of %d bytes", off, vs-g.ValueOff)
			}
		}
	} else if g.g.Type == types.Long && g.ValueSize != 8 {
		return fmt.Errorf("number of %d bytes", g.ValueSize)
	}
	return nil
}

// long gives a Long scalar in shared memory.
func (s *Store) long(g *global) *atomic.Int64 {
	return (*atomic.Int64)(unsafe.Pointer(&s.scalars[g.ValueOff]))
}

// str gives the bytes of a String scalar in shared memory.
func (s *Store) str(g *global) []byte { return s.scalars[g.ValueOff : g.ValueOff+g.ValueSize] }

// key writes k as the map has it. Aggregates that are scalars have the index 0.
func (g *global) key(k interp.Key) []byte {
	b := make([]byte, g.ks)
	for i, c := range g.Keys {
		if i >= len(k) {
			break
		}
		if g.g.Keys[i].Type == types.Long {
			le.PutUint64(b[c.Off:], uint64(k[i].Int))
		} else {
			layout.PutString(b[c.Off:c.Off+c.Size], k[i].Str, g.g.Keys[i].Cap)
		}
	}
	return b
}

// parseKey reads a key.
func (g *global) parseKey(b []byte) interp.Key {
	k := make(interp.Key, len(g.Keys))
	for i, c := range g.Keys {
		if g.g.Keys[i].Type == types.Long {
			k[i].Int = int64(le.Uint64(b[c.Off:]))
		} else {
			k[i].Str = unix.ByteSliceToString(b[c.Off : c.Off+c.Size])
		}
	}
	return k
}

// parseVal reads a value that is no aggregate.
func (g *global) parseVal(b []byte) interp.Val {
	b = b[g.ValueOff : g.ValueOff+g.ValueSize]
	if g.g.Type == types.String {
		return interp.Val{Str: unix.ByteSliceToString(b)}
	}
	return interp.Val{Int: int64(le.Uint64(b))}
}

// copies is how many values a lookup gives.
func (s *Store) copies(g *global) int {
	if g.PerCPU {
		return s.cpus
	}
	return 1
}

// lookup reads an element: all its copies, one after the other; nil if it is not there.
func (s *Store) lookup(g *global, key []byte) ([]byte, error) {
	b := make([]byte, g.vs*s.copies(g))
	if err := kern.Lookup(g.m.FD(), key, b); err != nil {
		if err == unix.ENOENT {
			return nil, nil
		}
		return nil, s.fail(g, "read", err)
	}
	return b, nil
}

func (s *Store) fail(g *global, what string, err error) error {
	return fmt.Errorf("%s global %s: %w", what, g.g.Name, err)
}

// Get implements interp.Store.
func (s *Store) Get(i int, k interp.Key) (interp.Val, bool, error) {
	g := &s.globals[i]
	switch {
	case g.Absent:
		return s.mem.Get(i, k)
	case g.m == nil && g.g.Type == types.String:
		return interp.Val{Str: unix.ByteSliceToString(s.str(g))}, true, nil
	case g.m == nil:
		return interp.Val{Int: s.long(g).Load()}, true, nil
	}
	b, err := s.lookup(g, g.key(k))
	if b == nil || err != nil {
		return interp.Val{}, false, err
	}
	return g.parseVal(b), true, nil
}

// Set implements interp.Store.
func (s *Store) Set(i int, k interp.Key, v interp.Val) error {
	g := &s.globals[i]
	switch {
	case g.Absent:
		return s.mem.Set(i, k, v)
	case g.m == nil && g.g.Type == types.String:
		layout.PutString(s.str(g), v.Str, g.g.Cap)
		return nil
	case g.m == nil:
		s.long(g).Store(v.Int)
		return nil
	}
	val := make([]byte, g.ValueSize)
	if g.g.Type == types.String {
		layout.PutString(val, v.Str, g.g.Cap)
	} else {
		le.PutUint64(val, uint64(v.Int))
	}
	var ops []op
	for o := 0; o+8 <= len(val); o += 8 {
		ops = append(ops, op{opStore, g.ValueOff + o, le.Uint64(val[o:])})
	}
	_, err := s.change(g, g.key(k), ops)
	return err
}

// Add implements interp.Store.
func (s *Store) Add(i int, k interp.Key, n int64) (int64, error) {
	g := &s.globals[i]
	switch {
	case g.Absent:
		return s.mem.Add(i, k, n)
	case g.m == nil:
		return s.long(g).Add(n) - n, nil
	}
	return s.change(g, g.key(k), []op{{opAdd, g.ValueOff, uint64(n)}})
}

// Delete implements interp.Store.
func (s *Store) Delete(i int, k interp.Key) error {
	g := &s.globals[i]
	switch {
	case g.Absent:
		return s.mem.Delete(i, k)
	case !g.g.IsArray():
		return s.Clear(i)
	}
	if err := kern.Delete(g.m.FD(), g.key(k)); err != nil && err != unix.ENOENT {
		return s.fail(g, "delete from", err)
	}
	return nil
}

// Clear implements interp.Store.
func (s *Store) Clear(i int) error {
	g := &s.globals[i]
	switch {
	case g.Absent:
		return s.mem.Clear(i)
	case g.m == nil && g.g.Type == types.String:
		clear(s.str(g))
		return nil
	case g.m == nil:
		s.long(g).Store(0)
		return nil
	case !g.g.IsArray():
		if err := kern.Update(g.m.FD(), make([]byte, g.ks), make([]byte, g.vs*s.copies(g)),
			kern.UpdateAny); err != nil {
			return s.fail(g, "clear", err)
		}
		return nil
	}
	err := s.batches(g, true, func(keys, vals []byte, n int) {})
	if err != nil {
		return s.fail(g, "clear", err)
	}
	return nil
}

// AddStat implements interp.Store.
func (s *Store) AddStat(i int, k interp.Key, v int64) error {
	g := &s.globals[i]
	if g.Absent {
		return s.mem.AddStat(i, k, v)
	}
	_, err := s.change(g, g.key(k), g.statOps(v))
	return err
}

// statOps gives what adding v does to the fields of an aggregate.
func (g *global) statOps(v int64) []op {
	var ops []op
	add := func(kind opKind, off int, v uint64) {
		if off >= 0 {
			ops = append(ops, op{kind, g.ValueOff + off, v})
		}
	}
	l := &g.Stat
	add(opAdd, l.Count, 1)
	add(opAdd, l.Sum, uint64(v))
	add(opMax, l.Min, uint64(v^math.MaxInt64))
	add(opMax, l.Max, uint64(v^math.MinInt64))
	if l.SqLo >= 0 && l.SqHi >= 0 {
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		hi, lo := bits.Mul64(u, u)
		add(opAdd, l.SqHi, hi)
		ops = append(ops, op{opAddCarry + opKind(g.ValueOff+l.SqHi)<<8, g.ValueOff + l.SqLo, lo})
	}
	for i, off := range l.Hists {
		if off < 0 || i >= len(g.g.Stat.Hists) {
			continue
		}
		h := g.g.Stat.Hists[i]
		b := 0
		if h.Linear {
			b = layout.HistLinearBucket(v, h.Low, h.High, h.Width)
		} else {
			b = layout.HistLogBucket(v)
		}
		add(opAdd, off+8*b, 1)
	}
	return ops
}

// Stat implements interp.Store.
func (s *Store) Stat(i int, k interp.Key) (interp.Agg, bool, error) {
	g := &s.globals[i]
	if g.Absent {
		return s.mem.Stat(i, k)
	}
	b, err := s.lookup(g, g.key(k))
	if b == nil || err != nil {
		return interp.Agg{}, false, err
	}
	return *s.merge(g, b), true, nil
}
