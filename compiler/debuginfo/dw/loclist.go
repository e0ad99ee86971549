package dw

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// LocRange is one entry of a location list: Expr holds for pcs in [Lo, Hi). A default entry
// holds where no other does and has the range [0, ^0).
type LocRange struct {
	Lo, Hi  uint64
	Expr    []byte
	Default bool
	// Views: the range begins with the row ViewLo of address Lo and ends before the row ViewHi of
	// address Hi (gcc's DW_AT_GNU_locviews). It may hold no whole instruction then (Lo == Hi).
	Views          bool
	ViewLo, ViewHi uint64
}

// LastView is the state right before the instruction at a pc, behind all statements without
// instructions of their own. It is what lists without views describe.
const LastView = -1

// FirstView is the earliest state at a pc that a list describes: that in which a function is entered.
const FirstView = -2

// Kinds of location list entries (DWARF 5, 7.7.3, table 7.10).
const (
	lleEnd = iota
	lleBaseAddressx
	lleStartxEndx
	lleStartxLength
	lleOffsetPair
	lleDefaultLocation
	lleBaseAddress
	lleStartEnd
	lleStartLength
	lleViewPair = 9 // GNU extension: location view numbers
)

// loclistsHead is the size of the header of a table of location or range lists (DWARF 5, 7.28 and 7.29).
const loclistsHead = 12

const maxLocRanges = 1 << 16

// attrLocviews is gcc's DW_AT_GNU_locviews: the offset of a pair of view numbers for each entry of
// the location list.
const attrLocviews = dwarf.Attr(0x2137)

// Locations gives all ranges in which the attribute attr (DW_AT_location, DW_AT_frame_base) of
// t says something, in list order. An attribute with one expression yields one range that is
// everywhere. Expressions of length 0 ("no location here") are left out.
// The error is ErrNoLocation if t has no such attribute.
func (u *Unit) Locations(t godwarf.Entry, attr dwarf.Attr) (list []LocRange, err error) {
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
		return []LocRange{{Lo: 0, Hi: ^uint64(0), Expr: v, Default: true}}, nil
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
	return nil, u.d.corrupt("location of class %v", f.Class)
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

// At gives the expression that holds at pc, nil if none does.
func At(list []LocRange, pc uint64) []byte { return AtView(list, pc, LastView) }

// AtView gives the expression that holds at a row of pc (Row.View), nil if none does.
func AtView(list []LocRange, pc uint64, view int) []byte {
	var def []byte
	for _, r := range list {
		switch {
		case r.Default:
			if def == nil {
				def = r.Expr
			}
		case r.Views && view == FirstView:
			// Entries are in order.
			if r.Lo <= pc && (pc < r.Hi || pc == r.Hi && r.ViewHi > 0) {
				return r.Expr
			}
		case !r.Views || view < 0:
			if r.Lo <= pc && pc < r.Hi {
				return r.Expr
			}
		case (r.Lo < pc || r.Lo == pc && r.ViewLo <= uint64(view)) &&
			(pc < r.Hi || pc == r.Hi && uint64(view) < r.ViewHi):
			return r.Expr
		}
	}
	return def
}

// viewReader reads the pairs at off of sec; off -1 means that there are none.
func viewReader(sec []byte, off int64) *dwread.Reader {
	if off < 0 || off >= int64(len(sec)) {
		return nil
	}
	return &dwread.Reader{Bytes: sec, Off: int(off)}
}

// add appends e to list, with the next pair of views if there are any.
func addRange(list []LocRange, e LocRange, views *dwread.Reader) []LocRange {
	if views != nil && !e.Default {
		lo, hi := views.Uleb(), views.Uleb()
		if views.Err == nil {
			e.Views, e.ViewLo, e.ViewHi = true, lo, hi
		}
	}
	if len(e.Expr) > 0 && (e.Lo < e.Hi || e.Views && e.Lo == e.Hi && e.ViewLo < e.ViewHi) {
		list = append(list, e)
	}
	return list
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
		return 0, u.d.corrupt("location list index %d is out of range", i)
	}
	r := &dwread.Reader{Bytes: sec, Off: int(base + i*size)}
	off := base + r.Offset(u.Dwarf64)
	if r.Err != nil || off > uint64(len(sec)) {
		return 0, u.d.corrupt("location list index %d is out of range", i)
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
		return 0, u.d.corrupt("address index %d is out of range", i)
	}
	r := &dwread.Reader{Bytes: sec, Off: int(base + i*8)}
	addr = r.U64()
	if r.Err != nil {
		return 0, u.d.corrupt("address index %d is out of range", i)
	}
	return addr, nil
}

// locList5 reads the list at off of .debug_loclists (DWARF 5, 2.6.2 and 7.7.3).
func (u *Unit) locList5(off uint64, views int64) ([]LocRange, error) {
	sec, err := u.d.section(".debug_loclists")
	if err != nil {
		return nil, err
	}
	if off >= uint64(len(sec)) {
		return nil, u.d.corrupt("location list at %#x is outside of its section", off)
	}
	if _, err := u.Entry(); err != nil {
		return nil, err
	}
	list, err := readLocList5(&dwread.Reader{Bytes: sec, Off: int(off)}, viewReader(sec, views), u.AddrSize,
		u.bases.low, u.Addrx)
	if err != nil {
		return nil, u.d.corrupt("location list at %#x: %v", off, err)
	}
	return list, nil
}

