package store

import (
	"fmt"
	"math"
	"math/bits"
	"sort"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/backend-bpf/internal/kern"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
)

// merge adds up the copies of an aggregate.
func (s *Store) merge(g *global, b []byte) *interp.Agg {
	a := &interp.Agg{}
	l := &g.Stat
	for i := range l.Hists {
		n := 0
		if i < len(g.g.Stat.Hists) {
			n = g.g.Stat.Hists[i].Buckets()
		}
		a.Hists = append(a.Hists, make([]int64, n))
	}
	var lo, hi uint64 // the greatest of the transformed minimum and maximum; 0 is none
	for ; len(b) >= g.vs; b = b[g.vs:] {
		v := b[g.ValueOff:]
		get := func(off int) uint64 {
			if off < 0 {
				return 0
			}
			return le.Uint64(v[off:])
		}
		a.Count += int64(get(l.Count))
		a.Sum += int64(get(l.Sum))
		lo, hi = max(lo, get(l.Min)), max(hi, get(l.Max))
		var c uint64
		a.SqLo, c = bits.Add64(a.SqLo, get(l.SqLo), 0)
		a.SqHi, _ = bits.Add64(a.SqHi, get(l.SqHi), c)
		for i, off := range l.Hists {
			if off < 0 {
				continue
			}
			for j := range a.Hists[i] {
				a.Hists[i][j] += int64(get(off + 8*j))
			}
		}
	}
	// Zero stands for "nothing seen" and, rarely, for an extreme that was seen: MaxInt64 as the least of all
	// values and MinInt64 as the greatest are both kept as 0, and are what 0 turns back into.
	if l.Min >= 0 {
		a.Min = int64(lo) ^ math.MaxInt64
	}
	if l.Max >= 0 {
		a.Max = int64(hi) ^ math.MinInt64
	}
	if l.Count >= 0 && a.Count == 0 {
		a.Min, a.Max = 0, 0
	}
	return a
}

// Elems implements interp.Store. Where the array keeps numbers the elements come in the order of insertion,
// else by key: the kernel's own order is that of a hash with a random seed.
func (s *Store) Elems(i int) ([]interp.Elem, error) {
	g := &s.globals[i]
	if g.Absent {
		return s.mem.Elems(i)
	}
	if !g.g.IsArray() {
		return nil, fmt.Errorf("global %s is not an array", g.g.Name)
	}
	var items []item
	err := s.batches(g, false, func(keys, vals []byte, n int) { items = s.parse(items, g, keys, vals, n) })
	if err != nil {
		return nil, s.fail(g, "list", err)
	}
	return inOrder(items), nil
}

// item is an element with the number of its insertion.
type item struct {
	seq  uint64
	elem interp.Elem
}

// parse appends the n elements that lie in keys and vals.
func (s *Store) parse(items []item, g *global, keys, vals []byte, n int) []item {
	span := g.vs * s.copies(g)
	for j := range n {
		v := vals[j*span : (j+1)*span]
		it := item{elem: interp.Elem{Key: g.parseKey(keys[j*g.ks:])}}
		if g.SeqOff >= 0 {
			// Of a per-CPU element only the CPU that made it has written the number.
			for c := 0; c < len(v); c += g.vs {
				it.seq = max(it.seq, le.Uint64(v[c+g.SeqOff:]))
			}
		}
		if g.g.Type == types.Stats {
			it.elem.Agg = s.merge(g, v)
		} else {
			it.elem.Val = g.parseVal(v)
		}
		items = append(items, it)
	}
	return items
}

func inOrder(items []item) []interp.Elem {
	sort.Slice(items, func(a, b int) bool {
		if items[a].seq != items[b].seq {
			return items[a].seq < items[b].seq
		}
		return lessKey(items[a].elem.Key, items[b].elem.Key)
	})
	out := make([]interp.Elem, len(items))
	for j := range items {
		out[j] = items[j].elem
	}
	return out
}

func lessKey(a, b interp.Key) bool {
	for i := range a {
		if a[i].Int != b[i].Int {
			return a[i].Int < b[i].Int
		}
		if a[i].Str != b[i].Str {
			return a[i].Str < b[i].Str
		}
	}
	return false
}

// batches passes on all elements, and takes them out if take is set. Keys and values are valid during the call.
func (s *Store) batches(g *global, take bool, fn func(keys, vals []byte, n int)) error {
	const bytes = 1 << 20
	span := g.vs * s.copies(g)
	n := min(max(bytes/(span+g.ks), 64), int(g.m.Entrys)+1)
	var in []byte
	keys, vals := make([]byte, n*g.ks), make([]byte, n*span)
	cursor := make([]byte, max(g.ks, 8))
	for {
		out := make([]byte, len(cursor))
		got, err := kern.LookupBatch(g.m.FD(), take, in, out, keys, vals, n)
		switch err {
		case nil, unix.ENOENT:
			fn(keys, vals, got)
			if err != nil || got == 0 {
				return nil
			}
			in = out
		case unix.ENOSPC: // one bucket of the hash alone has more
			n *= 2
			if n > 4*int(g.m.Entrys)+1024 {
				return err
			}
			keys, vals = make([]byte, n*g.ks), make([]byte, n*span)
		case unix.EINTR, unix.EAGAIN:
		default:
			return err
		}
	}
}
