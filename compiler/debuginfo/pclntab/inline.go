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
			c := Inlined{Name: string(cut(t.names, e.name)), Parent: e.parent, CallPC: entry + uint64(e.parentPC),
				StartLine: int(e.start)}
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
	depth := make([]int, len(calls))
	for n := range calls {
		for p, d := calls[n].Parent, 0; p >= 0; p = calls[p].Parent {
			if d++; p >= len(calls) || d > len(calls) {
				return nil, false
			}
			depth[n] = d
		}
	}
	lo := entry
	for p := t.pcvalue(off, entry); p.next(); lo = p.pc {
		for n := int(p.val); n >= 0; n = calls[n].Parent {
			c := &calls[n]
			if k := len(c.Ranges); k > 0 && c.Ranges[k-1][1] == lo {
				c.Ranges[k-1][1] = p.pc
			} else if lo < p.pc {
				c.Ranges = append(c.Ranges, [2]uint64{lo, p.pc})
			}
		}
	}
	return calls, true
}

// HasInlined reports whether calls were inlined into function i.
func (t *Table) HasInlined(i int) bool {
	r := t.record(i)
	return r != nil && t.inlTree(r) != 0
}

// SelectInlined lists the functions into which a function whose name match accepts was inlined,
// in address order.
func (t *Table) SelectInlined(match func(name []byte) bool) []int {
	// Matching once for each name rather than for each copy.
	want := map[uint32]bool{}
	off := 0
	for b := t.names; len(b) > 0; {
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			break
		}
		if n > 0 && match(b[:n]) {
			want[uint32(off)] = true
		}
		b, off = b[n+1:], off+n+1
	}
	if len(want) == 0 {
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
			if want[e.name] {
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
func (t *Table) Frames(i int, pc uint64) []Frame {
	r := t.record(i)
	if r == nil || pc < t.Entry(i) || pc >= t.End(i) {
		return nil
	}
	entry := t.Entry(i)
	var frames []Frame
	if tree := t.inlTree(r); tree != 0 {
		off := t.pcdata(r, pcdataInlTree)
		n := int32(-1)
		if v, ok := t.valueAt(off, entry, pc); ok {
			n = v
		}
		for n >= 0 && len(frames) < 256 {
			e, ok := t.inlEntry(tree, int(n))
			if !ok {
				break
			}
			file, line := t.Line(i, pc)
			frames = append(frames, Frame{Name: string(cut(t.names, e.name)), File: file, Line: line, Inline: int(n),
				StartLine: int(e.start)})
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
	file, line := t.Line(i, pc)
	return append(frames, Frame{Name: t.Name(i), File: file, Line: line, Inline: -1, StartLine: t.StartLine(i)})
}
