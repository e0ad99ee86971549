package values

import (
	"sort"

	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// mapping writes the elements of a map, as fmt does in the order of their keys where those are numbers or strings.
func (t *texter) mapping(v value, l level) {
	p, ok := t.leads(v)
	if !ok {
		return
	}
	key, elem := v.t.Key(), v.t.Elem()
	head, read, gone := t.at(p, 48)
	switch {
	case gone:
		t.lost()
		return
	case !read || len(head) < 48 || t.p.Go == 0:
		t.lit("map[...]")
		return
	}
	n := le.Uint64(head) // how many there are: used of internal/runtime/maps.Map, count of runtime.hmap
	if n == 0 {
		t.lit("map[]")
		return
	}
	if n > 1<<40 {
		t.lost()
		return
	}
	if key == nil || elem == nil || key.Size < 0 || elem.Size < 0 {
		t.printf("map[...%d]", n)
		return
	}
	g := shape.GroupOf(t.p.Swiss, key, elem)
	if t.cycle(p, v.t) { // a map that is an element of itself
		t.printf("map[...%d]", n)
		return
	}
	var list []pair
	if t.p.Swiss {
		list = t.swiss(head, g, key, elem)
	} else {
		list = t.buckets(head, g, key, elem)
	}
	if uint64(len(list)) > n {
		t.lost() // it was changed while it was read
		return
	}
	if len(list) > 0 && sortable(key) {
		sort.SliceStable(list, func(i, j int) bool { return t.less(list[i].key, list[j].key) })
	}
	t.lit("map")
	t.inside(p, v.t, func() {
		t.list(n, func(i uint64) bool {
			if i >= uint64(len(list)) {
				return false
			}
			t.value(list[i].key, l.in())
			t.lit(":")
			t.value(list[i].elem, l.in())
			return true
		})
	})
}

// pair is an element of a map.
type pair struct{ key, elem value }

// slot gives the i-th element of a group or bucket that is known in full.
func (t *texter) slot(group []byte, g shape.Group, i int64, key, elem *types.Ctype) (pair, bool) {
	one := func(off int64, ptr bool, typ *types.Ctype) (value, bool) {
		all := value{b: group}
		if !ptr {
			v := all.part(off, typ)
			return v, int64(len(v.b)) == typ.Size
		}
		p, ok := all.word(off)
		if !ok {
			return value{}, false
		}
		b, _, _ := t.at(p, typ.Size)
		return value{t: typ, b: b}, true
	}
	k, ok1 := one(g.KeyAt+i*g.KeyStep, g.KeyPtr, key)
	e, ok2 := one(g.ElemAt+i*g.ElemStep, g.ElemPtr, elem)
	return pair{k, e}, ok1 && ok2
}

// swiss lists the elements of a map of Go 1.24 and later (internal/runtime/maps): one group, or a directory of tables
// of groups. A byte for each slot comes first, whose top bit says that it is empty.
func (t *texter) swiss(head []byte, g shape.Group, key, elem *types.Ctype) (out []pair) {
	alone := flat(key) && flat(elem)
	group := func(b []byte) {
		if int64(len(b)) < g.Size && !alone {
			return // what a group leads to that is not there in full has not been copied
		}
		for i := int64(0); i < 8 && len(b) >= 8; i++ {
			if b[i]&0x80 == 0 {
				if e, ok := t.slot(b, g, i, key, elem); ok {
					out = append(out, e)
				}
			}
		}
	}
	dir, n := le.Uint64(head[16:]), le.Uint64(head[24:])
	if n == 0 {
		b, _, _ := t.at(dir, g.Size)
		group(b)
		return out
	}
	// The tables are those pieces that the directory led to: the walk puts each one's groups right behind it.
	// A map that two values lead to is there twice.
	seen := map[uint64]bool{}
	for i := 1; i+1 < len(t.mem); i++ {
		tab, groups := &t.mem[i], &t.mem[i+1]
		if len(tab.b) != 32 || le.Uint64(tab.b[16:]) != groups.addr || groups.addr == 0 || !t.ofMap(head, tab.addr) {
			continue
		}
		if seen[tab.addr] {
			continue
		}
		seen[tab.addr] = true
		for off := int64(0); off < int64(len(groups.b)); off += g.Size {
			group(groups.b[off:min(off+g.Size, int64(len(groups.b)))])
		}
	}
	return out
}

// ofMap reports whether a table is one of the map that head begins. Tables of several maps of one type may be in a
// snapshot.
func (t *texter) ofMap(head []byte, tab uint64) bool {
	dir, n := le.Uint64(head[16:]), le.Uint64(head[24:])
	b, _, _ := t.at(dir, int64(min(n, 1<<10))*8)
	for ; len(b) >= 8; b = b[8:] {
		if le.Uint64(b) == tab {
			return true
		}
	}
	return false
}

// buckets lists the elements of a map before Go 1.24 (runtime/map.go): a byte for each slot comes first, below 5 where
// it is empty. Those that have not yet moved from the old buckets of a map that grows are not among them.
func (t *texter) buckets(head []byte, g shape.Group, key, elem *types.Ctype) (out []pair) {
	const minTopHash = 5
	n := int64(1) << min(head[9], 20)
	b, _, _ := t.at(le.Uint64(head[16:]), n*g.Size)
	for off := int64(0); off+g.Size <= int64(len(b)); off += g.Size {
		bucket := b[off : off+g.Size]
		for chain := 0; len(bucket) == int(g.Size) && chain < 64; chain++ {
			for i := int64(0); i < 8; i++ {
				if bucket[i] >= minTopHash {
					if e, ok := t.slot(bucket, g, i, key, elem); ok {
						out = append(out, e)
					}
				}
			}
			next := le.Uint64(bucket[g.Size-8:])
			if next == 0 {
				break
			}
			bucket, _, _ = t.at(next, g.Size)
		}
	}
	return out
}

// flat reports whether values of a type lead to nothing.
func flat(t *types.Ctype) bool {
	switch t.Kind {
	case types.Int, types.Bool, types.Char, types.Float, types.Complex, types.Enum:
		return true
	case types.Array:
		return t.Elem() != nil && flat(t.Elem())
	case types.Struct:
		for _, f := range t.Fields() {
			if f.Type == nil || !flat(f.Type) {
				return false
			}
		}
		return true
	}
	return false
}

func sortable(t *types.Ctype) bool {
	return t.Kind == types.Int || t.Kind == types.GoString || t.Kind == types.Bool
}

func (t *texter) less(a, b value) bool {
	if a.t.Kind == types.GoString {
		x, _, _ := t.text(a)
		y, _, _ := t.text(b)
		return x < y
	}
	x, _ := integer(a)
	y, _ := integer(b)
	if a.t.Signed {
		return x < y
	}
	return uint64(x) < uint64(y)
}

// channel writes how full a channel is, what is in it, and whether anybody waits (runtime/chan.go).
func (t *texter) channel(v value, l level) {
	p, ok := t.leads(v)
	if !ok {
		return
	}
	h, read, gone := t.at(p, 96)
	switch {
	case gone:
		t.lost()
		return
	case !read || len(h) < 96:
		t.printf("(%s)(0x%x)", short(v.t.Name), p)
		return
	}
	queue := 48 // sendx; recvx, recvq and sendq follow
	if t.p.Go < 23 {
		queue = 40
	}
	count, size, buf := le.Uint64(h), le.Uint64(h[8:]), le.Uint64(h[16:])
	closed := le.Uint32(h[28:])
	recvx := le.Uint64(h[queue+8:])
	receivers, senders := le.Uint64(h[queue+16:]), le.Uint64(h[queue+32:])
	if count > size {
		t.lost()
		return
	}
	t.printf("chan(%d/%d", count, size)
	if closed != 0 {
		t.lit(", closed")
	}
	if receivers != 0 {
		t.lit(", receivers wait")
	}
	if senders != 0 {
		t.lit(", senders wait")
	}
	t.lit(")")
	e := v.t.Elem()
	if count == 0 || e == nil || e.Size <= 0 {
		return
	}
	b, read, _ := t.at(buf, int64(min(size, 1<<16))*e.Size)
	if !read {
		return
	}
	t.list(count, func(i uint64) bool {
		at := int64((recvx+i)%size) * e.Size
		if at+e.Size > int64(len(b)) {
			return false
		}
		t.value(value{b: b}.part(at, e), l.in())
		return true
	})
}
