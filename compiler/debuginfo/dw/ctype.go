package dw

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// Encodings of base types (DWARF 5, 7.8, table 7.11).
const (
	ateAddress      = 0x01
	ateBoolean      = 0x02
	ateComplexFloat = 0x03
	ateFloat        = 0x04
	ateSigned       = 0x05
	ateSignedChar   = 0x06
	ateUnsigned     = 0x07
	ateUnsignedChar = 0x08
	ateUTF          = 0x10
	ateUCS          = 0x11
	ateASCII        = 0x12
)

const (
	attrGNUVector = dwarf.Attr(0x2107)
	tagAtomicType = dwarf.Tag(0x47)
	maxTypeDepth  = 64
	maxMembers    = 1 << 16
)

// Void is the type of nothing, for pointers to it.
var Void = &types.Ctype{Kind: types.Void, Name: "void", Size: -1}

// TypeOf gives the type that the DW_AT_type of e names; Void if it has none.
func (d *Data) TypeOf(e godwarf.Entry) (*types.Ctype, error) {
	return d.typeAttr(e, dwarf.AttrType, 0)
}

// Type gives the type at off. What it consists of is read when its Elem, Key, Fields or Enums are
// first asked for.
func (d *Data) Type(off dwarf.Offset) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	return d.typeAt(off, 0)
}

func (d *Data) typeAttr(e godwarf.Entry, attr dwarf.Attr, depth int) (*types.Ctype, error) {
	off, ok, err := d.ref(e, attr)
	if err != nil {
		return nil, err
	}
	if !ok {
		return Void, nil
	}
	return d.typeAt(off, depth+1)
}

// ref resolves a reference attribute, by offset or by the signature of a type unit.
func (d *Data) ref(e godwarf.Entry, attr dwarf.Attr) (off dwarf.Offset, ok bool, err error) {
	switch v := e.Val(attr).(type) {
	case nil:
		return 0, false, nil
	case dwarf.Offset:
		return v, true, nil
	case uint64:
		units, err := d.Units()
		if err != nil {
			return 0, false, err
		}
		for _, u := range units {
			if u.typeUnit && u.sig == v {
				return u.sigType, true, nil
			}
		}
		return 0, false, errors.New("its type is in .debug_types, which is not supported (build with -gdwarf-5 or " +
			"-fno-debug-types-section)")
	case int64:
		return 0, false, fmt.Errorf("its type is not known: %w", d.noAlt())
	}
	return 0, false, d.corrupt("reference of an unknown form")
}

// typeEntry is a DIE with its unit, as far as types need it.
type typeEntry struct {
	*dwarf.Entry
	u   *Unit
	r   *entries // behind the entry
	off dwarf.Offset
}

func (d *Data) typeEntry(off dwarf.Offset) (typeEntry, error) {
	u, err := d.UnitOf(off)
	if err != nil {
		return typeEntry{}, err
	}
	if _, err := u.abbrevs(); err != nil { // debug/dwarf takes any
		return typeEntry{}, err
	}
	r, err := d.reader(off)
	if err != nil {
		return typeEntry{}, err
	}
	e, err := r.Next()
	if err != nil || e == nil || e.Tag == 0 {
		return typeEntry{}, d.corrupt("no type at %#x (%v)", off, err)
	}
	return typeEntry{e, u, r, off}, nil
}

func (e typeEntry) str(a dwarf.Attr) string { s, _ := e.Val(a).(string); return s }
func (e typeEntry) kind() reflect.Kind {
	k, _ := e.Val(godwarf.AttrGoKind).(int64)
	return reflect.Kind(k)
}
func (e typeEntry) goes() bool { return e.u.Lang() == LangGo }
func (e typeEntry) size(absent int64) int64 {
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok && n >= 0 {
		return n
	}
	return absent
}

