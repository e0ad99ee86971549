package shape

import "github.com/gostap/gostap/compiler/types"

// The table for the kernel is a list of words. The first ones:
const (
	TableFlag   = iota // byte of a run-time type that says, in bit 5, whether values of it are one pointer
	TableDepth         // how many pointers are followed
	TableElems         // the most elements of a slice or map
	TableStr           // the most bytes of a string
	TableSwiss         // 1: maps are swiss tables
	TableRoots         // where the record of the values themselves is
	tableHeader = 8
)

// A record says what of a type's bytes leads further:
//
//	bytes of the type, number of leaves, then for each leaf:
//	kind | offset << 8, record of what it leads to (0: none), bytes of that, 1 if following it does not count
//
// The kinds of leaves:
const (
	_           = iota
	LeafPtr     // a pointer
	LeafString  // a string: pointer, length
	LeafSlice   // pointer, length, capacity
	LeafIface   // an interface with methods: itab, data
	LeafEface   // one without: type, data
	LeafSwiss   // a swiss map: the record and bytes are those of a group
	LeafBuckets // a map before Go 1.24: those of a bucket
	LeafChan
	LeafFunc
	// LeafSpan: elements at an address. The fourth word has in its bits: 1 (MoreEnd) the length is the address of the
	// end, 2 (MoreText) they are text, 3 (MoreBefore) the length lies 24 bytes in front of them; from bit 8 on where
	// the length lies.
	LeafSpan
	// LeafSkip leaves out leaves: its words are kind and offset, lowest value, how many values follow that one, and in
	// the fourth the bytes of the number (bits 0 to 7), whether to do so if it is one of these values, or if it is not
	// (bit 8), and how many leaves (from bit 16 on).
	LeafSkip
	LeafChars // the address of a string of C
	// Elements that lie apart. The fourth word has from bit 8 on where their number lies, or in bit 5 (moreUnknown)
	// that it is not known. A LeafMore follows, whose kind is 0 and whose last words are, the first one in 16 bits for
	// each offset:
	//
	//	LeafList: the next one in a node; the element in a node
	//	LeafTree: parent, left and right in a node; the element in a node. The leaf leads to the leftmost node
	//	LeafTable: how many buckets there are, minus one; nothing. The elements lie in front of the address
	//	LeafChunks: the end of the first chunk, the address of the first chunk's pointer, the last element's end, the
	//	  last chunk's pointer; bytes of a chunk
	//	LeafRing: room, first element, end; 1 if the end is to be used
	//	LeafNodes: in a node the parent, which of its edges leads here, the number of keys, the edges; where the
	//	  height of the root is, and from bit 16 on the bytes of a node with edges
	LeafList
	LeafTree
	LeafTable
	LeafChunks
	LeafRing
	LeafNodes
	LeafMore
)

// Bits of the fourth word of a leaf.
const (
	moreFree = 1 << iota // following it does not count
	moreEnd              // see LeafSpan
	moreText
	moreBefore
	_
	moreUnknown
)

// LeafWords is the words of a leaf, RecordHead those before the first one.
const (
	LeafWords  = 4
	RecordHead = 2
)

// MaxWords bounds the numbers that a plan's values are made of, MaxLeaves the leaves of one record.
const (
	MaxWords  = 512
	maxLeaves = 192
)

// Words counts the numbers that the values of a plan are made of.
func (p *Plan) Words() int {
	n := 0
	for _, pt := range p.Parts {
		n = max(n, pt.Live)
		for _, w := range pt.Words {
			n = max(n, w.At+1)
		}
	}
	return max(n, p.Bias)
}

// Leads reports whether, by a plan's table, anything in the values leads further.
func Leads(table []uint64) bool { return table[table[TableRoots]+1] > 0 }

