package dwtype

import (
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/types"
)

// fields reads the members of a struct or union of the given size.
func (ts *Types) fields(e typeEntry, structSize int64) ([]types.Field, error) {
	var out []types.Field
	unknown := func(size int64) types.Field {
		return types.Field{Type: &types.Ctype{Kind: types.Void, Name: "?", Size: size}}
	}
	err := e.children(ts.d, func(k *dwarf.Entry) error {
		if k.Tag == dwarf.TagVariantPart { // an enum of Rust: which of the variants it is depends on the object
			out = append(out, unknown(structSize))
			return nil
		}
		if k.Tag != dwarf.TagMember && k.Tag != dwarf.TagInheritance {
			return nil
		}
		if b, _ := k.Val(dwarf.AttrDeclaration).(bool); b {
			return nil // a static member of C++
		}
		if b, _ := k.Val(dwarf.AttrExternal).(bool); b {
			return nil
		}
		t, err := ts.typeAttr(k, dwarf.AttrType, 0)
		if err != nil {
			return err
		}
		f := types.Field{Type: t}
		f.Name, _ = k.Val(dwarf.AttrName).(string)
		f.Base = k.Tag == dwarf.TagInheritance
		f.Embedded, _ = k.Val(godwarf.AttrGoEmbeddedField).(bool)
		switch v := k.Val(dwarf.AttrDataMemberLoc).(type) {
		case int64:
			f.Off = v
		case []byte:
			off, ok := memberOffset(v)
			if !ok { // a virtual base of C++: where it is depends on the object
				f := unknown(0)
				f.Base, f.Virtual = k.Tag == dwarf.TagInheritance, true
				out = append(out, f)
				return nil
			}
			f.Off = off
		}
		if n, ok := k.Val(dwarf.AttrBitSize).(int64); ok {
			if !bitField(&f, k, n, structSize) {
				return ts.d.Corrupt("bit field at %#x does not fit its type", k.Offset)
			}
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// memberOffset decodes the expression form of DW_AT_data_member_location.
func memberOffset(expr []byte) (int64, bool) {
	if len(expr) == 0 {
		return 0, true
	}
	r := &dwread.Reader{Bytes: expr}
	var off int64
	switch r.U8() {
	case 0x23: // DW_OP_plus_uconst
		off = int64(r.Uleb())
	case 0x10: // DW_OP_constu ... DW_OP_plus
		off = int64(r.Uleb())
		if r.U8() != 0x22 {
			return 0, false
		}
	default:
		return 0, false
	}
	return off, r.Err == nil && r.Empty()
}

// bitField sets the offsets of a bit field of n bits. The field's type gives the width of the word
// that it is read from; where the field straddles words of its type (packed structs), or the word would
// reach beyond the struct, a type of another width with the same name takes its place.
func bitField(f *types.Field, k *dwarf.Entry, n, structSize int64) bool {
	size := f.Type.Size
	if n <= 0 || size <= 0 || size > 8 || n > 64 {
		return false
	}
	var first int64 // bit of the struct, from its start
	if v, ok := k.Val(dwarf.AttrDataBitOffset).(int64); ok {
		first = v
	} else if v, ok := k.Val(dwarf.AttrBitOffset).(int64); ok {
		// DWARF 2 and 3: counted from the most significant bit of a storage unit at Off.
		unit := size
		if b, ok := k.Val(dwarf.AttrByteSize).(int64); ok {
			unit = b
		}
		first = 8*f.Off + 8*unit - v - n
	} else {
		first = 8 * f.Off
	}
	if first < 0 {
		return false
	}
	f.BitSize = n
	fits := func(size, off int64) bool {
		return first >= 8*off && first+n <= 8*(off+size) && (structSize < 0 || off+size <= structSize)
	}
	if off := first / (8 * size) * size; fits(size, off) {
		f.Off, f.BitOff = off, first-8*off
		return true
	}
	for _, s := range []int64{1, 2, 4, 8} {
		off := first / 8
		if structSize >= s {
			off = min(off, structSize-s)
		}
		if fits(s, off) {
			f.Off, f.BitOff = off, first-8*off
			if s != size {
				f.Type = &types.Ctype{Kind: f.Type.Kind, Name: f.Type.Name, Size: s, Signed: f.Type.Signed}
			}
			return true
		}
	}
	return false
}