// children calls f for each direct child of e.
func (e typeEntry) children(d *Data, f func(k *dwarf.Entry) error) error {
	if !e.Children {
		return nil
	}
	r, err := d.reader(e.off)
	if err != nil {
		return err
	}
	if _, err := r.Next(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		k, err := r.Next()
		if err != nil {
			return d.corrupt("%v", err)
		}
		if k == nil || k.Tag == 0 {
			return nil
		}
		if n > maxMembers {
			return d.corrupt("type at %#x has too many members", e.off)
		}
		if err := f(k); err != nil {
			return err
		}
		if k.Children {
			r.SkipChildren()
		}
	}
}

func (d *Data) typeAt(off dwarf.Offset, depth int) (*types.Ctype, error) {
	if t := d.types[off]; t != nil {
		return t, nil
	}
	if depth > maxTypeDepth {
		return nil, d.corrupt("type at %#x is defined by itself", off)
	}
	e, err := d.typeEntry(off)
	if err != nil {
		return nil, err
	}
	t, err := d.readType(e, depth)
	if err != nil {
		return nil, err
	}
	t.Go = t.Go || e.goes()
	d.types[off] = t
	return t, nil
}

// lazily sets a loader that runs under Guard and does nothing once the file is closed.
func (d *Data) lazily(t *types.Ctype, load func(t *types.Ctype) error) {
	t.SetLoader(func(t *types.Ctype) {
		if d.f.Closed() {
			return
		}
		var err error
		defer foreign.Guard(&err)()
		err = load(t)
	})
}

func (d *Data) readType(e typeEntry, depth int) (*types.Ctype, error) {
	switch e.Tag {
	case dwarf.TagBaseType:
		return d.baseType(e), nil
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, tagAtomicType,
		dwarf.TagTemplateAlias, dwarf.TagPackedType, dwarf.TagSharedType, dwarf.TagMutableType:
		return d.alias(e, depth)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t := &types.Ctype{Kind: types.Pointer, Name: d.typeName(e.off, depth), Size: e.size(8)}
		d.lazily(t, func(t *types.Ctype) error {
			el, err := d.typeAttr(e, dwarf.AttrType, 0)
			if err != nil {
				el = &types.Ctype{Kind: types.Void, Name: "?", Size: -1}
			}
			t.SetElem(el)
			return err
		})
		return t, nil
	case dwarf.TagSubroutineType:
		if e.goes() {
			return &types.Ctype{Kind: types.GoFunc, Name: e.str(dwarf.AttrName), Size: 8}, nil
		}
		return &types.Ctype{Kind: types.Func, Name: d.typeName(e.off, depth), Size: -1}, nil
	case dwarf.TagArrayType:
		return d.arrayType(e, depth)
	case dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagClassType, dwarf.TagInterfaceType:
		return d.structType(e, depth)
	case dwarf.TagEnumerationType:
		return d.enumType(e, depth)
	case dwarf.TagSubrangeType:
		if e.Val(dwarf.AttrType) != nil {
			return d.alias(e, depth)
		}
	case dwarf.TagUnspecifiedType:
		return &types.Ctype{Kind: types.Void, Name: e.str(dwarf.AttrName), Size: -1}, nil
	}
	// Pointers to members, sets, strings of other languages: known by name only.
	return &types.Ctype{Kind: types.Void, Name: d.typeName(e.off, depth), Size: e.size(-1)}, nil
}

func (d *Data) baseType(e typeEntry) *types.Ctype {
	t := &types.Ctype{Name: e.str(dwarf.AttrName), Size: e.size(-1)}
	if n, ok := e.Val(dwarf.AttrBitSize).(int64); ok && e.Val(dwarf.AttrByteSize) == nil {
		t.Size = (n + 7) / 8
	}
	enc, _ := e.Val(dwarf.AttrEncoding).(int64)
	switch enc {
	case ateBoolean:
		t.Kind = types.Bool
	case ateFloat:
		t.Kind, t.Signed = types.Float, true
	case ateComplexFloat:
		t.Kind, t.Signed = types.Complex, true
	case ateSigned:
		t.Kind, t.Signed = types.Int, true
	case ateUnsigned, ateUTF, ateUCS, ateASCII:
		t.Kind = types.Int
	case ateSignedChar, ateUnsignedChar:
		t.Kind, t.Signed = types.Int, enc == ateSignedChar
		if t.Size == 1 && !e.goes() {
			t.Kind = types.Char
		}
	case ateAddress:
		t.Kind = types.Pointer
		t.SetElem(Void)
	default: // decimal floats and others: no value can be made of the bytes
		t.Kind = types.Void
	}
	return t
}

