package pclntab

import "bytes"

// Indexes of tables (internal/abi/symtab.go).
const (
	pcdataInlTree   = 2
	funcdataInlTree = 3
	funcdataArgInfo = 5
)

// Inlined is one call that was inlined into a function.
type Inlined struct {
	Name string
	// NameAt tells names apart: it is the same for copies of the same function in one table.
	NameAt uint32
	// Parent is the index of the inlined call that this one is in, -1 for the function itself.
	Parent int
	// CallPC is an instruction whose source position is the call's.
	CallPC uint64
	// StartLine is the line of the inlined function's func keyword, 0 if the version does not tell.
	StartLine int
	// Ranges are the instructions of the inlined body, with what is inlined into it in turn, in
	// address order. Empty if nothing was left of it.
	Ranges [][2]uint64
}

func (t *Table) inlTree(r []byte) uint64 { return t.funcdata(r, funcdataInlTree) }

// funcdata is the address of a function's FUNCDATA n, 0 if it has none.
func (t *Table) funcdata(r []byte, n uint64) uint64 {
	if uint64(r[t.tail()+3]) <= n {
		return 0
	}
	npc := uint64(le.Uint32(r[recNPCData:]))
	if t.version == Go116 {
		// Pointers, aligned to 8 bytes. The record's own address is aligned, and r begins 8 behind it.
		at := uint64(t.tail()) + 4 + 4*npc
		at = (at + 7) &^ 7
		at += 8 * n
		if at+8 > uint64(len(r)) {
			return 0
		}
		return le.Uint64(r[at:])
	}
	at := uint64(t.tail()) + 4 + 4*npc + 4*n
	if at+4 > uint64(len(r)) || t.gofunc == 0 {
		return 0
	}
	off := le.Uint32(r[at:])
	if off == ^uint32(0) {
		return 0
	}
	return t.gofunc + uint64(off)
}

// inlEntry is one inlinedCall as stored (runtime/symtabinl.go).
type inlEntry struct {
	name, parentPC uint32
	start          int32
	parent         int // from Go 1.16 to 1.19; -2: to be found by parentPC
}

// entry decodes record n of the tree at addr. ok is false when it cannot be one.
func (t *Table) inlEntry(addr uint64, n int) (e inlEntry, ok bool) {
	size := 16
	if t.version != Go120 {
		size = 20
	}
	if n < 0 || t.mem == nil {
		return e, false
	}
	b, err := t.mem(addr+uint64(n)*uint64(size), size)
	if err != nil || len(b) < size {
		return e, false
	}
	if t.version == Go120 {
		e = inlEntry{name: le.Uint32(b[4:]), parentPC: le.Uint32(b[8:]), start: int32(le.Uint32(b[12:])), parent: -2}
	} else {
		e = inlEntry{name: le.Uint32(b[12:]), parentPC: le.Uint32(b[16:]), parent: int(int16(le.Uint16(b)))}
	}
	// A name begins behind another's end; anything else means that this is not a tree.
	if uint64(e.name) >= uint64(len(t.names)) || e.name > 0 && t.names[e.name-1] != 0 || t.names[e.name] == 0 {
		return e, false
	}
	return e, true
}

// Inlined lists the calls inlined into function i, by the index that Row.Inline and
// Inlined.Parent use. ok is false when the information is damaged or of an unknown form. The slice is shared: do
// not change it.
func (t *Table) Inlined(i int) (calls []Inlined, ok bool) {
	if l := &t.lastInl; l.i != i+1 { // one function with thousands of them is asked for each of these
		l.i = 0
		l.calls, l.ok = t.inlined(i)
		l.i = i + 1
	}
	return t.lastInl.calls, t.lastInl.ok
}

