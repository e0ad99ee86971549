// Package dwtype makes types of DWARF's: sizes, members, names as their language writes them, how C++ passes them.
//
// In: the DWARF of a program (dw.Data) and an entry, an offset or a name. Out: types.Ctype, whose parts are read when
// they are first asked for, and ways of passing (Types). Names of C are declarations, names of Go are Go's.
//
// Loaders that are left behind in types run under foreign.Guard, and do nothing once the file is closed.
package dwtype

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

const (
	attrGNUVector = dwarf.Attr(0x2107)
	// attrGoRuntimeType counts from the first of the types that the program has for itself.
	attrGoRuntimeType = dwarf.Attr(0x2904)
	attrAlignment     = dwarf.Attr(0x88)
	tagAtomicType     = dwarf.Tag(0x47)
	maxTypeDepth      = 64
	maxMembers        = 1 << 16
)

// Types are the types of one program. What was read once is kept.
type Types struct {
	d      *dw.Data
	types  map[dwarf.Offset]*types.Ctype
	named  map[string]dwarf.Offset // types found by name; 0 for those that do not exist
	passed map[dwarf.Offset]Passing
}

// Of are the types that d describes.
func Of(d *dw.Data) *Types { return &Types{d: d, types: map[dwarf.Offset]*types.Ctype{}} }

// Void is the type of nothing, for pointers to it.
var Void = &types.Ctype{Kind: types.Void, Name: "void", Size: -1}

// TypeOf gives the type that the DW_AT_type of e names; Void if it has none.
func (ts *Types) TypeOf(e godwarf.Entry) (*types.Ctype, error) {
	return ts.typeAttr(e, dwarf.AttrType, 0)
}

// Type gives the type at off. What it consists of is read when its Elem, Key, Fields or Enums are
// first asked for.
func (ts *Types) Type(off dwarf.Offset) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	return ts.typeAt(off, 0)
}

func (ts *Types) typeAttr(e godwarf.Entry, attr dwarf.Attr, depth int) (*types.Ctype, error) {
	off, ok, err := ts.ref(e, attr)
	if err != nil {
		return nil, err
	}
	if !ok {
		return Void, nil
	}
	return ts.typeAt(off, depth+1)
}

// ref resolves a reference attribute, by offset or by the signature of a type unit.
func (ts *Types) ref(e godwarf.Entry, attr dwarf.Attr) (off dwarf.Offset, ok bool, err error) {
	switch v := e.Val(attr).(type) {
	case nil:
		return 0, false, nil
	case dwarf.Offset:
		return v, true, nil
	case uint64:
		if off, ok, err := ts.d.TypeUnit(v); ok || err != nil {
			return off, ok, err
		}
		return 0, false, errors.New("its type is in .debug_types, which is not supported (build with -gdwarf-5 or " +
			"-fno-debug-types-section)")
	case int64:
		return 0, false, fmt.Errorf("its type is not known: %w", ts.d.NoAlt())
	}
	return 0, false, ts.d.Corrupt("reference of an unknown form")
}

// typeEntry is a DIE with its unit, as far as types need it.
type typeEntry struct {
	*dwarf.Entry
	u   *dw.Unit
	off dwarf.Offset
}

func (ts *Types) typeEntry(off dwarf.Offset) (typeEntry, error) {
	u, e, err := ts.d.RawEntry(off)
	return typeEntry{e, u, off}, err
}

func (e typeEntry) str(a dwarf.Attr) string { s, _ := e.Val(a).(string); return s }
func (e typeEntry) kind() reflect.Kind {
	k, _ := e.Val(godwarf.AttrGoKind).(int64)
	return reflect.Kind(k)
}
func (e typeEntry) goes() bool { return e.u.Lang() == dw.LangGo }

// lang is the language of types that are told apart from those of C.
func (e typeEntry) lang() types.Lang {
	switch l := e.u.Lang(); {
	case l == dw.LangRust:
		return types.Rust
	case dw.IsCpp(l):
		return types.CPlus
	}
	return types.OtherLang
}

func (e typeEntry) size(absent int64) int64 {
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok && n >= 0 {
		return n
	}
	return absent
}

// children calls f for each direct child of e.
func (e typeEntry) children(d *dw.Data, f func(k *dwarf.Entry) error) error {
	if !e.Children {
		return nil
	}
	return d.EachChild(e.off, maxMembers, f)
}

func (ts *Types) typeAt(off dwarf.Offset, depth int) (*types.Ctype, error) {
	if t := ts.types[off]; t != nil {
		return t, nil
	}
	if depth > maxTypeDepth {
		return nil, ts.d.Corrupt("type at %#x is defined by itself", off)
	}
	e, err := ts.typeEntry(off)
	if err != nil {
		return nil, err
	}
	t, err := ts.readType(e, depth)
	if err != nil {
		return nil, err
	}
	t.Go = t.Go || e.goes()
	if t.Lang == types.OtherLang {
		t.Lang = e.lang()
	}
	if n, ok := e.Val(attrAlignment).(int64); ok && n > 0 && n <= 1<<16 {
		t.Align = n
	}
	if e.goes() {
		if v, ok := e.Val(attrGoRuntimeType).(uint64); ok {
			t.RunTime, t.NoRunTime = v, v == 0
		}
	}
	ts.types[off] = t
	return t, nil
}