// alias makes the type of a typedef or qualifier: what it stands for, under its own name.
func (d *Data) alias(e typeEntry, depth int) (*types.Ctype, error) {
	under, err := d.typeAttr(e, dwarf.AttrType, depth)
	if err != nil {
		return nil, err
	}
	t := &types.Ctype{
		Kind: under.Kind, Name: d.typeName(e.off, depth), Size: under.Size,
		Signed: under.Signed, Count: under.Count, Empty: under.Empty, Vector: under.Vector, Go: under.Go,
	}
	switch k := e.kind(); k {
	case reflect.Map, reflect.Chan:
		t.Kind = types.GoMap
		if k == reflect.Chan {
			t.Kind = types.GoChan
		}
		d.lazily(t, func(t *types.Ctype) error {
			el, err := d.typeAttr(e, godwarf.AttrGoElem, 0)
			if err != nil {
				return err
			}
			t.SetElem(el)
			if k == reflect.Map {
				key, err := d.typeAttr(e, godwarf.AttrGoKey, 0)
				if err != nil {
					return err
				}
				t.SetKey(key)
			}
			return nil
		})
		return t, nil
	case reflect.Interface:
		// "runtime.iface" has a table of methods as its first word, "runtime.eface" the type.
		t.Kind, t.Empty = types.GoInterface, strings.HasSuffix(under.Name, ".eface")
	}
	if e.Val(godwarf.AttrGoDictIndex) != nil {
		t.Name = under.Name // ".param0" says nothing
	}
	d.lazily(t, func(t *types.Ctype) error {
		t.SetElem(under.Elem())
		t.SetKey(under.Key())
		t.SetFields(under.Fields())
		t.SetEnums(under.Enums())
		if t.Size < 0 {
			t.Size = under.Size // a struct that was incomplete here
		}
		return nil
	})
	return t, nil
}

func (d *Data) arrayType(e typeEntry, depth int) (*types.Ctype, error) {
	el, err := d.typeAttr(e, dwarf.AttrType, depth)
	if err != nil {
		return nil, err
	}
	if s, ok := e.Val(dwarf.AttrStride).(int64); ok && s != el.Size {
		return nil, fmt.Errorf("array with a stride of %d bytes is not supported", s)
	}
	if e.Val(dwarf.AttrStrideSize) != nil { // vectors of bits
		return nil, errors.New("array of bits is not supported")
	}
	dims, err := d.dimensions(e)
	if err != nil {
		return nil, err
	}
	t := el
	name := e.str(dwarf.AttrName)
	for i := len(dims) - 1; i >= 0; i-- {
		a := &types.Ctype{Kind: types.Array, Count: dims[i], Size: -1, Go: e.goes(), Name: name}
		if a.Count >= 0 && t.Size >= 0 {
			if t.Size > 0 && a.Count > (1<<62)/t.Size {
				return nil, d.corrupt("array at %#x is too large", e.off)
			}
			a.Size = a.Count * t.Size
		}
		if name == "" || i > 0 {
			a.Name = d.declareTarget(e, bounds(dims[i:]), depth+1)
		}
		a.SetElem(t)
		t = a
	}
	if n := e.size(-1); n >= 0 && t.Count >= 0 {
		t.Size = n
	}
	if v, _ := e.Val(attrGNUVector).(bool); v {
		t.Vector = true
	}
	return t, nil
}