func (t *Table) inlined(i int) (calls []Inlined, ok bool) {
	r := t.record(i)
	if r == nil {
		return nil, false
	}
	tree := t.inlTree(r)
	if tree == 0 {
		return nil, true
	}
	entry, end := t.Entry(i), t.End(i)
	off := t.pcdata(r, pcdataInlTree)
	top := int32(-1)
	for p := t.pcvalue(off, entry); p.next(); {
		top = max(top, p.val)
	}
	if top >= 0 && int64(top) < int64(end-entry) {
		calls = make([]Inlined, 0, min(top+1, 1<<16))
	}
	// The table has no length: it reaches as far as the indexes in use and the parents of those.
	grow := func(n int) bool {
		if n >= int(end-entry) { // every inlined call takes an instruction
			return false
		}
		for len(calls) <= n {
			e, ok := t.inlEntry(tree, len(calls))
			if !ok {
				return false
			}
			c := Inlined{Name: t.inlinedName(e.name), NameAt: e.name, Parent: e.parent,
				CallPC: entry + uint64(e.parentPC), StartLine: int(e.start)}
			if c.Name == "" || c.CallPC >= end {
				return false
			}
			calls = append(calls, c)
		}
		return true
	}
	for p := t.pcvalue(off, entry); p.next(); {
		if p.val >= 0 && !grow(int(p.val)) {
			return nil, false
		}
	}
	for n := 0; n < len(calls); n++ { // grows
		if calls[n].Parent == -2 {
			calls[n].Parent = -1
			if v, ok := t.valueAt(off, entry, calls[n].CallPC); ok && v >= 0 {
				calls[n].Parent = int(v)
			}
		}
		if p := calls[n].Parent; p >= 0 && !grow(p) || p < -1 {
			return nil, false
		}
	}
	// Parents of the older format are not bounded by the loop above, and nothing forbids cycles.
	for n := range calls {
		for p, d := calls[n].Parent, 0; p >= 0; p = calls[p].Parent {
			if d++; p >= len(calls) || d > len(calls) {
				return nil, false
			}
		}
	}
	t.rangesOf(calls, off, entry)
	return calls, true
}

// inlinedName is a name of an inlined function, made once for all of its copies.
func (t *Table) inlinedName(off uint32) string {
	if s, ok := t.inlNames[off]; ok {
		return s
	}
	if t.inlNames == nil {
		t.inlNames = map[uint32]string{}
	}
	s := string(cut(t.names, off))
	t.inlNames[off] = s
	return s
}

// piece is a range of an inlined call.
type piece struct {
	r    [2]uint64
	call int
}

// rangesOf sets the ranges of calls by the table at off. They lie in one slice.
func (t *Table) rangesOf(calls []Inlined, off uint32, entry uint64) {
	pieces, last := t.pieces[:0], t.lasts[:0]
	for range calls {
		last = append(last, [2]int{-1, 0})
	}
	lo := entry
	for p := t.pcvalue(off, entry); p.next(); lo = p.pc {
		for n := int(p.val); n >= 0; n = calls[n].Parent {
			l := &last[n]
			if l[0] >= 0 && pieces[l[0]].r[1] == lo {
				pieces[l[0]].r[1] = p.pc
			} else if lo < p.pc {
				l[0], l[1] = len(pieces), l[1]+1
				pieces = append(pieces, piece{[2]uint64{lo, p.pc}, n})
			}
		}
	}
	all := make([][2]uint64, len(pieces))
	for n := range calls {
		k := last[n][1]
		if k > 0 {
			calls[n].Ranges = all[:0:k]
		}
		all = all[k:]
	}
	for _, p := range pieces {
		calls[p.call].Ranges = append(calls[p.call].Ranges, p.r)
	}
	t.pieces, t.lasts = pieces, last
}

// HasInlined reports whether calls were inlined into function i.
func (t *Table) HasInlined(i int) bool {
	r := t.record(i)
	return r != nil && t.inlTree(r) != 0
}

// offsets is a set of offsets of names.
type offsets []uint64

func (s offsets) add(off uint32)      { s[off/64] |= 1 << (off % 64) }
func (s offsets) has(off uint32) bool { return s[off/64]>>(off%64)&1 != 0 }