// readLocList5 reads one list, and views at the same time if that is not nil. base is the unit's low pc, addrx looks
// indexed addresses up.
func readLocList5(r, views *dwread.Reader, addrSize int, base uint64, addrx func(uint64) (uint64, error)) ([]LocRange,
	error) {
	var list []LocRange
	var pair *dwread.Reader
	indexed := func() uint64 {
		a, err := addrx(r.Uleb())
		if err != nil && r.Err == nil {
			r.Err = err
		}
		return a
	}
	for {
		kind := r.U8()
		var e LocRange
		switch kind {
		case lleEnd:
			return list, r.Err
		case lleBaseAddressx:
			base = indexed()
			continue
		case lleBaseAddress:
			base = r.Uint(addrSize)
			continue
		case lleViewPair: // of the next entry only
			pair = &dwread.Reader{Bytes: r.Bytes, Off: r.Off}
			r.Uleb()
			r.Uleb()
			continue
		case lleStartxEndx:
			e.Lo, e.Hi = indexed(), indexed()
		case lleStartxLength:
			e.Lo = indexed()
			e.Hi = e.Lo + r.Uleb()
		case lleOffsetPair:
			e.Lo, e.Hi = base+r.Uleb(), base+r.Uleb()
		case lleDefaultLocation:
			e.Lo, e.Hi, e.Default = 0, ^uint64(0), true
		case lleStartEnd:
			e.Lo, e.Hi = r.Uint(addrSize), r.Uint(addrSize)
		case lleStartLength:
			e.Lo = r.Uint(addrSize)
			e.Hi = e.Lo + r.Uleb()
		default:
			return nil, fmt.Errorf("unknown kind %d of entry", kind)
		}
		e.Expr = r.Block(r.Uleb())
		if r.Err != nil {
			return nil, r.Err
		}
		if pair == nil {
			pair = views
		}
		list, pair = addRange(list, e, pair), nil
		if len(list) > maxLocRanges {
			return nil, errors.New("too many entries")
		}
	}
}

// locList4 reads the list at off of .debug_loc (DWARF 4, 2.6.2).
func (u *Unit) locList4(off uint64, views int64) ([]LocRange, error) {
	sec, err := u.d.section(".debug_loc")
	if err != nil {
		return nil, err
	}
	if off >= uint64(len(sec)) {
		return nil, u.d.corrupt("location list at %#x is outside of its section", off)
	}
	if _, err := u.Entry(); err != nil {
		return nil, err
	}
	var list []LocRange
	if r := (&dwread.Reader{Bytes: sec, Off: int(off)}); u.split != nil {
		list, err = readLocListSplit4(r, viewReader(sec, views), u.Addrx)
	} else {
		list, err = readLocList4(r, viewReader(sec, views), u.AddrSize, u.bases.low)
	}
	if err != nil {
		return nil, u.d.corrupt("location list at %#x: %v", off, err)
	}
	return list, nil
}

func readLocList4(r, views *dwread.Reader, addrSize int, base uint64) ([]LocRange, error) {
	var list []LocRange
	top := ^uint64(0)
	if addrSize == 4 {
		top = 1<<32 - 1
	}
	for {
		lo, hi := r.Uint(addrSize), r.Uint(addrSize)
		switch {
		case r.Err != nil:
			return nil, r.Err
		case lo == 0 && hi == 0:
			return list, nil
		case lo == top:
			base = hi
			continue
		}
		expr := r.Block(uint64(r.U16()))
		if r.Err != nil {
			return nil, r.Err
		}
		if list = addRange(list, LocRange{Lo: base + lo, Hi: base + hi, Expr: expr}, views); len(list) > maxLocRanges {
			return nil, errors.New("too many entries")
		}
	}
}

// readLocListSplit4 reads a list of .debug_loc.dwo: the GNU extension of DWARF 4 has kinds as DWARF 5 has, with
// lengths of fixed size.
func readLocListSplit4(r, views *dwread.Reader, addrx func(uint64) (uint64, error)) ([]LocRange, error) {
	var list []LocRange
	indexed := func() uint64 {
		a, err := addrx(r.Uleb())
		if err != nil && r.Err == nil {
			r.Err = err
		}
		return a
	}
	base, based := uint64(0), false
	for {
		var e LocRange
		switch kind := r.U8(); kind {
		case lleEnd:
			return list, r.Err
		case lleBaseAddressx:
			base, based = indexed(), true
			continue
		case lleStartxEndx:
			e.Lo, e.Hi = indexed(), indexed()
		case lleStartxLength:
			e.Lo = indexed()
			e.Hi = e.Lo + uint64(r.U32())
		case lleOffsetPair:
			if !based {
				return nil, errors.New("an offset without a base")
			}
			e.Lo, e.Hi = base+uint64(r.U32()), base+uint64(r.U32())
		default:
			return nil, fmt.Errorf("unknown kind %d of entry", kind)
		}
		e.Expr = r.Block(uint64(r.U16()))
		if r.Err != nil {
			return nil, r.Err
		}
		if list = addRange(list, e, views); len(list) > maxLocRanges {
			return nil, errors.New("too many entries")
		}
	}
}
