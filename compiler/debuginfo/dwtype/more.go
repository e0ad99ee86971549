package dwtype

import (
	"debug/dwarf"
	"encoding/binary"

	"github.com/gostap/gostap/compiler/types"
)

// more reads what a structure of C++ or Rust has beside its members.
func (ts *Types) more(e typeEntry) (m types.More, err error) {
	if m.Scope, err = ts.d.Around(e.off); err != nil {
		return m, err
	}
	err = e.children(ts.d, func(k *dwarf.Entry) error {
		switch k.Tag {
		case dwarf.TagTemplateTypeParameter:
			t, err := ts.typeAttr(k, dwarf.AttrType, 0)
			if err != nil {
				return err
			}
			name, _ := k.Val(dwarf.AttrName).(string)
			m.Params = append(m.Params, types.Field{Name: name, Type: t})
		case tagTemplatePack: // its members are the parameters
			return ts.d.EachChild(k.Offset, maxMembers, func(p *dwarf.Entry) error {
				if p.Tag != dwarf.TagTemplateTypeParameter {
					return nil
				}
				t, err := ts.typeAttr(p, dwarf.AttrType, 0)
				m.Params = append(m.Params, types.Field{Type: t})
				return err
			})
		case dwarf.TagVariantPart:
			v, err := ts.variants(k)
			m.Variants = v
			return err
		}
		return nil
	})
	return m, err
}

// tagTemplatePack is GNU's DW_TAG_GNU_template_parameter_pack.
const tagTemplatePack = dwarf.Tag(0x4107)

// variants reads a DW_TAG_variant_part.
func (ts *Types) variants(part *dwarf.Entry) (*types.Variants, error) {
	out := &types.Variants{}
	member := func(k *dwarf.Entry) (f types.Field, err error) {
		f.Name, _ = k.Val(dwarf.AttrName).(string)
		f.Off, _ = k.Val(dwarf.AttrDataMemberLoc).(int64)
		f.Type, err = ts.typeAttr(k, dwarf.AttrType, 0)
		return f, err
	}
	if !part.Children {
		return out, nil
	}
	tag, _ := part.Val(dwarf.AttrDiscr).(dwarf.Offset)
	err := ts.d.EachChild(part.Offset, maxMembers, func(k *dwarf.Entry) (err error) {
		switch k.Tag {
		case dwarf.TagMember:
			if k.Offset == tag {
				out.Tag, err = member(k)
			}
			return err
		case dwarf.TagVariant:
		default:
			return nil
		}
		v := types.Variant{}
		switch val := k.Val(dwarf.AttrDiscrValue).(type) {
		case nil:
			v.Default = true
		case int64:
			v.Val = uint64(val)
		case uint64:
			v.Val = val
		case []byte: // of a tag of 16 bytes
			if len(val) != 16 || binary.LittleEndian.Uint64(val[8:]) != 0 {
				out.Large = true
				return nil
			}
			v.Val = binary.LittleEndian.Uint64(val)
		default:
			return ts.d.Corrupt("variant at %#x has a value of an unknown form", k.Offset)
		}
		if !k.Children {
			return nil
		}
		return ts.d.EachChild(k.Offset, maxMembers, func(f *dwarf.Entry) (err error) {
			if f.Tag == dwarf.TagMember {
				v.Field, err = member(f)
				out.List = append(out.List, v)
			}
			return err
		})
	})
	return out, err
}
