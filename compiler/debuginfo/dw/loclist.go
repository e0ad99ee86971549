package dw

import (
	"debug/dwarf"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// loclistsHead is the size of the header of a table of location or range lists (DWARF 5, 7.28 and 7.29).
const loclistsHead = 12

// attrLocviews is gcc's DW_AT_GNU_locviews: the offset of a pair of view numbers for each entry of
// the location list.
const attrLocviews = dwarf.Attr(0x2137)

// Locations gives all ranges in which the attribute attr (DW_AT_location, DW_AT_frame_base) of
// t says something, in list order. An attribute with one expression yields one range that is
// everywhere. Expressions of length 0 ("no location here") are left out.
// The error is ErrNoLocation if t has no such attribute.
func (u *Unit) Locations(t godwarf.Entry, attr dwarf.Attr) (list []dwexpr.LocRange, err error) {
	defer foreign.Guard(&err)()
	f := t.AttrField(attr)
	if f == nil {
		return nil, dwexpr.ErrNoLocation
	}
	switch v := f.Val.(type) {
	case []byte:
		if len(v) == 0 {
			return nil, nil
		}
		return []dwexpr.LocRange{{Lo: 0, Hi: ^uint64(0), Expr: v, Default: true}}, nil
	case int64: // an offset: DW_FORM_sec_offset, data4, data8
		views := u.viewsOf(t, attr)
		if u.split != nil {
			v += int64(u.split.locs)
		}
		if u.Version >= 5 {
			return u.locList5(uint64(v), views)
		}
		return u.locList4(uint64(v), views)
	case uint64: // DW_FORM_loclistx: an index
		off, err := u.loclistx(v)
		if err != nil {
			return nil, err
		}
		return u.locList5(off, u.viewsOf(t, attr))
	}
	return nil, u.d.Corrupt("location of class %v", f.Class)
}

// viewsOf is where the view numbers of the list of attr are, -1 if it has none.
func (u *Unit) viewsOf(t godwarf.Entry, attr dwarf.Attr) int64 {
	if attr != dwarf.AttrLocation {
		return -1
	}
	f := t.AttrField(attrLocviews)
	if f == nil {
		return -1
	}
	off, ok := f.Val.(int64)
	switch {
	case !ok:
		return -1
	case u.split != nil && u.Version >= 5: // gcc counts from the table behind the header there
		off += int64(u.split.locs) + loclistsHead
	case u.split != nil:
		off += int64(u.split.locs)
	}
	return off
}

// loclistx turns an index into an offset in .debug_loclists (DWARF 5, 7.29).
func (u *Unit) loclistx(i uint64) (uint64, error) {
	sec, err := u.d.section(".debug_loclists")
	if err != nil {
		return 0, err
	}
	if _, err := u.Entry(); err != nil {
		return 0, err
	}
	base := u.bases.loclists
	if !u.bases.hasLoclst {
		base = 12 // the first list table of the section
		if u.Dwarf64 {
			base = 20
		}
	}
	size := uint64(4)
	if u.Dwarf64 {
		size = 8
	}
	if i >= uint64(len(sec))/size || base > uint64(len(sec)) {
		return 0, u.d.Corrupt("location list index %d is out of range", i)
	}
	r := &dwread.Reader{Bytes: sec, Off: int(base + i*size)}
	off := base + r.Offset(u.Dwarf64)
	if r.Err != nil || off > uint64(len(sec)) {
		return 0, u.d.Corrupt("location list index %d is out of range", i)
	}
	return off, nil
}

// Addrx is an address of .debug_addr by index (DWARF 5, 7.27).
func (u *Unit) Addrx(i uint64) (addr uint64, err error) {
	defer foreign.Guard(&err)()
	sec, err := u.d.section(".debug_addr")
	if err != nil {
		return 0, err
	}
	base := uint64(8)
	if u.split != nil { // its entry may have indexed addresses itself
		base = u.split.addrs
	} else if _, err := u.Entry(); err != nil {
		return 0, err
	} else if u.bases.hasAddr {
		base = u.bases.addr
	}
	if i >= uint64(len(sec))/8 || base > uint64(len(sec)) {
		return 0, u.d.Corrupt("address index %d is out of range", i)
	}
	r := &dwread.Reader{Bytes: sec, Off: int(base + i*8)}
	addr = r.U64()
	if r.Err != nil {
		return 0, u.d.Corrupt("address index %d is out of range", i)
	}
	return addr, nil
}

// locList5 reads the list at off of .debug_loclists (DWARF 5, 2.6.2 and 7.7.3).
func (u *Unit) locList5(off uint64, views int64) ([]dwexpr.LocRange, error) {
	sec, err := u.d.section(".debug_loclists")
	if err != nil {
		return nil, err
	}
	if off >= uint64(len(sec)) {
		return nil, u.d.Corrupt("location list at %#x is outside of its section", off)
	}
	if _, err := u.Entry(); err != nil {
		return nil, err
	}
	list, err := dwexpr.ReadList5(&dwread.Reader{Bytes: sec, Off: int(off)}, dwexpr.Views(sec, views), u.AddrSize,
		u.bases.low, u.Addrx)
	if err != nil {
		return nil, u.d.Corrupt("location list at %#x: %v", off, err)
	}
	return list, nil
}

// locList4 reads the list at off of .debug_loc (DWARF 4, 2.6.2).
func (u *Unit) locList4(off uint64, views int64) ([]dwexpr.LocRange, error) {
	sec, err := u.d.section(".debug_loc")
	if err != nil {
		return nil, err
	}
	if off >= uint64(len(sec)) {
		return nil, u.d.Corrupt("location list at %#x is outside of its section", off)
	}
	if _, err := u.Entry(); err != nil {
		return nil, err
	}
	var list []dwexpr.LocRange
	if r := (&dwread.Reader{Bytes: sec, Off: int(off)}); u.split != nil {
		list, err = dwexpr.ReadListSplit4(r, dwexpr.Views(sec, views), u.Addrx)
	} else {
		list, err = dwexpr.ReadList4(r, dwexpr.Views(sec, views), u.AddrSize, u.bases.low)
	}
	if err != nil {
		return nil, u.d.Corrupt("location list at %#x: %v", off, err)
	}
	return list, nil
}