// dimensions lists the numbers of elements, outermost first, -1 for those that are not constant.
func (d *Data) dimensions(e typeEntry) ([]int64, error) {
	var dims []int64
	err := e.children(d, func(k *dwarf.Entry) error {
		if k.Tag != dwarf.TagSubrangeType && k.Tag != dwarf.TagEnumerationType {
			return nil
		}
		n := int64(-1)
		if c, ok := k.Val(dwarf.AttrCount).(int64); ok {
			n = c
		} else if b, ok := k.Val(dwarf.AttrUpperBound).(int64); ok {
			lower, _ := k.Val(dwarf.AttrLowerBound).(int64)
			n = b - lower + 1
			if b == 0xffffffff || b == -1 { // gcc's bound of int a[0]
				n = 0
			}
		}
		if n < -1 {
			n = -1
		}
		if dims = append(dims, n); len(dims) > 16 {
			return d.corrupt("array at %#x has too many dimensions", e.off)
		}
		return nil
	})
	if len(dims) == 0 {
		dims = []int64{-1}
	}
	return dims, err
}

func (d *Data) structType(e typeEntry, depth int) (*types.Ctype, error) {
	t := &types.Ctype{Kind: types.Struct, Name: d.typeName(e.off, depth), Size: e.size(-1)}
	switch {
	case e.Tag == dwarf.TagUnionType:
		t.Kind = types.Union
	case e.kind() == reflect.String:
		t.Kind = types.GoString
	case e.kind() == reflect.Slice:
		t.Kind = types.GoSlice
	}
	def := e
	if b, _ := e.Val(dwarf.AttrDeclaration).(bool); b {
		t.Size = -1
		d.lazily(t, func(t *types.Ctype) error {
			full, err := d.definition(e)
			if err != nil || full == nil {
				return err
			}
			t.Size = full.Size
			t.SetFields(full.Fields())
			return nil
		})
		return t, nil
	}
	d.lazily(t, func(t *types.Ctype) error {
		fields, err := d.fields(def, t.Size)
		if err != nil {
			return err
		}
		t.SetFields(fields)
		if t.Kind == types.GoSlice {
			el, err := d.typeAttr(def, godwarf.AttrGoElem, 0)
			if err != nil {
				return err
			}
			t.SetElem(el)
		}
		return nil
	})
	return t, nil
}

func (d *Data) enumType(e typeEntry, depth int) (*types.Ctype, error) {
	t := &types.Ctype{Kind: types.Enum, Name: d.typeName(e.off, depth), Size: e.size(-1)}
	known := false
	if enc, ok := e.Val(dwarf.AttrEncoding).(int64); ok {
		t.Signed, known = enc == ateSigned || enc == ateSignedChar, true
	}
	if e.Val(dwarf.AttrType) != nil {
		under, err := d.typeAttr(e, dwarf.AttrType, depth)
		if err != nil {
			return nil, err
		}
		t.Signed, known = under.Signed, true
		if t.Size < 0 {
			t.Size = under.Size
		}
	}
	list := func() (es []types.Enumerator, err error) {
		err = e.children(d, func(k *dwarf.Entry) error {
			if k.Tag == dwarf.TagEnumerator {
				name, _ := k.Val(dwarf.AttrName).(string)
				v, _ := k.Val(dwarf.AttrConstValue).(int64)
				es = append(es, types.Enumerator{Name: name, Val: v})
			}
			return nil
		})
		return es, err
	}
	if !known { // old compilers: signed if a constant is negative
		es, err := list()
		if err != nil {
			return nil, err
		}
		for _, x := range es {
			t.Signed = t.Signed || x.Val < 0
		}
		t.SetEnums(es)
		return t, nil
	}
	d.lazily(t, func(t *types.Ctype) error {
		es, err := list()
		t.SetEnums(es)
		return err
	})
	return t, nil
}