// Table is the plan for the kernel.
func (p *Plan) Table() []uint64 {
	tb := tabler{p: p, types: p.Ctypes(), at: make([]uint64, len(p.Types)), out: make([]uint64, tableHeader),
		groups: map[int]uint64{}}
	flag := uint64(23) // abi.Type.Kind_
	if p.Go >= 26 {
		flag = 20 // abi.Type.TFlag
	}
	tb.out[TableFlag], tb.out[TableDepth] = flag, uint64(p.Depth)
	tb.out[TableElems], tb.out[TableStr] = uint64(p.Elems), uint64(p.Str)
	if p.Swiss {
		tb.out[TableSwiss] = 1
	}
	var roots []leaf
	for _, pt := range p.Parts {
		if len(pt.Words) == 0 || pt.Type == 0 {
			continue
		}
		if pt.Addr {
			roots = append(roots, leaf{kind: LeafPtr, off: int64(pt.Words[0].At) * 8, typ: pt.Type,
				size: tb.size(pt.Type), free: true})
			continue
		}
		roots = append(roots, tb.placed(pt)...)
	}
	tb.out[TableRoots] = tb.record(int64(p.Words())*8, roots)
	for len(tb.todo) > 0 {
		f := tb.todo[0]
		tb.todo = tb.todo[1:]
		f()
	}
	return tb.out
}

// placed are the leaves of a value that is made of numbers: those that are there.
func (t *tabler) placed(pt Part) (out []leaf) {
	ls := t.leaves(pt.Type, 0, nil)
	at := make([]int, len(ls)+1) // how many are there before each
	for i, l := range ls {
		at[i] = len(out)
		var ok1, ok2 bool
		var off int64
		length := l.length
		switch l.kind {
		case LeafSkip:
			off, ok1 = place(pt.Words, leaf{off: l.off, tag: l.tag})
			ok2 = true
		case LeafSpan:
			off, ok1 = place(pt.Words, leaf{off: l.off})
			length, ok2 = place(pt.Words, leaf{off: l.length})
		case LeafList, LeafTree, LeafTable, LeafChunks, LeafRing, LeafNodes,
			LeafMore: // they are too large for registers
		default:
			off, ok1 = place(pt.Words, l)
			ok2 = true
		}
		if !ok1 || !ok2 {
			continue
		}
		l.off, l.length = off, length
		l.free = l.free || pt.Deref && l.kind == LeafPtr
		if l.kind == LeafSkip {
			l.count += i + 1 // for now the first leaf that stays
		}
		out = append(out, l)
	}
	at[len(ls)] = len(out)
	for i := range out {
		if l := &out[i]; l.kind == LeafSkip {
			l.count = at[min(l.count, len(ls))] - i - 1
		}
	}
	return out
}

// place finds where a leaf is among the numbers: all of its words one behind the other.
func place(words []Word, l leaf) (int64, bool) {
	for _, w := range words {
		if w.Off == l.off && (w.Size == 8 || l.tag > 0 && w.Size >= l.tag) {
			for k := int64(1); k < l.words(); k++ {
				if !has(words, Word{w.At + int(k), w.Off + 8*k, 8}) {
					return 0, false
				}
			}
			return int64(w.At) * 8, true
		}
	}
	return 0, false
}

func has(words []Word, w Word) bool {
	for _, v := range words {
		if v == w {
			return true
		}
	}
	return false
}

type leaf struct {
	kind  int
	off   int64
	typ   int // of what it leads to, index from 1; of a map the map
	size  int64
	inMap bool
	// free: following it does not count as a step into the depth.
	free bool
	// more are further bits of the fourth word, length where a LeafSpan's length lies.
	more   uint64
	length int64
	// lo, span, tag and count are those of a LeafSkip: the values, the bytes of the number, how many leaves; not: it is
	// done for these values, not for all others.
	lo, span uint64
	tag      int64
	count    int
	not      bool
	// raw are the words of a LeafMore.
	raw [2]uint64
}

// words are how many numbers a leaf is made of.
func (l leaf) words() int64 {
	switch l.kind {
	case LeafString, LeafIface, LeafEface, LeafSlice:
		return 2 // a slice's capacity is not looked at
	}
	return 1
}

