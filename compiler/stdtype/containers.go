package stdtype

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// align is the alignment of a type of C++, 0 where it is not known.
func align(t *types.Ctype) int64 { return aligned(t, 0) }

func aligned(t *types.Ctype, depth int) int64 {
	switch {
	case t == nil || depth > mostDeep || t.Size < 0:
		return 0
	case t.Align > 0:
		return t.Align
	}
	switch t.Kind {
	case types.Struct, types.Union:
		if base(t) == "basic_string" && inStd(t.More().Scope) {
			return 8 // of which clang need not describe all
		}
		most := int64(1)
		for _, f := range t.Fields() {
			a := aligned(f.Type, depth+1)
			if a == 0 || f.Virtual {
				return 0
			}
			most = max(most, a)
		}
		return most
	case types.Array:
		return aligned(t.Elem(), depth+1)
	case types.Complex:
		return t.Size / 2
	case types.Int, types.Bool, types.Char, types.Float, types.Enum, types.Pointer:
		return t.Size
	}
	return 0
}

// behind is where an element lies in a node whose own members have so many bytes, and the node's bytes.
func behind(head int64, e *types.Ctype) (off, size int64, ok bool) {
	a := align(e)
	if a <= 0 || e.Size <= 0 {
		return 0, 0, false
	}
	off = (head + a - 1) / a * a
	return off, off + e.Size, true
}

// keyed reports whether elements of a container are pairs of keys and values.
func keyed(t *types.Ctype) int64 {
	if strings.Contains(base(t), "map") {
		return 1
	}
	return 0
}

// element is the type of a container's elements: its parameter, or of a map the pair of two.
func element(t *types.Ctype) *types.Ctype {
	if keyed(t) == 0 {
		for _, name := range []string{"_Tp", "_Key", "_Value"} {
			if e := param(t, name); e != nil {
				return e
			}
		}
		return nil
	}
	return pairOf(param(t, "_Key"), param(t, "_Tp"))
}

// pairOf is std::pair of two types, which debug information need not have.
func pairOf(key, val *types.Ctype) *types.Ctype {
	a, b := align(key), align(val)
	if a <= 0 || b <= 0 || key.Size <= 0 || val.Size <= 0 {
		return nil
	}
	off, most := (key.Size+b-1)/b*b, max(a, b)
	p := &types.Ctype{Kind: types.Struct, Name: "struct pair", Own: "pair", Lang: types.CPlus, Align: most,
		Size: (off + val.Size + most - 1) / most * most}
	p.SetFields([]types.Field{{Type: key}, {Type: val, Off: off}})
	return p
}

// list is a list of nodes that begin with the next one's address: std::list, whose nodes have the one before too, and
// forward_list.
func list(t *types.Ctype) *Form {
	e, head := element(t), int64(16)
	first, ok := path(t, "_M_impl", "_M_node", "_M_next")
	if base(t) == "forward_list" {
		first, ok = path(t, "_M_impl", "_M_head", "_M_next")
		head = 8
	}
	if !ok || e == nil || !isPointer(first) {
		return nil
	}
	off, size, ok := behind(head, e)
	if !ok {
		return nil
	}
	f := &Form{Kind: List, At: []int64{first.Off, 0, 0, off, size, 0}, Elem: e}
	if n, ok := deep(t, "_M_size"); ok && isWord(n) {
		f.At[1] = n.Off + 1
	}
	return f
}

// tree is a red-black tree: a node has colour, parent, left, right and the element.
func tree(t *types.Ctype) *Form {
	e := element(t)
	h, ok1 := deep(t, "_M_header")
	n, ok2 := deep(t, "_M_node_count")
	if !ok1 || !ok2 || e == nil || !isWord(n) {
		return nil
	}
	parent, ok1 := member(h.Type, "_M_parent")
	left, ok2 := member(h.Type, "_M_left")
	right, ok3 := member(h.Type, "_M_right")
	off, size, ok4 := behind(h.Type.Size, e)
	if !ok1 || !ok2 || !ok3 || !ok4 || !isPointer(left) || h.Type.Size != 32 {
		return nil
	}
	return &Form{Kind: Tree, At: []int64{h.Off + left.Off, n.Off, parent.Off, left.Off, right.Off, off, size, keyed(t)},
		Elem: e}
}

// hashed is a hash table: all nodes are one list.
func hashed(t *types.Ctype) *Form {
	e := element(t)
	first, ok1 := deep(t, "_M_before_begin")
	n, ok2 := deep(t, "_M_element_count")
	if !ok1 || !ok2 || e == nil || !isWord(n) {
		return nil
	}
	next, ok := member(first.Type, "_M_nxt")
	off, size, ok2 := behind(8, e)
	if !ok || !ok2 || !isPointer(next) || next.Off != 0 {
		return nil
	}
	return &Form{Kind: List, At: []int64{first.Off, n.Off + 1, 0, off, size, keyed(t)}, Elem: e}
}

