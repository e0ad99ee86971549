package values

import (
	"fmt"

	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/stdtype"
	"github.com/gostap/gostap/compiler/types"
)

// elements are those of a container that are known, and how many there are: sure where that is known.
type elements struct {
	list []value
	vals []value // those of keys in list, where they do not lie beside them
	n    uint64
	sure bool
}

func (e *elements) complete() bool { return e.sure && uint64(len(e.list)) == e.n }

// row writes a container whose elements lie apart.
func (t formed) row(v value, s *shape.Type, l level) {
	at := s.Form.At
	pairs := int64(0)
	open, end := t.brackets(v.t)
	switch s.Form.Kind {
	case stdtype.List, stdtype.Tree:
		pairs = at[len(at)-1]
	case stdtype.Nodes:
		pairs = at[10]
		open, end = "{", "}"
	case stdtype.Table:
		pairs = at[3]
		open, end = "{", "}"
	}
	first, ok := v.word(at[0])
	e := v.t.Elem()
	if !ok {
		t.gone(v)
		return
	}
	if n, known := v.word(at[min(3, len(at)-1)]); known && e != nil && e.Size == 0 && s.Form.Kind == stdtype.Ring {
		t.listed(n, open, ", ", end, func(uint64) bool {
			t.value(value{t: e}, l.in())
			return true
		})
		return
	}
	if e == nil || e.Size <= 0 {
		t.lit(open + "..." + end)
		return
	}
	var es elements
	switch s.Form.Kind {
	case stdtype.List:
		es, ok = t.nodes(v, first, at)
	case stdtype.Tree:
		es, ok = t.inOrder(v, first, at)
	case stdtype.Table:
		es, ok = t.filled(v, first, at)
	case stdtype.Nodes:
		es, ok = t.btree(v, first, at)
	case stdtype.Chunks:
		es, ok = t.chunks(v, at)
	case stdtype.Ring:
		es, ok = t.ring(v, first, at)
	}
	if !ok {
		t.lost()
		return
	}
	if len(es.list) > t.p.Elems {
		es.list = es.list[:t.p.Elems]
	}
	t.lit(open)
	for i, x := range es.list {
		if i > 0 {
			t.lit(", ")
		}
		if i < len(es.vals) {
			t.pair(x, es.vals[i], pairs, l)
		} else {
			t.member(x, pairs, l)
		}
	}
	if !es.complete() {
		if len(es.list) > 0 {
			t.lit(", ")
		}
		if t.lit("..."); es.sure && es.n > uint64(len(es.list)) {
			t.lit(fmt.Sprintf("%d more", es.n-uint64(len(es.list))))
		}
	}
	t.lit(end)
}

// member writes an element: with pairs 1 a key and what belongs to it, with 2 the key alone.
func (t formed) member(x value, pairs int64, l level) {
	fs := x.t.Fields()
	if pairs == 0 || len(fs) != 2 {
		t.value(x, l.in())
		return
	}
	t.pair(x.part(fs[0].Off, fs[0].Type), x.part(fs[1].Off, fs[1].Type), pairs, l)
}

func (t formed) pair(key, val value, pairs int64, l level) {
	switch {
	case pairs == 2:
		t.value(key, l.in())
	case key.t != nil && key.t.Lang == types.Rust:
		t.value(key, l.in())
		t.lit(": ")
		t.value(val, l.in())
	default:
		t.lit("[")
		t.value(key, l.in())
		t.lit("]=")
		t.value(val, l.in())
	}
}

// mostCount bounds the elements that a container is believed to have.
const mostCount = 1 << 40

// nodes lists the elements of a list.
func (t formed) nodes(v value, first uint64, at []int64) (out elements, ok bool) {
	if at[1] > 0 {
		if out.n, out.sure = v.word(at[1] - 1); !out.sure || out.n > mostCount {
			return out, false
		}
	}
	e := v.t.Elem()
	for p := first; (!out.sure || uint64(len(out.list)) < out.n) && len(out.list) <= t.p.Elems; {
		if p == 0 {
			if out.sure {
				return out, true // it was changed meanwhile
			}
			out.n, out.sure = uint64(len(out.list)), true
			break
		}
		b, read, _ := t.at(p, at[4])
		if !read || int64(len(b)) < at[2]+8 {
			break
		}
		next := le.Uint64(b[at[2]:])
		if at[1] == 0 && next == first && at[3] > 8 {
			// The list's own head, which the last node leads back to.
			out.n, out.sure = uint64(len(out.list)), true
			break
		}
		if int64(len(b)) < at[4] {
			break
		}
		out.list = append(out.list, value{b: b}.part(at[3], e))
		p = next
	}
	return out, true
}

