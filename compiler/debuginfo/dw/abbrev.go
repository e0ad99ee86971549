package dw

import (
	"debug/dwarf"
	"fmt"
)

// Attribute forms (DWARF 5, 7.5.6, table 7.6).
const (
	formAddr          = 0x01
	formBlock2        = 0x03
	formBlock4        = 0x04
	formData2         = 0x05
	formData4         = 0x06
	formData8         = 0x07
	formString        = 0x08
	formBlock         = 0x09
	formBlock1        = 0x0a
	formData1         = 0x0b
	formFlag          = 0x0c
	formSdata         = 0x0d
	formStrp          = 0x0e
	formUdata         = 0x0f
	formRefAddr       = 0x10
	formRef1          = 0x11
	formRef2          = 0x12
	formRef4          = 0x13
	formRef8          = 0x14
	formRefUdata      = 0x15
	formIndirect      = 0x16
	formSecOffset     = 0x17
	formExprloc       = 0x18
	formFlagPresent   = 0x19
	formStrx          = 0x1a
	formAddrx         = 0x1b
	formRefSup4       = 0x1c
	formStrpSup       = 0x1d
	formData16        = 0x1e
	formLineStrp      = 0x1f
	formRefSig8       = 0x20
	formImplicitConst = 0x21
	formLoclistx      = 0x22
	formRnglistx      = 0x23
	formRefSup8       = 0x24
	formStrx1         = 0x25
	formStrx2         = 0x26
	formStrx3         = 0x27
	formStrx4         = 0x28
	formAddrx1        = 0x29
	formAddrx2        = 0x2a
	formAddrx3        = 0x2b
	formAddrx4        = 0x2c
	formGNUAddrIndex  = 0x1f01
	formGNUStrIndex   = 0x1f02
	formGNURefAlt     = 0x1f20
	formGNUStrpAlt    = 0x1f21
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

// fixedSize is the size of a form that always has the same, else -1.
func fixedSize(form uint16, addrSize int, dwarf64 bool, version int) int {
	off := 4
	if dwarf64 {
		off = 8
	}
	switch form {
	case formAddr:
		return addrSize
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return off
	case formRefAddr:
		if version <= 2 {
			return addrSize
		}
		return off
	case formFlagPresent, formImplicitConst:
		return 0
	}
	return -1
}

const maxDenseAbbrev = 1 << 16

// abbrevs reads the declarations that a unit uses.
func (u *Unit) abbrevs() (*abbrevTable, error) {
	info, err := u.d.section(".debug_info")
	if err != nil {
		return nil, err
	}
	r := &reader{b: info, off: int(u.Off)}
	r.unitLength()
	r.u16()
	if u.Version >= 5 {
		r.skip(2)
	}
	off := r.offset(u.Dwarf64)
	sec, err := u.d.section(".debug_abbrev")
	if err != nil {
		return nil, err
	}
	if r.err != nil || off >= uint64(len(sec)) {
		return nil, u.d.corrupt("abbreviations of unit at %#x are out of range", u.Off)
	}
	key := abbrevKey{off, u.AddrSize, u.Dwarf64, u.Version}
	if t := u.d.abbrevs[key]; t != nil {
		return t, nil
	}
	t, err := readAbbrevs(&reader{b: sec, off: int(off)}, key)
	if err != nil {
		return nil, u.d.corrupt("abbreviations at %#x: %v", off, err)
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

func readAbbrevs(r *reader, key abbrevKey) (*abbrevTable, error) {
	t := &abbrevTable{}
	for {
		code := r.uleb()
		if code == 0 || r.err != nil {
			return t, r.err
		}
		a := abbrev{tag: dwarf.Tag(r.uleb()), children: r.u8() != 0}
		if a.tag == 0 {
			return nil, fmt.Errorf("tag 0")
		}
		for {
			at, form := r.uleb(), r.uleb()
			f := abbrevField{form: uint16(form), slot: slotOf(dwarf.Attr(at))}
			if form == formImplicitConst {
				f.implicit = r.sleb()
			}
			if at == 0 && form == 0 || r.err != nil {
				break
			}
			if form > 0xffff {
				return nil, fmt.Errorf("unknown form %#x", form)
			}
			if n := fixedSize(f.form, key.addrSize, key.dwarf64, key.version); n < 0 || a.fixed < 0 {
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
	defer Guard(&err)()
	t, err := u.abbrevs()
	if err != nil {
		return true, err
	}
	refers := func(a abbrev) bool {
		for _, f := range a.fields {
			if f.form == formRefAddr {
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
