package stdtype

import (
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// ofRust gives the form of a type of Rust: the enums of all crates, the others of the standard library.
func ofRust(t *types.Ctype) *Form {
	if t.Kind == types.Pointer {
		if e := t.Elem(); e != nil && t.Size == 8 && e.Kind != types.Void && e.Kind != types.Func && refers(t.Own) {
			return &Form{Kind: Owner, At: []int64{0}, Elem: e}
		}
		return nil
	}
	if t.Kind != types.Struct {
		return nil
	}
	if t.More().Variants != nil {
		return variants(t)
	}
	if f := fat(t); f != nil {
		return f
	}
	scope := t.More().Scope
	switch {
	case scope == "core::sync::atomic" && strings.HasPrefix(t.Own, "Atomic"):
		return atomic(t)
	case scope == "core::num::nonzero":
		f := types.Field{Type: t}
		for f.Type.Kind == types.Struct {
			in, ok := member(f.Type, "__0")
			if !ok {
				return nil
			}
			in.Off += f.Off
			f = in
		}
		return wrap(f)
	}
	switch scope + "::" + base(t) {
	case "alloc::rc::Rc", "alloc::sync::Arc":
		p, ok := path(t, "ptr", "pointer")
		if ok && isPointer(p) && p.Type.Elem() != nil && p.Type.Elem().Kind == types.Struct {
			return &Form{Kind: Owner, At: []int64{p.Off}, Elem: p.Type.Elem()}
		}
	case "alloc::rc::RcBox", "alloc::rc::RcInner", "alloc::sync::ArcInner":
		for _, name := range []string{"value", "data"} {
			if f, ok := member(t, name); ok {
				return wrap(f)
			}
		}
	case "alloc::rc::Weak", "alloc::sync::Weak":
		return &Form{Kind: Fixed, Pre: "(Weak)"}
	case "core::cell::Cell", "core::cell::RefCell":
		if f, ok := path(t, "value", "value"); ok {
			f.Name = "value"
			return &Form{Kind: Members, Fields: []types.Field{f}}
		}
	case "core::cell::UnsafeCell", "core::mem::manually_drop::ManuallyDrop":
		if f, ok := member(t, "value"); ok {
			return wrap(f)
		}
	case "core::mem::maybe_dangling::MaybeDangling":
		if f, ok := member(t, "__0"); ok {
			return wrap(f)
		}
	case "std::sync::poison::mutex::Mutex", "std::sync::mutex::Mutex", "std::sync::poison::rwlock::RwLock",
		"std::sync::rwlock::RwLock":
		data, ok1 := path(t, "data", "value")
		failed, ok2 := path(t, "poison", "failed")
		if ok1 && ok2 {
			data.Name, failed.Name = "data", "poisoned"
			return &Form{Kind: Members, Fields: []types.Field{data, failed}, Post: ", .."}
		}
	case "core::time::Duration":
		secs, ok1 := member(t, "secs")
		nanos, ok2 := member(t, "nanos")
		if ok1 && ok2 && secs.Type.Size == 8 && nanos.Type.Size == 4 {
			return &Form{Kind: Duration, At: []int64{secs.Off, nanos.Off}}
		}
	case "std::path::PathBuf":
		if f, ok := path(t, "inner", "inner", "inner"); ok {
			return vec(f, Text)
		}
	case "std::ffi::os_str::OsString":
		if f, ok := path(t, "inner", "inner"); ok {
			return vec(f, Text)
		}
	case "std::collections::hash::map::HashMap":
		return hashbrown(t, 1, "base", "table")
	case "std::collections::hash::set::HashSet":
		return hashbrown(t, 2, "base", "map", "table")
	case "alloc::collections::btree::map::BTreeMap":
		return btree(types.Field{Type: t}, 1)
	case "alloc::collections::btree::set::BTreeSet":
		if f, ok := member(t, "map"); ok {
			return btree(f, 2)
		}
	case "alloc::collections::vec_deque::VecDeque":
		return ring(t)
	case "alloc::string::String":
		if f, ok := member(t, "vec"); ok {
			return vec(f, Text)
		}
	case "alloc::vec::Vec":
		return vec(types.Field{Type: t}, Seq)
	}
	return nil
}

// refers reports whether a pointer is shown as what it leads to: references and boxes, not raw pointers.
func refers(own string) bool {
	return strings.HasPrefix(own, "&") || strings.HasPrefix(own, "alloc::boxed::Box<") || strings.HasPrefix(own, "Box<")
}

// fat is a reference to a string or a slice: address and length.
func fat(t *types.Ctype) *Form {
	p, ok1 := member(t, "data_ptr")
	n, ok2 := member(t, "length")
	if !ok1 || !ok2 || t.Size != 16 || len(t.Fields()) != 2 || !isPointer(p) || !isWord(n) || p.Type.Elem() == nil ||
		!refers(t.Own) {
		return nil
	}
	to := strings.TrimPrefix(strings.TrimPrefix(t.Own, "&"), "mut ")
	if in := between(t.Own); in != "" && t.Own[0] != '&' {
		to, _, _ = strings.Cut(strings.TrimSuffix(in, ">"), ",")
	}
	switch to {
	case "str", "std::path::Path", "std::ffi::os_str::OsStr":
		return &Form{Kind: Text, At: []int64{p.Off, n.Off, 0}, Elem: p.Type.Elem()}
	}
	if !strings.HasPrefix(to, "[") || p.Type.Elem().Size < 0 {
		return nil // of a type whose last member has no fixed size
	}
	return &Form{Kind: Seq, At: []int64{p.Off, n.Off, 0}, Elem: p.Type.Elem()}
}

// between is what stands behind the first "<" of a name.
func between(name string) string {
	_, in, _ := strings.Cut(name, "<")
	return in
}

// vec is the form of a Vec, f, or of a string made of one. Where its buffer lies has changed: buf.ptr (until 1.80),
// buf.inner.ptr.
func vec(f types.Field, k Kind) *Form {
	if base(f.Type) != "Vec" {
		return nil
	}
	n, ok := member(f.Type, "len")
	e := param(f.Type, "T")
	if !ok || e == nil || !isWord(n) {
		return nil
	}
	p, ok := rawVec(f.Type)
	if !ok {
		return nil
	}
	return &Form{Kind: k, At: []int64{f.Off + p.Off, f.Off + n.Off, 0}, Elem: e}
}

// rawVec finds the pointer to the buffer of what has a RawVec as its member buf.
func rawVec(t *types.Ctype) (types.Field, bool) {
	for _, way := range [][]string{{"buf", "inner", "ptr", "pointer", "pointer"}, {"buf", "ptr", "pointer", "pointer"},
		{"buf", "ptr", "pointer"}, {"buf", "ptr"}} {
		if p, ok := path(t, way...); ok && isPointer(p) {
			return p, true
		}
	}
	return types.Field{}, false
}

// variants is the form of an enum.
func variants(t *types.Ctype) *Form {
	v := t.More().Variants
	f := &Form{Kind: Enum, At: []int64{0, 0}}
	if v.Tag.Type != nil {
		switch v.Tag.Type.Size {
		case 1, 2, 4, 8:
			f.At = []int64{v.Tag.Off, v.Tag.Type.Size}
		case 16:
			f.At = []int64{v.Tag.Off, 16}
			if v.Large {
				return nil
			}
		default:
			return nil
		}
	} else if len(v.List) > 1 {
		return nil
	}
	mask := ^uint64(0)
	if f.At[1] > 0 {
		mask >>= 64 - 8*min(f.At[1], 8)
	}
	for _, one := range v.List {
		one.Val &= mask
		f.Variants = append(f.Variants, one)
	}
	return f
}

// atomic is what is in a variable of core::sync::atomic.
func atomic(t *types.Ctype) *Form {
	f, ok := path(t, "v", "value")
	for ok && f.Type.Kind == types.Struct { // aligned storage
		var in types.Field
		if in, ok = member(f.Type, "__0"); ok {
			in.Off += f.Off
			f = in
		}
	}
	if !ok {
		return nil
	}
	if t.Own == "AtomicBool" || t.Own == "Atomic<bool>" {
		f.Type = &types.Ctype{Kind: types.Bool, Name: "bool", Size: 1, Lang: types.Rust}
	}
	return wrap(f)
}

// hashbrown is a hash map, or a set (2), whose keys have values without bytes.
func hashbrown(t *types.Ctype, how int64, way ...string) *Form {
	raw, ok := path(t, way...)
	if !ok || base(raw.Type) != "RawTable" {
		return nil
	}
	e := param(raw.Type, "T")
	in, ok := member(raw.Type, "table")
	if !ok || e == nil || e.Size <= 0 || len(e.Fields()) != 2 {
		return nil
	}
	ctrl, ok1 := path(in.Type, "ctrl", "pointer")
	mask, ok2 := member(in.Type, "bucket_mask")
	items, ok3 := member(in.Type, "items")
	if !ok1 || !ok2 || !ok3 || !isPointer(ctrl) || !isWord(mask) || !isWord(items) {
		return nil
	}
	at := raw.Off + in.Off
	return &Form{Kind: Table, At: []int64{at + ctrl.Off, at + mask.Off, at + items.Off, how}, Elem: e}
}

// ring is a VecDeque: until 1.66 it had two indexes, since then it has the first one and a length.
func ring(t *types.Ctype) *Form {
	e := param(t, "T")
	p, ok := rawVec(t)
	if !ok || e == nil {
		return nil
	}
	capacity, ok := path(t, "buf", "inner", "cap", "__0")
	for _, way := range [][]string{{"buf", "inner", "cap"}, {"buf", "cap", "__0"}, {"buf", "cap"}} {
		if !ok {
			capacity, ok = path(t, way...)
		}
	}
	if !ok || capacity.Type.Size != 8 {
		return nil
	}
	head, ok1 := member(t, "head")
	n, ok2 := member(t, "len")
	old := int64(0)
	if tail, ok := member(t, "tail"); ok {
		n, head, ok2, old = head, tail, ok1, 1
	}
	if !ok1 || !ok2 || !isWord(head) || !isWord(n) {
		return nil
	}
	return &Form{Kind: Ring, At: []int64{p.Off, capacity.Off, head.Off, n.Off, old}, Elem: e}
}

// btree is a BTreeMap, or a set (2), whose values have no bytes. The root is an Option of a reference to a node; a node
// leads to its parent, whose type says where edges are.
func btree(f types.Field, how int64) *Form {
	n, ok1 := member(f.Type, "length")
	root, ok2 := member(f.Type, "root")
	if !ok1 || !ok2 || !isWord(n) {
		return nil
	}
	some, ok := holds(root.Type)
	if !ok {
		return nil
	}
	node, ok1 := path(some.Type, "node", "pointer")
	height, ok2 := member(some.Type, "height")
	if !ok1 || !ok2 || !isPointer(node) || !isWord(height) {
		return nil
	}
	leaf := node.Type.Elem()
	if leaf == nil || base(leaf) != "LeafNode" || leaf.Size <= 0 {
		return nil
	}
	parent, ok1 := member(leaf, "parent")
	index, ok2 := member(leaf, "parent_idx")
	count, ok3 := member(leaf, "len")
	keys, ok4 := member(leaf, "keys")
	vals, ok5 := member(leaf, "vals")
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || index.Type.Size != 2 || count.Type.Size != 2 {
		return nil
	}
	up, ok := holds(parent.Type)
	if !ok {
		return nil
	}
	to, ok := path(up.Type, "pointer")
	if !ok || !isPointer(to) || to.Type.Elem() == nil || base(to.Type.Elem()) != "InternalNode" {
		return nil
	}
	inner := to.Type.Elem()
	data, ok1 := member(inner, "data")
	edges, ok2 := member(inner, "edges")
	if !ok1 || !ok2 || data.Off != 0 || inner.Size <= leaf.Size {
		return nil
	}
	at := f.Off + root.Off + some.Off
	return &Form{Kind: Nodes, Elem: leaf, At: []int64{at + node.Off, at + height.Off, f.Off + n.Off, inner.Size,
		parent.Off + up.Off + to.Off, index.Off, count.Off, keys.Off, vals.Off, edges.Off, how}}
}

// holds is what an Option has in it when it is Some.
func holds(t *types.Ctype) (types.Field, bool) {
	if base(t) != "Option" || t.More().Variants == nil {
		return types.Field{}, false
	}
	for _, v := range t.More().Variants.List {
		if v.Name == "Some" {
			in, ok := member(v.Type, "__0")
			in.Off += v.Off
			return in, ok
		}
	}
	return types.Field{}, false
}
