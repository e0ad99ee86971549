package values

import (
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/types"
)

// dynamic gives the value in an interface; isNil where there is none, ok false where it is not known. The name of its
// type is the one that the program itself prints.
func (t *texter) dynamic(v value) (inner value, isNil, ok bool) {
	tab, ok1 := v.word(0)
	data, ok2 := v.word(8)
	if !ok1 {
		return value{}, false, false
	}
	if tab == 0 {
		return value{}, true, true
	}
	addr := tab
	if !v.t.Empty {
		b, read, _ := t.at(tab, 16) // runtime.itab: the interface's type, the value's
		if !read || len(b) < 16 {
			return value{}, false, false
		}
		addr = le.Uint64(b[8:])
	}
	typ := t.typeAt(addr)
	if typ == nil || !ok2 {
		return value{}, false, false
	}
	inner.t = typ.Ctype
	switch {
	case typ.Direct:
		inner.b, _ = v.get(8, 8)
	case typ.Size > 0:
		var gone bool
		inner.b, _, gone = t.at(data, typ.Size)
		inner.cut = !gone // what is not there was left out
	}
	return inner, false, true
}

func (t *texter) typeAt(addr uint64) *gotype.Type {
	if t.p.rtt == nil {
		return nil
	}
	typ, err := t.p.rtt.Types.At(addr - t.bias)
	if err != nil {
		return nil
	}
	return typ
}

// typeOnly writes the name of an interface's dynamic type.
func (t *texter) typeOnly(v value) {
	switch in, isNil, ok := t.dynamic(v); {
	case v.t.Kind != types.GoInterface || !ok:
		t.lost()
	case isNil:
		t.lit("nil")
	default:
		t.lit(in.t.Name)
	}
}

// iface writes an interface's dynamic type and value.
func (t *texter) iface(v value, l level) {
	in, isNil, ok := t.dynamic(v)
	switch {
	case !ok && v.t.Empty:
		t.lost() // the type is none of the program's file
		return
	case !ok:
		tab, _ := v.word(0)
		if _, read, _ := t.at(tab, 1); read {
			t.lost()
			return
		}
		t.missing(v)
		return
	case isNil:
		t.lit("nil")
		return
	}
	if s, ok := t.errorText(in, 0); ok {
		t.lit(in.t.Name + "(")
		t.quote(s.text, s.cut)
		if !t.p.One && l.hops < t.p.Depth {
			t.wrapped(in, l)
		}
		t.lit(")")
		return
	}
	if t.chain(in, l) {
		return
	}
	below := l.in()
	switch in.t.Kind {
	case types.GoString, types.Bool:
		if in.t.Name == "string" || in.t.Name == "bool" { // which their texts tell from all others
			t.value(in, below)
			return
		}
	case types.Struct:
		if !t.special(in.t) {
			t.lit(in.t.Name)
			if t.p.One && l.structs == 0 {
				below = l // the structure in an interface is what was asked for
			}
			t.value(in, below)
			return
		}
	case types.Pointer:
		e := in.t.Elem()
		if p, ok := in.word(0); ok && p != 0 && e != nil && e.Kind == types.Struct {
			below.typed = true
			if l.structs == 0 {
				below.structs, below.deref = 0, true
			}
			t.value(in, below)
			return
		}
	}
	t.lit(in.t.Name + "(")
	t.value(in, below)
	t.lit(")")
}
