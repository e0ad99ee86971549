package shape

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/stdtype"
	"github.com/gostap/gostap/compiler/types"
)

// described fills in d, the type of C++ or Rust t, hops pointers away; far: what it leads to is beyond the bound, full:
// what it is made of as well.
func (b *Builder) described(t *types.Ctype, d *Type, hops int, far, full bool) {
	to := func(e *types.Ctype) int {
		if e == nil || far && !leafless(e) {
			d.Cut = true
			return 0
		}
		return b.add(e, hops+1)
	}
	members := func(fs []types.Field) {
		if full || b.fields+len(fs) > maxFields {
			d.Cut = true
			return
		}
		b.fields += len(fs)
		for _, f := range fs {
			if f.Virtual || f.Name != "" && strings.HasPrefix(f.Name, "_vptr") {
				continue
			}
			m := Field{Name: f.Name, Off: f.Off, Bit: f.BitOff, Bits: f.BitSize, Base: f.Base}
			if f.Base {
				if empty(f.Type, 0) {
					continue
				}
				m.Name = f.Type.Own
			}
			m.Type = b.add(f.Type, hops)
			d.Fields = append(d.Fields, m)
		}
	}
	if t.Lang == types.Rust && t.Kind == types.Struct {
		d.Own, _, _ = strings.Cut(t.Own, "<")
	}
	if f := stdtype.Of(t); f != nil {
		d.Form = &Form{Kind: f.Kind, At: f.At, Pre: f.Pre, Post: f.Post}
		switch f.Kind {
		case stdtype.Members:
			members(f.Fields)
		case stdtype.Enum:
			b.variants(f, d, hops, full)
		case stdtype.Wrap:
			d.Elem = b.add(f.Elem, hops)
		default:
			if f.Elem != nil {
				d.Elem = to(f.Elem)
			}
			if f.Key != nil {
				d.Key = to(f.Key)
			}
		}
		return
	}
	switch t.Kind {
	case types.Pointer:
		d.Ref = t.Ref
		e := t.Elem()
		switch {
		case e == nil || t.Size != 8 || e.Size < 0 && e.Kind != types.Array:
		case t.Ref || hops < 0:
			d.Elem = to(e)
		case e.Kind == types.Char && e.Size == 1 && t.Lang == types.CPlus:
			d.Elem = b.add(e, hops+1)
		}
	case types.Array:
		if full {
			d.Cut = true
			return
		}
		d.Elem = b.add(t.Elem(), hops)
	case types.Struct, types.Union:
		scope := t.More().Scope
		if off, ok := vptr(t, 0); ok && t.Lang == types.CPlus && !strings.Contains(scope, "{}") { // not in a function
			d.Vptr, d.Own = off+1, t.Own
			if scope != "" {
				d.Own = scope + "::" + t.Own
			}
		}
		members(t.Fields())
	case types.Int:
		d.Own = t.Own
	case types.Enum:
		d.Own = t.Own
		if es := t.Enums(); len(es) <= maxEnums {
			d.Enums = slices.Clone(es)
		}
	}
}

// maxEnums bounds the constants of an enumeration that are shown by their names.
const maxEnums = 256

func (b *Builder) variants(f *stdtype.Form, d *Type, hops int, full bool) {
	if full || b.fields+len(f.Variants) > maxFields {
		d.Cut, d.Form = true, nil
		return
	}
	b.fields += len(f.Variants)
	for _, v := range f.Variants {
		one := Variant{Val: v.Val, Default: v.Default}
		one.Name, one.Off = v.Name, v.Off
		if v.Type != nil {
			one.Type = b.add(v.Type, hops)
		}
		d.Form.Variants = append(d.Form.Variants, one)
	}
}

// vptr finds the pointer to the table of virtual functions in a class or the first of its bases that has one.
func vptr(t *types.Ctype, depth int) (int64, bool) {
	if t == nil || depth > 16 || t.Kind != types.Struct {
		return 0, false
	}
	for _, f := range t.Fields() {
		if strings.HasPrefix(f.Name, "_vptr") && f.Type.Size == 8 {
			return f.Off, true
		}
	}
	for _, f := range t.Fields() {
		if f.Base && !f.Virtual {
			if off, ok := vptr(f.Type, depth+1); ok {
				return f.Off + off, true
			}
		}
	}
	return 0, false
}

// empty reports whether a class has no members, in its bases neither.
func empty(t *types.Ctype, depth int) bool {
	if t == nil || depth > 16 || t.Size < 0 { // not described: exceptions of the library, for one
		return false
	}
	for _, f := range t.Fields() {
		if !f.Base || !empty(f.Type, depth+1) {
			return false
		}
	}
	return true
}