type tabler struct {
	p      *Plan
	types  []*types.Ctype // Plan.Ctypes
	out    []uint64
	at     []uint64
	groups map[int]uint64
	todo   []func()
}

func (t *tabler) size(i int) int64 {
	if i == 0 {
		return 0
	}
	return max(t.p.Types[i-1].Size, 0)
}

// leaves appends those of type i at off.
func (t *tabler) leaves(i int, off int64, out []leaf) []leaf {
	if i == 0 || len(out) >= maxLeaves {
		return out
	}
	d := &t.p.Types[i-1]
	if d.Form != nil {
		return t.formed(d, off, out)
	}
	if d.Lang != types.OtherLang {
		switch d.Kind {
		case types.Pointer:
			if e := d.Elem; e > 0 && t.p.Types[e-1].Kind == types.Char {
				return append(out, leaf{kind: LeafChars, off: off})
			}
		case types.Union:
			for _, f := range d.Fields {
				out = t.leaves(f.Type, off+f.Off, out)
			}
			return out
		}
	}
	add := func(kind int) []leaf {
		return append(out, leaf{kind: kind, off: off, typ: d.Elem, size: t.size(d.Elem)})
	}
	switch d.Kind {
	case types.Pointer:
		if d.Elem > 0 {
			return add(LeafPtr)
		}
	case types.GoString:
		return add(LeafString)
	case types.GoSlice:
		if d.Elem > 0 {
			return add(LeafSlice)
		}
	case types.GoInterface:
		if d.Empty {
			return add(LeafEface)
		}
		return add(LeafIface)
	case types.GoMap:
		kind, size := LeafBuckets, int64(0)
		if t.p.Swiss {
			kind = LeafSwiss
		}
		if !d.Cut && d.Key > 0 && d.Elem > 0 {
			size = t.layout(d).Size
		}
		return append(out, leaf{kind: kind, off: off, typ: i, size: size, inMap: true})
	case types.GoChan:
		return add(LeafChan)
	case types.GoFunc:
		return append(out, leaf{kind: LeafFunc, off: off, size: 8})
	case types.Struct:
		for _, f := range d.Fields {
			out = t.leaves(f.Type, off+f.Off, out)
		}
	case types.Array:
		if e := t.size(d.Elem); e > 0 {
			for k := int64(0); k < min(d.Count, int64(t.p.Elems)); k++ {
				n := len(out)
				if out = t.leaves(d.Elem, off+k*e, out); len(out) == n {
					break
				}
			}
		}
	}
	return out
}

// record writes one and gives its place.
func (t *tabler) record(size int64, ls []leaf) uint64 {
	at := uint64(len(t.out))
	t.out = append(t.out, uint64(size), uint64(len(ls)))
	for _, l := range ls {
		head, more := uint64(l.kind)|uint64(l.off)<<8, l.more|uint64(l.length)<<8
		if l.free {
			more |= moreFree
		}
		if l.kind == LeafMore {
			t.out = append(t.out, 0, 0, l.raw[0], l.raw[1])
			continue
		}
		if l.kind == LeafSkip {
			more = uint64(l.tag) | uint64(l.count)<<16
			if l.not {
				more |= 1 << 8
			}
			t.out = append(t.out, head, l.lo, l.span, more)
			continue
		}
		t.out = append(t.out, head, 0, uint64(l.size), more)
	}
	t.todo = append(t.todo, func() {
		for i, l := range ls {
			if l.kind == LeafSkip || l.kind == LeafMore {
				continue
			}
			t.out[at+RecordHead+LeafWords*uint64(i)+1] = t.to(l)
		}
	})
	return at
}

// to gives the record of what a leaf leads to, 0 where nothing in it leads further.
func (t *tabler) to(l leaf) uint64 {
	switch {
	case l.typ == 0:
		return 0
	case l.inMap:
		return t.group(l.typ)
	case t.at[l.typ-1] != 0:
		return t.at[l.typ-1]
	}
	ls := t.leaves(l.typ, 0, nil)
	if len(ls) == 0 {
		return 0
	}
	t.at[l.typ-1] = t.record(t.size(l.typ), ls)
	return t.at[l.typ-1]
}