// inOrder lists the elements of a tree: the walk puts its nodes behind each other in their order.
func (t formed) inOrder(v value, first uint64, at []int64) (out elements, ok bool) {
	if out.n, out.sure = v.word(at[1]); !out.sure || out.n > mostCount {
		return out, false
	}
	if out.n == 0 {
		return out, true
	}
	word := func(p *piece, off int64) uint64 { return le.Uint64(p.b[off:]) }
	for i := 1; i < len(t.mem); i++ {
		if t.mem[i].addr != first || int64(len(t.mem[i].b)) != at[6] {
			continue
		}
		for k := i; k < len(t.mem) && uint64(len(out.list)) < out.n; k++ {
			p := &t.mem[k]
			if int64(len(p.b)) != at[6] {
				break
			}
			if k > i && (word(&t.mem[k-1], at[4]) == 0) == (word(p, at[3]) == 0) {
				break // from a node without a right one it goes up from the left, else to one without a left one
			}
			out.list = append(out.list, value{b: p.b}.part(at[5], v.t.Elem()))
		}
		break
	}
	return out, true
}

// filled lists the elements of a hash table.
func (t formed) filled(v value, ctrl uint64, at []int64) (out elements, ok bool) {
	mask, ok := v.word(at[1])
	if out.n, out.sure = v.word(at[2]); !ok || !out.sure || out.n > mostCount || mask > mostCount {
		return out, false
	}
	if out.n == 0 {
		return out, true
	}
	e := v.t.Elem()
	full, _, _ := t.at(ctrl, int64(min(mask+1, 512)))
	for i, c := range full {
		if c&0x80 != 0 {
			continue
		}
		if uint64(len(out.list)) == out.n {
			break
		}
		b, _, _ := t.at(ctrl-uint64(i+1)*uint64(e.Size), e.Size)
		if int64(len(b)) < e.Size {
			break
		}
		out.list = append(out.list, value{t: e, b: b})
	}
	return out, true
}

// chunks lists the elements of a deque.
func (t formed) chunks(v value, at []int64) (out elements, ok bool) {
	var w [5]uint64
	for i := range w {
		if w[i], ok = v.word(at[i]); !ok {
			return out, false
		}
	}
	cur, last, node, end, endNode := w[0], w[1], w[2], w[3], w[4]
	e := v.t.Elem()
	for node <= endNode && len(out.list) <= t.p.Elems {
		if node == endNode {
			last = end
		}
		if last < cur || last-cur > mostCount {
			return out, false
		}
		n := int64(last-cur) / e.Size
		b, _, _ := t.at(cur, n*e.Size)
		for i := int64(0); i < n; i++ {
			if (i+1)*e.Size > int64(len(b)) {
				return out, true
			}
			out.list = append(out.list, value{b: b}.part(i*e.Size, e))
		}
		if node == endNode {
			out.n, out.sure = uint64(len(out.list)), true
			break
		}
		node += 8
		p, _, _ := t.at(node, 8)
		if len(p) < 8 {
			break
		}
		cur = le.Uint64(p)
		last = cur + uint64(at[5])
	}
	return out, true
}

// ring lists the elements of a VecDeque.
func (t formed) ring(v value, p uint64, at []int64) (out elements, ok bool) {
	room, ok1 := v.word(at[1])
	head, ok2 := v.word(at[2])
	n, ok3 := v.word(at[3])
	if !ok1 || !ok2 || !ok3 || room > mostCount {
		return out, false
	}
	if at[4] == 1 {
		n = (n - head) & (room - 1)
	}
	if n > room || head > room {
		return out, false
	}
	out.n, out.sure = n, true
	e := v.t.Elem()
	for uint64(len(out.list)) < n && len(out.list) <= t.p.Elems {
		i := (head + uint64(len(out.list))) % room
		b, _, _ := t.at(p+i*uint64(e.Size), e.Size)
		if int64(len(b)) < e.Size {
			break
		}
		out.list = append(out.list, value{t: e, b: b})
	}
	return out, true
}