// formed appends the leaves of a value with a form.
func (t *tabler) formed(d *Type, off int64, out []leaf) []leaf {
	at := d.Form.At
	switch d.Form.Kind {
	case stdtype.Text, stdtype.Seq:
		l := leaf{kind: LeafSpan, off: off + at[0], length: off + at[1], typ: d.Elem, size: t.size(d.Elem)}
		switch at[2] {
		case 1:
			l.more |= moreEnd
		case 2:
			l.more |= moreBefore
		}
		if d.Form.Kind == stdtype.Text {
			l.more |= moreText
			l.typ, l.size = 0, 1
		}
		if l.size > 0 {
			out = append(out, l)
		}
	case stdtype.Wrap:
		return t.leaves(d.Elem, off+at[0], out)
	case stdtype.Owner:
		if d.Elem > 0 {
			out = append(out, leaf{kind: LeafPtr, off: off + at[0], typ: d.Elem, size: t.size(d.Elem)})
		}
	case stdtype.Members:
		for _, f := range d.Fields {
			out = t.leaves(f.Type, off+f.Off, out)
		}
	case stdtype.Enum:
		return t.oneOf(d.Form, off, out)
	case stdtype.Shared:
		if d.Elem > 0 {
			out = append(out, leaf{kind: LeafPtr, off: off + at[0], typ: d.Elem, size: t.size(d.Elem)})
		}
		out = append(out, leaf{kind: LeafPtr, off: off + at[1], size: max(at[2], at[3]) + 4})
	case stdtype.Bits:
		return append(out, leaf{kind: LeafSpan, off: off + at[0], length: off + at[1], size: 8, more: moreEnd},
			leaf{kind: LeafPtr, off: off + at[1], size: 8})
	case stdtype.List, stdtype.Tree, stdtype.Table, stdtype.Chunks, stdtype.Ring, stdtype.Nodes:
		return t.apart(d, off, out)
	}
	return out
}

// apart appends the leaf of a value whose elements do not lie behind each other.
func (t *tabler) apart(d *Type, off int64, out []leaf) []leaf {
	at := d.Form.At
	l, m := leaf{off: off + at[0], typ: d.Elem, size: t.size(d.Elem)}, leaf{kind: LeafMore}
	if l.size <= 0 || off > 1<<15 || len(out)+2 > maxLeaves {
		return out
	}
	pack := func(base int64, offs ...int64) (v uint64) {
		for i, o := range offs {
			v |= uint64(base+o) & 0xffff << (16 * i)
		}
		return v
	}
	switch d.Form.Kind {
	case stdtype.List:
		l.kind, l.size, l.length = LeafList, at[4], off+at[1]-1
		if at[1] == 0 {
			l.length, l.more = 0, moreUnknown
		}
		m.raw = [2]uint64{uint64(at[2]), uint64(at[3])}
	case stdtype.Tree:
		l.kind, l.size, l.length = LeafTree, at[6], off+at[1]
		m.raw = [2]uint64{pack(0, at[2], at[3], at[4]), uint64(at[5])}
	case stdtype.Table:
		l.kind, l.length = LeafTable, off+at[2]
		m.raw[0] = pack(off, at[1])
	case stdtype.Chunks:
		l.kind, l.more = LeafChunks, moreUnknown
		m.raw = [2]uint64{pack(off, at[1], at[2], at[3], at[4]), uint64(at[5])}
	case stdtype.Nodes:
		l.kind, l.length = LeafNodes, off+at[2]
		m.raw = [2]uint64{pack(0, at[4], at[5], at[6], at[9]), uint64(off+at[1]) | uint64(at[3])<<16}
	case stdtype.Ring:
		l.kind, l.length = LeafRing, off+at[3]
		m.raw = [2]uint64{pack(off, at[1], at[2], at[3]), uint64(at[4])}
	}
	return append(out, l, m)
}

// oneOf appends the leaves of an enum's variants, each behind a check that it is this one.
func (t *tabler) oneOf(f *Form, off int64, out []leaf) []leaf {
	skip := leaf{kind: LeafSkip, off: off + f.At[0], tag: f.At[1]}
	for _, v := range f.Variants {
		ls := t.leaves(v.Type, off+v.Off, nil)
		if len(ls) == 0 {
			continue
		}
		var checks []leaf
		switch {
		case f.At[1] == 0 || f.At[1] > 8: // all of them are looked at
		case v.Default:
			skip.not = true
			for _, o := range ranges(f.Variants) {
				skip.lo, skip.span = o[0], o[1]
				checks = append(checks, skip)
			}
		default:
			skip.lo, skip.span, skip.not = v.Val, 0, false
			checks = append(checks, skip)
		}
		for i := range checks {
			checks[i].count = len(ls) + len(checks) - i - 1
		}
		if len(out)+len(checks)+len(ls) > maxLeaves {
			return out
		}
		out = append(append(out, checks...), ls...)
	}
	return out
}

// ranges are the tags of all variants that have one, as first ones and how many follow those.
func ranges(vs []Variant) (out [][2]uint64) {
	var vals []uint64
	for _, v := range vs {
		if !v.Default {
			vals = append(vals, v.Val)
		}
	}
	slices.Sort(vals)
	for _, v := range vals {
		if n := len(out); n > 0 && v-out[n-1][0] <= out[n-1][1]+1 {
			out[n-1][1] = v - out[n-1][0]
			continue
		}
		out = append(out, [2]uint64{v, 0})
	}
	return out
}