// lazily sets a loader that runs under Guard and does nothing once the file is closed.
func (ts *Types) lazily(t *types.Ctype, load func(t *types.Ctype) error) {
	t.SetLoader(func(t *types.Ctype) {
		if ts.d.File().Closed() {
			return
		}
		var err error
		defer foreign.Guard(&err)()
		err = load(t)
	})
}

// anyPointer is how Go names a type parameter in the code that its instantiations with pointers of all types share
// (cmd/compile/internal/noder/reader.go, shapify). What it points to is not a byte: it is not known.
const anyPointer = "go.shape.*uint8"

func (ts *Types) readType(e typeEntry, depth int) (*types.Ctype, error) {
	switch e.Tag {
	case dwarf.TagBaseType:
		return ts.baseType(e), nil
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, tagAtomicType,
		dwarf.TagTemplateAlias, dwarf.TagPackedType, dwarf.TagSharedType, dwarf.TagMutableType:
		return ts.alias(e, depth)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t := &types.Ctype{Kind: types.Pointer, Name: ts.typeName(e.off, depth), Size: e.size(8),
			Own: e.str(dwarf.AttrName), Ref: e.Tag != dwarf.TagPointerType}
		ts.lazily(t, func(t *types.Ctype) error {
			if strings.HasPrefix(t.Name, anyPointer) {
				t.SetElem(Void)
				return nil
			}
			el, err := ts.typeAttr(e, dwarf.AttrType, 0)
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
		return &types.Ctype{Kind: types.Func, Name: ts.typeName(e.off, depth), Size: -1}, nil
	case dwarf.TagArrayType:
		return ts.arrayType(e, depth)
	case dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagClassType, dwarf.TagInterfaceType:
		return ts.structType(e, depth)
	case dwarf.TagEnumerationType:
		return ts.enumType(e, depth)
	case dwarf.TagSubrangeType:
		if e.Val(dwarf.AttrType) != nil {
			return ts.alias(e, depth)
		}
	case dwarf.TagUnspecifiedType:
		return &types.Ctype{Kind: types.Void, Name: e.str(dwarf.AttrName), Size: -1}, nil
	}
	// Pointers to members, sets, strings of other languages: known by name only.
	return &types.Ctype{Kind: types.Void, Name: ts.typeName(e.off, depth), Size: e.size(-1)}, nil
}

func (ts *Types) baseType(e typeEntry) *types.Ctype {
	t := &types.Ctype{Name: e.str(dwarf.AttrName), Size: e.size(-1)}
	if n, ok := e.Val(dwarf.AttrBitSize).(int64); ok && e.Val(dwarf.AttrByteSize) == nil {
		t.Size = (n + 7) / 8
	}
	enc, _ := e.Val(dwarf.AttrEncoding).(int64)
	if t.Name == "()" && t.Size == 0 && e.lang() == types.Rust {
		t.Kind, t.Own = types.Struct, t.Name
		return t
	}
	switch enc {
	case dwread.ATEBoolean:
		t.Kind = types.Bool
	case dwread.ATEFloat:
		t.Kind, t.Signed = types.Float, true
	case dwread.ATEComplexFloat:
		t.Kind, t.Signed = types.Complex, true
	case dwread.ATESigned:
		t.Kind, t.Signed = types.Int, true
	case dwread.ATEUnsigned, dwread.ATEUTF, dwread.ATEUCS, dwread.ATEASCII:
		t.Kind = types.Int
		if enc == dwread.ATEUTF && e.lang() == types.Rust {
			t.Own = t.Name // char, which is a number to C
		}
	case dwread.ATESignedChar, dwread.ATEUnsignedChar:
		t.Kind, t.Signed = types.Int, enc == dwread.ATESignedChar
		if t.Size == 1 && !e.goes() {
			t.Kind = types.Char
		}
	case dwread.ATEAddress:
		t.Kind = types.Pointer
		t.SetElem(Void)
	default: // decimal floats and others: no value can be made of the bytes
		t.Kind = types.Void
	}
	return t
}

// alias makes the type of a typedef or qualifier: what it stands for, under its own name.
func (ts *Types) alias(e typeEntry, depth int) (*types.Ctype, error) {
	under, err := ts.typeAttr(e, dwarf.AttrType, depth)
	if err != nil {
		return nil, err
	}
	t := &types.Ctype{
		Kind: under.Kind, Name: ts.typeName(e.off, depth), Size: under.Size,
		Signed: under.Signed, Count: under.Count, Empty: under.Empty, Vector: under.Vector, Go: under.Go,
		Lang: under.Lang, Own: under.Own, Ref: under.Ref, Align: under.Align,
	}
	if t.Name == under.Name { // Go's linker puts a typedef beside a named type, and says only there where it is
		t.RunTime, t.NoRunTime = under.RunTime, under.NoRunTime
	}
	switch k := e.kind(); k {
	case reflect.Map, reflect.Chan:
		t.Kind = types.GoMap
		if k == reflect.Chan {
			t.Kind = types.GoChan
		}
		ts.lazily(t, func(t *types.Ctype) error {
			el, err := ts.typeAttr(e, godwarf.AttrGoElem, 0)
			if err != nil {
				return err
			}
			t.SetElem(el)
			if k == reflect.Map {
				key, err := ts.typeAttr(e, godwarf.AttrGoKey, 0)
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
	ts.lazily(t, func(t *types.Ctype) error {
		t.SetElem(under.Elem())
		t.SetKey(under.Key())
		t.SetFields(under.Fields())
		t.SetEnums(under.Enums())
		t.SetMore(*under.More())
		if t.Size < 0 {
			t.Size = under.Size // a struct that was incomplete here
		}
		return nil
	})
	return t, nil
}

func (ts *Types) arrayType(e typeEntry, depth int) (*types.Ctype, error) {
	el, err := ts.typeAttr(e, dwarf.AttrType, depth)
	if err != nil {
		return nil, err
	}
	if s, ok := e.Val(dwarf.AttrStride).(int64); ok && s != el.Size {
		return nil, fmt.Errorf("array with a stride of %d bytes is not supported", s)
	}
	if e.Val(dwarf.AttrStrideSize) != nil { // vectors of bits
		return nil, errors.New("array of bits is not supported")
	}
	dims, err := ts.dimensions(e)
	if err != nil {
		return nil, err
	}
	t := el
	name := e.str(dwarf.AttrName)
	for i := len(dims) - 1; i >= 0; i-- {
		a := &types.Ctype{Kind: types.Array, Count: dims[i], Size: -1, Go: e.goes(), Name: name}
		if a.Count >= 0 && t.Size >= 0 {
			if t.Size > 0 && a.Count > (1<<62)/t.Size {
				return nil, ts.d.Corrupt("array at %#x is too large", e.off)
			}
			a.Size = a.Count * t.Size
		}
		if name == "" || i > 0 {
			a.Name = ts.declareTarget(e, bounds(dims[i:]), depth+1)
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
func (ts *Types) dimensions(e typeEntry) ([]int64, error) {
	var dims []int64
	err := e.children(ts.d, func(k *dwarf.Entry) error {
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
			return ts.d.Corrupt("array at %#x has too many dimensions", e.off)
		}
		return nil
	})
	if len(dims) == 0 {
		dims = []int64{-1}
	}
	return dims, err
}

func (ts *Types) structType(e typeEntry, depth int) (*types.Ctype, error) {
	t := &types.Ctype{Kind: types.Struct, Name: ts.typeName(e.off, depth), Size: e.size(-1)}
	if e.lang() != types.OtherLang {
		t.Own = e.str(dwarf.AttrName)
	}
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
		ts.lazily(t, func(t *types.Ctype) error {
			full, err := ts.definition(e)
			if err == nil && full == nil && t.Own != "" {
				var m types.More
				m.Scope, err = ts.d.Around(e.off)
				t.SetMore(m)
			}
			if err != nil || full == nil {
				return err
			}
			t.Size = full.Size
			t.SetFields(full.Fields())
			t.SetMore(*full.More())
			return nil
		})
		return t, nil
	}
	ts.lazily(t, func(t *types.Ctype) error {
		fields, err := ts.fields(def, t.Size)
		if err != nil {
			return err
		}
		t.SetFields(fields)
		if t.Own != "" {
			m, err := ts.more(def)
			if err != nil {
				return err
			}
			t.SetMore(m)
		}
		if t.Kind == types.GoSlice {
			el, err := ts.typeAttr(def, godwarf.AttrGoElem, 0)
			if err != nil {
				return err
			}
			t.SetElem(el)
		}
		return nil
	})
	return t, nil
}

func (ts *Types) enumType(e typeEntry, depth int) (*types.Ctype, error) {
	t := &types.Ctype{Kind: types.Enum, Name: ts.typeName(e.off, depth), Size: e.size(-1)}
	if v, _ := e.Val(dwarf.AttrEnumClass).(bool); v && e.lang() == types.CPlus {
		t.Own = e.str(dwarf.AttrName)
	}
	known := false
	if enc, ok := e.Val(dwarf.AttrEncoding).(int64); ok {
		t.Signed, known = enc == dwread.ATESigned || enc == dwread.ATESignedChar, true
	}
	if e.Val(dwarf.AttrType) != nil {
		under, err := ts.typeAttr(e, dwarf.AttrType, depth)
		if err != nil {
			return nil, err
		}
		t.Signed, known = under.Signed, true
		if t.Size < 0 {
			t.Size = under.Size
		}
	}
	list := func() (es []types.Enumerator, err error) {
		err = e.children(ts.d, func(k *dwarf.Entry) error {
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
	ts.lazily(t, func(t *types.Ctype) error {
		es, err := list()
		t.SetEnums(es)
		return err
	})
	return t, nil
}
