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
	switch t.More().Scope + "::" + base(t) {
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
	if e := p.Type.Elem(); strings.HasSuffix(t.Own, "str") || strings.HasPrefix(between(t.Own), "str") {
		if e.Size != 1 {
			return nil
		}
		return &Form{Kind: Text, At: []int64{p.Off, n.Off, 0}, Elem: e}
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
		default:
			return nil
		}
	} else if len(v.List) > 1 {
		return nil
	}
	mask := ^uint64(0)
	if f.At[1] > 0 {
		mask >>= 64 - 8*f.At[1]
	}
	for _, one := range v.List {
		one.Val &= mask
		f.Variants = append(f.Variants, one)
	}
	return f
}