// bits writes a vector<bool>.
func (t formed) bits(v value, at []int64) {
	p, ok1 := v.word(at[0])
	end, ok2 := v.word(at[1])
	b, ok3 := v.get(at[2], 4)
	if !ok1 || !ok2 || !ok3 || end < p || end-p > mostCount || le.Uint32(b) > 64 {
		t.gone(v)
		return
	}
	n := 8*(end-p) + uint64(le.Uint32(b))
	t.listed(n, "{", ", ", "}", func(i uint64) bool {
		w, _, _ := t.at(p+i/64*8, 8)
		if len(w) < 8 {
			return false
		}
		t.printf("%v", le.Uint64(w)>>(i%64)&1 == 1)
		return true
	})
}

// shared writes what a shared_ptr leads to, and how many share it.
func (t formed) shared(v value, at []int64, l level) {
	p, ok1 := v.word(at[0])
	c, ok2 := v.word(at[1])
	e := v.t.Elem()
	if !ok1 || !ok2 {
		t.gone(v)
		return
	}
	count := func(off int64) uint32 {
		b, _, _ := t.at(c, off+4)
		if int64(len(b)) < off+4 {
			ok1 = false
			return 0
		}
		return le.Uint32(b[off:])
	}
	use, weak := count(at[2]), count(at[3])
	switch {
	case p == 0:
		t.lit("nullptr")
	case ok1 && c != 0 && use == 0: // a weak_ptr to what is gone
		t.lit("expired")
	case e == nil:
		t.printf("0x%x", p)
	default:
		t.instead(v, p, e, l)
	}
	if ok1 && c != 0 {
		if use > 0 {
			weak-- // all owners count as one
		}
		t.printf(" (use count %d, weak count %d)", use, weak)
	}
}

// btree lists the keys and values of a BTreeMap in their order, up to a node that was not copied.
func (t formed) btree(v value, root uint64, at []int64) (out elements, ok bool) {
	height, ok := v.word(at[1])
	if out.n, out.sure = v.word(at[2]); !out.sure || out.n > mostCount || out.n > 0 && (!ok || height > 16) {
		return out, false
	}
	e := v.t.Elem()
	var keys, vals types.Field
	for _, f := range e.Fields() {
		switch f.Name {
		case "keys":
			keys = f
		case "vals":
			vals = f
		}
	}
	if out.n == 0 {
		return out, true
	}
	if keys.Type == nil || vals.Type == nil || keys.Type.Elem() == nil || vals.Type.Elem() == nil {
		return out, false
	}
	var visit func(p, h uint64) bool
	visit = func(p, h uint64) bool {
		size := e.Size
		if h > 0 {
			size = at[3]
		}
		b, _, _ := t.at(p, size)
		if int64(len(b)) < size || at[6]+2 > size {
			return false
		}
		n := uint64(le.Uint16(b[at[6]:]))
		if n > 11 {
			return false
		}
		node := value{b: b}
		for i := uint64(0); i <= n; i++ {
			if len(out.list) > t.p.Elems {
				return false
			}
			if h > 0 {
				edge, ok := node.word(at[9] + 8*int64(i))
				if !ok || !visit(edge, h-1) {
					return false
				}
			}
			if i < n {
				if uint64(len(out.list)) == out.n {
					return false
				}
				k, x := keys.Type.Elem(), vals.Type.Elem()
				out.list = append(out.list, inUnion(node.part(keys.Off+int64(i)*max(k.Size, 0), k)))
				out.vals = append(out.vals, inUnion(node.part(vals.Off+int64(i)*max(x.Size, 0), x)))
			}
		}
		return true
	}
	visit(root, height)
	return out, true
}

// inUnion is the value of a MaybeUninit.
func inUnion(v value) value {
	for _, f := range v.t.Fields() {
		if f.Name == "value" {
			return v.part(f.Off, f.Type)
		}
	}
	return v
}
