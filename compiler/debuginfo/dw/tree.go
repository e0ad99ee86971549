package dw

import (
	"debug/dwarf"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/foreign"
)

// Limits of the trees that are read. Real functions stay far below: the deepest inlining seen is
// about 30 levels, the largest function 60,000 entries.
const (
	maxDepth   = 200
	maxEntries = 1 << 18
	maxOrigins = 8
)

// entry is a DIE together with the DIEs that its abstract origin and specification lead
// to: attributes are looked for in that order.
type entry struct {
	first *dwarf.Entry
	more  []*dwarf.Entry
	// base is the entry's base address (DWARF 5, 2.17): the start of the first range, which need not be the lowest.
	base    uint64
	hasBase bool
}

func (e *entry) AttrField(a dwarf.Attr) *dwarf.Field {
	if f := e.first.AttrField(a); f != nil {
		return f
	}
	for _, x := range e.more {
		if f := x.AttrField(a); f != nil {
			return f
		}
	}
	return nil
}

func (e *entry) Val(a dwarf.Attr) any {
	if f := e.AttrField(a); f != nil {
		return f.Val
	}
	return nil
}

// Origin is the offset of the abstract entry that t is a copy of, t's own offset if it is
// not a copy.
func Origin(t *godwarf.Tree) dwarf.Offset {
	if e, ok := t.Entry.(*entry); ok && len(e.more) > 0 {
		return e.more[len(e.more)-1].Offset
	}
	return t.Offset
}

// FuncTree loads the entry of the function that covers pc with all below it. It is like Delve's
// godwarf.LoadTree, with bounds on depth, size and chains of origins. Nil without an error
// if the unit has no function there.
func (u *Unit) FuncTree(pc uint64) (t *godwarf.Tree, err error) {
	defer foreign.Guard(&err)()
	off, ok, err := u.funcAt(pc)
	if err != nil || !ok {
		return nil, err
	}
	return u.Tree(off)
}

// FuncTree is Unit.FuncTree of the unit that covers pc, nil if there is none.
func (d *Data) FuncTree(pc uint64) (*Unit, *godwarf.Tree, error) {
	u, err := d.UnitAt(pc)
	if err != nil || u == nil {
		return nil, nil, err
	}
	t, err := u.FuncTree(pc)
	return u, t, err
}

// FuncEntry is FuncTree without what is below the entry.
func (d *Data) FuncEntry(pc uint64) (u *Unit, t *godwarf.Tree, err error) {
	defer foreign.Guard(&err)()
	if u, err = d.UnitAt(pc); err != nil || u == nil {
		return nil, nil, err
	}
	off, ok, err := u.funcAt(pc)
	if err != nil || !ok {
		return u, nil, err
	}
	t, err = d.Entry(off)
	return u, t, err
}

// Tree loads the tree rooted at off, which must lie in u. Entries take the attributes of their
// abstract origins and specifications; ranges of parents grow to cover their children's.
func (u *Unit) Tree(off dwarf.Offset) (t *godwarf.Tree, err error) {
	defer foreign.Guard(&err)()
	if off < u.Die || off >= u.End {
		return nil, u.d.Corrupt("entry %#x is outside of its unit", off)
	}
	if t := u.trees[off]; t != nil {
		return t, nil
	}
	if _, err := u.abbrevs(); err != nil { // debug/dwarf takes any
		return nil, err
	}
	r, err := u.d.reader(off)
	if err != nil {
		return nil, err
	}
	l := treeLoader{u: u, r: r}
	if l.aux, err = u.d.reader(off); err != nil {
		return nil, err
	}
	if t, err = l.load(0); err != nil {
		return nil, err
	}
	u.keepTree(t, l.n)
	return t, nil
}

type treeLoader struct {
	u   *Unit
	r   *entries
	aux *entries // follows origins
	n   int      // entries
	txt int      // bytes of text in them
}

// load reads the next entry and what is below it; nil at the end of a list.
func (l *treeLoader) load(depth int) (*godwarf.Tree, error) {
	if depth > maxDepth {
		return nil, l.u.d.Corrupt("entries are nested more than %d deep", maxDepth)
	}
	if l.n++; l.n > maxEntries {
		return nil, l.u.d.Corrupt("function with more than %d entries", maxEntries)
	}
	e, err := l.r.Next()
	if err != nil {
		return nil, l.u.d.Corrupt("%v", err)
	}
	if e == nil {
		return nil, l.u.d.Corrupt("list of entries without an end")
	}
	if e.Tag == 0 {
		return nil, nil
	}
	full, err := l.u.d.withOrigins(e, l.aux)
	if err != nil {
		return nil, err
	}
	l.n += len(full.more)
	if l.txt += textOf(full); l.txt > maxTreeText {
		return nil, l.u.d.Corrupt("function with more than %d MB of names", maxTreeText>>20)
	}
	t := &godwarf.Tree{Entry: full, Tag: e.Tag, Offset: e.Offset}
	t.Ranges, err = l.u.entryRanges(e)
	if err != nil {
		return nil, err
	}
	l.n += len(t.Ranges) / 16
	if len(t.Ranges) > 0 {
		full.base, full.hasBase = t.Ranges[0][0], true
	}
	if e.Children {
		for {
			c, err := l.load(depth + 1)
			if err != nil {
				return nil, err
			}
			if c == nil {
				break
			}
			t.Children = append(t.Children, c)
			if c.Tag == dwarf.TagLexDwarfBlock || c.Tag == dwarf.TagInlinedSubroutine {
				t.Ranges = append(t.Ranges, c.Ranges...)
			}
		}
	}
	t.Ranges = normalize(t.Ranges)
	return t, nil
}