// SelectInlined lists the functions into which a function whose name match accepts was inlined,
// in address order.
func (t *Table) SelectInlined(match func(name []byte) bool) []int {
	// Matching once for each name rather than for each copy.
	want := make(offsets, len(t.names)/64+1)
	found := false
	off := 0
	for b := t.names; len(b) > 0; {
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			break
		}
		if n > 0 && match(b[:n]) {
			want.add(uint32(off))
			found = true
		}
		b, off = b[n+1:], off+n+1
	}
	if !found {
		return nil
	}
	var out []int
	if t.tops == nil {
		t.tops = make([]int32, t.nfunc)
	}
	for i := range t.nfunc {
		r := t.record(i)
		if r == nil {
			continue
		}
		tree := t.inlTree(r)
		if tree == 0 {
			continue
		}
		// Questions of this kind come in pairs at least, and finding how many calls there are is most of the work.
		if t.tops[i] == 0 {
			top, limit := int32(-1), int64(t.End(i)-t.Entry(i))
			for p := t.pcvalue(t.pcdata(r, pcdataInlTree), t.Entry(i)); p.next(); {
				top = max(top, p.val)
			}
			t.tops[i] = int32(min(int64(top)+1, limit, 1<<30)) + 1
		}
		for n := 0; n < int(t.tops[i])-1; n++ {
			e, ok := t.inlEntry(tree, n)
			if !ok {
				break
			}
			if want.has(e.name) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// Frame is one function on the way from an instruction to the function that contains it.
type Frame struct {
	Name      string
	File      string
	Line      int
	Inline    int // index of the inlined call, -1 for the function itself
	StartLine int // line of the func keyword
}

// Frames gives the functions that the instruction at pc belongs to, innermost first; the last one is
// function i itself. nil if i does not cover pc.
func (t *Table) Frames(i int, pc uint64) (frames []Frame) {
	t.eachFrame(i, pc, func(n int, e inlEntry, pc uint64) bool {
		f := Frame{Inline: n}
		if f.File, f.Line = t.Line(i, pc); n >= 0 {
			f.Name, f.StartLine = t.inlinedName(e.name), int(e.start)
		} else {
			f.Name, f.StartLine = t.Name(i), t.StartLine(i)
		}
		frames = append(frames, f)
		return true
	})
	return frames
}

// Place is the file and line that the instruction at pc of function i has in inlined call n, or in the function itself
// where n is -1: those of the call there that the instruction belongs to, or its own. ok is false where it does not
// belong to n.
func (t *Table) Place(i int, pc uint64, n int) (file string, line int, ok bool) {
	t.eachFrame(i, pc, func(k int, _ inlEntry, pc uint64) bool {
		if ok = k == n; ok {
			file, line = t.Line(i, pc)
		}
		return !ok
	})
	return file, line, ok
}

// eachFrame calls f with the inlined calls that the instruction at pc belongs to, innermost first, then with -1 for
// function i itself, each with the instruction that has its source position, until f returns false.
func (t *Table) eachFrame(i int, pc uint64, f func(n int, e inlEntry, pc uint64) bool) {
	r := t.record(i)
	entry := t.Entry(i)
	if r == nil || pc < entry || pc >= t.End(i) {
		return
	}
	if tree := t.inlTree(r); tree != 0 {
		off := t.pcdata(r, pcdataInlTree)
		n := int32(-1)
		if v, ok := t.valueAt(off, entry, pc); ok {
			n = v
		}
		for most := 256; n >= 0 && most > 0; most-- {
			e, ok := t.inlEntry(tree, int(n))
			if !ok {
				break
			}
			if !f(int(n), e, pc) {
				return
			}
			next := entry + uint64(e.parentPC)
			if next >= t.End(i) {
				break
			}
			pc = next
			if v, ok := t.valueAt(off, entry, pc); ok {
				if v == n {
					break
				}
				n = v
			} else {
				n = -1
			}
		}
	}
	f(-1, inlEntry{}, pc)
}