// group gives the record of a map's groups or buckets.
func (t *tabler) group(i int) uint64 {
	if at, ok := t.groups[i]; ok {
		return at
	}
	m := &t.p.Types[i-1]
	if m.Cut || m.Key == 0 || m.Elem == 0 {
		return 0
	}
	g := t.layout(m)
	var ls []leaf
	for k := int64(0); k < 8; k++ {
		ls = t.member(m.Key, g.KeyAt+k*g.KeyStep, g.KeyPtr, ls)
		ls = t.member(m.Elem, g.ElemAt+k*g.ElemStep, g.ElemPtr, ls)
	}
	if !t.p.Swiss {
		ls = append(ls, leaf{kind: LeafPtr, off: g.Size - 8, typ: i, size: g.Size, inMap: true}) // the next bucket
	}
	t.groups[i] = 0
	if len(ls) > 0 {
		t.groups[i] = t.record(g.Size, ls)
	}
	return t.groups[i]
}

// member adds the leaves of a key or element.
func (t *tabler) member(i int, off int64, ptr bool, ls []leaf) []leaf {
	if ptr {
		return append(ls, leaf{kind: LeafPtr, off: off, typ: i, size: t.size(i)})
	}
	return t.leaves(i, off, ls)
}

// Group is how eight elements of a map lie together: a swiss table's group (internal/runtime/maps, Go 1.24), or a
// bucket (runtime.bmap, before). A byte for each comes first.
type Group struct {
	Size             int64
	KeyAt, KeyStep   int64
	ElemAt, ElemStep int64
	KeyPtr, ElemPtr  bool // it is a pointer to the key or element
}

// maxInline is the most bytes of a key or element that lies in the map itself (abi.MapMaxKeyBytes).
const maxInline = 128

// layout is that of the groups of a map.
func (t *tabler) layout(m *Type) Group {
	return GroupOf(t.p.Swiss, t.types[m.Key-1], t.types[m.Elem-1])
}

// GroupOf lays out the groups of a map.
func GroupOf(swiss bool, key, elem *types.Ctype) Group {
	ksize, kalign, vsize, valign := max(key.Size, 0), align(key), max(elem.Size, 0), align(elem)
	g := Group{KeyPtr: ksize > maxInline, ElemPtr: vsize > maxInline}
	if g.KeyPtr {
		ksize, kalign = 8, 8
	}
	if g.ElemPtr {
		vsize, valign = 8, 8
	}
	if !swiss {
		g.KeyAt, g.KeyStep, g.ElemStep = 8, ksize, vsize
		g.ElemAt = 8 + 8*ksize
		g.Size = up(g.ElemAt+8*vsize, 8) + 8
		return g
	}
	off := up(ksize, valign)
	end := off + vsize
	if vsize == 0 && ksize > 0 {
		end++ // a pointer to an element must not point behind the slot
	}
	slot := up(end, max(kalign, valign))
	g.KeyAt, g.ElemAt = 8, 8+off
	g.KeyStep, g.ElemStep = slot, slot
	g.Size = up(8+8*slot, 8)
	return g
}

func up(n, to int64) int64 { return (n + to - 1) / to * to }

// align is the alignment of a type of Go on machines with words of 8 bytes.
func align(t *types.Ctype) int64 {
	if t == nil {
		return 1
	}
	switch t.Kind {
	case types.Struct:
		a := int64(1)
		for _, f := range t.Fields() {
			a = max(a, align(f.Type))
		}
		return a
	case types.Array:
		return align(t.Elem())
	case types.Complex:
		return max(t.Size/2, 1)
	case types.Int, types.Bool, types.Char, types.Float, types.Enum:
		return max(min(t.Size, 8), 1)
	}
	return 8
}