// entryRanges gives the address ranges of one entry, none for entries without code.
func (u *Unit) entryRanges(e *dwarf.Entry) ([][2]uint64, error) {
	if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
		return nil, nil
	}
	return u.rangesOf(e)
}

// normalize sorts ranges, drops empty ones and joins those that touch.
func normalize(r [][2]uint64) [][2]uint64 {
	r = slices.DeleteFunc(r, func(x [2]uint64) bool { return x[0] >= x[1] })
	if len(r) < 2 {
		return r
	}
	slices.SortFunc(r, func(a, b [2]uint64) int {
		if a[0] < b[0] {
			return -1
		} else if a[0] > b[0] {
			return 1
		}
		return 0
	})
	out := r[:1]
	for _, x := range r[1:] {
		if last := &out[len(out)-1]; x[0] <= last[1] {
			last[1] = max(last[1], x[1])
		} else {
			out = append(out, x)
		}
	}
	return out
}

// withOrigins follows DW_AT_abstract_origin and DW_AT_specification.
func (d *Data) withOrigins(e *dwarf.Entry, aux *entries) (*entry, error) {
	full := &entry{first: e}
	for x := e; ; {
		next, ok := originOf(x)
		if !ok {
			return full, nil
		}
		if len(full.more) >= maxOrigins {
			return nil, d.Corrupt("entry %#x has a circular or endless origin", e.Offset)
		}
		at := aux
		if !d.linked || (next^at.bit)&altBit == 0 {
			at.r.Seek(next &^ at.bit)
		} else {
			var err error
			if at, err = d.reader(next); err != nil {
				return nil, err
			}
		}
		o, err := at.Next()
		if err != nil || o == nil {
			return nil, d.Corrupt("entry %#x refers to %#x, which cannot be read", e.Offset, next)
		}
		full.more = append(full.more, o)
		x = o
	}
}

func originOf(e *dwarf.Entry) (dwarf.Offset, bool) {
	if o, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		return o, true
	}
	o, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
	return o, ok
}

// Entry reads one entry with its origins.
func (d *Data) Entry(off dwarf.Offset) (t *godwarf.Tree, err error) {
	defer foreign.Guard(&err)()
	r, err := d.reader(off)
	if err != nil {
		return nil, err
	}
	e, err := r.Next()
	if err != nil || e == nil {
		return nil, d.Corrupt("no entry at %#x (%v)", off, err)
	}
	full, err := d.withOrigins(e, r)
	if err != nil {
		return nil, err
	}
	u, err := d.UnitOf(off)
	if err != nil {
		return nil, err
	}
	rs, err := u.entryRanges(e)
	if len(rs) > 0 {
		full.base, full.hasBase = rs[0][0], true
	}
	return &godwarf.Tree{Entry: full, Tag: e.Tag, Offset: e.Offset, Ranges: normalize(rs)}, err
}

// funcIndex lists the functions of a unit that have code.
type funcIndex struct {
	done  bool
	err   error
	spans []funcSpan
}

type funcSpan struct {
	lo, hi uint64
	off    dwarf.Offset
}

// funcAt finds the subprogram whose code covers pc. Of nested ones the innermost wins.
func (u *Unit) funcAt(pc uint64) (dwarf.Offset, bool, error) {
	if !u.funcs.done {
		u.funcs.done = true
		u.funcs.spans, u.funcs.err = u.scanFuncs()
	}
	if u.funcs.err != nil {
		return 0, false, u.funcs.err
	}
	best := -1
	for i, s := range u.funcs.spans {
		if s.lo <= pc && pc < s.hi && (best < 0 || s.hi-s.lo < u.funcs.spans[best].hi-u.funcs.spans[best].lo) {
			best = i
		}
	}
	if best < 0 {
		return 0, false, nil
	}
	return u.funcs.spans[best].off, true, nil
}

func (u *Unit) scanFuncs() ([]funcSpan, error) {
	var spans []funcSpan
	s, err := u.scan()
	if err != nil {
		return nil, err
	}
	for s.next() {
		if s.a.tag != dwarf.TagSubprogram {
			continue
		}
		if lo, ok := s.addr(slotLow); ok {
			if hi, ok := s.high(lo); ok && lo < hi {
				spans = append(spans, funcSpan{lo, hi, s.off})
			}
		} else if s.has(slotRanges) {
			t, err := u.d.Entry(s.off)
			if err != nil {
				return nil, err
			}
			for _, x := range t.Ranges {
				if x[0] < x[1] {
					spans = append(spans, funcSpan{x[0], x[1], s.off})
				}
			}
		}
	}
	return spans, s.failed()
}
