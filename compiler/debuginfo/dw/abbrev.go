package dw

import (
	"debug/dwarf"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// slot numbers the attributes that scans look at.
type slot uint8

const (
	slotName slot = iota
	slotLow
	slotHigh
	slotRanges
	slotSibling
	slotOrigin
	slotSpec
	slotDecl
	slotExternal
	slotInline
	slotFile
	slotLine
	slotLinkage
	slotArtificial
	slotTrampoline
	slotLocation // or DW_AT_const_value
	nSlots
	noSlot slot = 255
)

func slotOf(a dwarf.Attr) slot {
	switch a {
	case dwarf.AttrName:
		return slotName
	case dwarf.AttrLowpc:
		return slotLow
	case dwarf.AttrHighpc:
		return slotHigh
	case dwarf.AttrRanges:
		return slotRanges
	case dwarf.AttrSibling:
		return slotSibling
	case dwarf.AttrAbstractOrigin:
		return slotOrigin
	case dwarf.AttrSpecification:
		return slotSpec
	case dwarf.AttrDeclaration:
		return slotDecl
	case dwarf.AttrExternal:
		return slotExternal
	case dwarf.AttrInline:
		return slotInline
	case dwarf.AttrDeclFile:
		return slotFile
	case dwarf.AttrDeclLine:
		return slotLine
	case dwarf.AttrLinkageName:
		return slotLinkage
	case dwarf.AttrArtificial:
		return slotArtificial
	case dwarf.AttrTrampoline:
		return slotTrampoline
	case dwarf.AttrLocation, dwarf.AttrConstValue:
		return slotLocation
	}
	return noSlot
}

type abbrevField struct {
	form     uint16
	slot     slot
	implicit int64
}

// abbrev is a declaration of .debug_abbrev (DWARF 5, 7.5.3) prepared for scanning.
type abbrev struct {
	tag      dwarf.Tag
	children bool
	fixed    int // bytes of all attributes, -1 if that varies
	wanted   bool
	fields   []abbrevField
}

// abbrevTable is by code; codes are small and dense in practice.
type abbrevTable struct {
	dense  []abbrev
	sparse map[uint64]abbrev
}

func (t *abbrevTable) get(code uint64) *abbrev {
	if code < uint64(len(t.dense)) {
		if a := &t.dense[code]; a.tag != 0 {
			return a
		}
		return nil
	}
	if a, ok := t.sparse[code]; ok {
		return &a
	}
	return nil
}

const maxDenseAbbrev = 1 << 16

// abbrevs reads the declarations that a unit uses.
func (u *Unit) abbrevs() (*abbrevTable, error) {
	info, err := u.d.section(".debug_info")
	if err != nil {
		return nil, err
	}
	r := &dwread.Reader{Bytes: info, Off: int(u.Off)}
	r.UnitLength()
	r.U16()
	if u.Version >= 5 {
		r.Skip(2)
	}
	off := r.Offset(u.Dwarf64)
	sec, err := u.d.section(".debug_abbrev")
	if err != nil {
		return nil, err
	}
	if r.Err != nil || off >= uint64(len(sec)) {
		return nil, u.d.Corrupt("abbreviations of unit at %#x are out of range", u.Off)
	}
	key := abbrevKey{off, u.AddrSize, u.Dwarf64, u.Version}
	if t := u.d.abbrevs[key]; t != nil {
		return t, nil
	}
	t, err := readAbbrevs(&dwread.Reader{Bytes: sec, Off: int(off)}, key)
	if err != nil {
		return nil, u.d.Corrupt("abbreviations at %#x: %v", off, err)
	}
	if u.d.abbrevs == nil || len(u.d.abbrevs) > 64 {
		u.d.abbrevs = map[abbrevKey]*abbrevTable{} // C has one table per unit: keep few
	}
	u.d.abbrevs[key] = t
	return t, nil
}

type abbrevKey struct {
	off      uint64
	addrSize int
	dwarf64  bool
	version  int
}

func readAbbrevs(r *dwread.Reader, key abbrevKey) (*abbrevTable, error) {
	t := &abbrevTable{}
	for {
		code := r.Uleb()
		if code == 0 || r.Err != nil {
			return t, r.Err
		}
		a := abbrev{tag: dwarf.Tag(r.Uleb()), children: r.U8() != 0}
		if a.tag == 0 {
			return nil, fmt.Errorf("tag 0")
		}
		for {
			at, form := r.Uleb(), r.Uleb()
			f := abbrevField{form: uint16(form), slot: slotOf(dwarf.Attr(at))}
			if form == dwread.FormImplicitConst {
				f.implicit = r.Sleb()
			}
			if at == 0 && form == 0 || r.Err != nil {
				break
			}
			if form > 0xffff {
				return nil, fmt.Errorf("unknown form %#x", form)
			}
			if n := dwread.FixedSize(f.form, key.addrSize, key.dwarf64, key.version); n < 0 || a.fixed < 0 {
				a.fixed = -1
			} else {
				a.fixed += n
			}
			a.wanted = a.wanted || f.slot != noSlot
			if a.fields = append(a.fields, f); len(a.fields) > maxAttributes {
				return nil, fmt.Errorf("more than %d attributes", maxAttributes)
			}
		}
		if code < maxDenseAbbrev && code <= uint64(len(t.dense))+64 {
			for uint64(len(t.dense)) <= code {
				t.dense = append(t.dense, abbrev{})
			}
			t.dense[code] = a
		} else {
			if t.sparse == nil {
				t.sparse = map[uint64]abbrev{}
			}
			t.sparse[code] = a
		}
	}
}

// RefersToOthers reports whether entries of u may refer to those of other units: code of several files was
// optimised as one.
func (u *Unit) RefersToOthers() bool {
	others, err := u.refersToOthers()
	return others || err != nil
}

func (u *Unit) refersToOthers() (others bool, err error) {
	defer foreign.Guard(&err)()
	t, err := u.abbrevs()
	if err != nil {
		return true, err
	}
	refers := func(a abbrev) bool {
		for _, f := range a.fields {
			if f.form == dwread.FormRefAddr {
				return true
			}
		}
		return false
	}
	for _, a := range t.dense {
		if refers(a) {
			return true, nil
		}
	}
	for _, a := range t.sparse {
		if refers(a) {
			return true, nil
		}
	}
	return false, nil
}