// deque is chunks of 512 bytes, or of one element that is larger.
func deque(t *types.Ctype) *Form {
	e := element(t)
	var at [5]int64
	for i, way := range [][]string{{"_M_start", "_M_cur"}, {"_M_start", "_M_last"}, {"_M_start", "_M_node"},
		{"_M_finish", "_M_cur"}, {"_M_finish", "_M_node"}} {
		f, ok := deep(t, way[0])
		if !ok {
			return nil
		}
		in, ok := member(f.Type, way[1])
		if !ok || !isPointer(in) {
			return nil
		}
		at[i] = f.Off + in.Off
	}
	if e == nil || e.Size <= 0 {
		return nil
	}
	chunk := e.Size
	if chunk < 512 {
		chunk = 512 / e.Size * e.Size
	}
	return &Form{Kind: Chunks, At: append(at[:], chunk), Elem: e}
}

// tuple lists the members of a tuple: each lies in a base of its own, of which the first one's is the outermost.
func tuple(t *types.Ctype) *Form {
	if len(t.Fields()) == 0 {
		return &Form{Kind: Members}
	}
	f := &Form{Kind: Members}
	var walk func(t *types.Ctype, off int64, depth int) bool
	walk = func(t *types.Ctype, off int64, depth int) bool {
		if t == nil || depth > 64 {
			return false
		}
		fields := slices.Clone(t.Fields())
		// The own member comes before those of the tuple behind it.
		slices.SortStableFunc(fields, func(a, b types.Field) int {
			rest := func(f types.Field) int {
				if base(f.Type) == "_Tuple_impl" {
					return 1
				}
				return 0
			}
			return rest(a) - rest(b)
		})
		for _, m := range fields {
			switch name := base(m.Type); {
			case m.Base && (name == "_Tuple_impl" || name == "_Head_base"):
				if !walk(m.Type, off+m.Off, depth+1) {
					return false
				}
			case m.Name == "_M_head_impl":
				f.Fields = append(f.Fields, types.Field{Type: m.Type, Off: off + m.Off})
			case m.Base && strings.HasPrefix(t.Own, "_Head_base"): // an empty class is a base
				f.Fields = append(f.Fields, types.Field{Type: m.Type, Off: off + m.Off})
			default:
				return false
			}
		}
		return true
	}
	if !walk(t, 0, 0) || base(t.Fields()[0].Type) != "_Tuple_impl" ||
		len(f.Fields) != len(t.Fields()[0].Type.More().Params) {
		return nil
	}
	return f
}

// variant is one of several values that lie at the same place, by a number; all bits of that say that there is none.
func variant(t *types.Ctype) *Form {
	index, ok1 := deep(t, "_M_index")
	u, ok2 := deep(t, "_M_u")
	if !ok1 || !ok2 || index.Type.Size > 8 {
		return nil
	}
	f := &Form{Kind: Enum, At: []int64{index.Off, index.Type.Size}}
	for i, p := range t.More().Params {
		if p.Type == nil || p.Type.Kind == types.Void {
			return nil
		}
		f.Variants = append(f.Variants, types.Variant{Field: types.Field{Type: p.Type, Off: u.Off}, Val: uint64(i)})
	}
	none := ^uint64(0) >> (64 - 8*index.Type.Size)
	f.Variants = append(f.Variants, types.Variant{Field: types.Field{Name: "valueless"}, Val: none})
	return f
}

// unique is a unique_ptr: a tuple of a pointer and what ends its target.
func unique(t *types.Ctype) *Form {
	inner, ok := deep(t, "_M_t")
	for ok && base(inner.Type) != "tuple" {
		var next types.Field
		if next, ok = deep(inner.Type, "_M_t"); ok {
			next.Off += inner.Off
			inner = next
		}
	}
	if !ok {
		return nil
	}
	tp := tuple(inner.Type)
	if tp == nil || len(tp.Fields) != 2 {
		return nil
	}
	p := tp.Fields[0]
	if !isPointer(p) || p.Type.Elem() == nil || strings.Contains(t.Own, "[]") {
		return nil // of an array: how long it is nobody knows
	}
	return &Form{Kind: Owner, At: []int64{inner.Off + p.Off}, Elem: p.Type.Elem()}
}

// shared is a shared_ptr or weak_ptr.
func shared(t *types.Ctype) *Form {
	p, ok1 := member(t, "_M_ptr")
	c, ok2 := path(t, "_M_refcount", "_M_pi")
	if !ok1 || !ok2 || !isPointer(p) || !isPointer(c) || p.Type.Elem() == nil || strings.Contains(t.Own, "[]") {
		return nil
	}
	use, ok1 := member(c.Type.Elem(), "_M_use_count")
	weak, ok2 := member(c.Type.Elem(), "_M_weak_count")
	if !ok1 || !ok2 || use.Type.Size != 4 || weak.Type.Size != 4 {
		return nil
	}
	return &Form{Kind: Shared, At: []int64{p.Off, c.Off, use.Off, weak.Off}, Elem: p.Type.Elem()}
}
