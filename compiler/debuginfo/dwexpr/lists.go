package dwexpr

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
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

const maxLocRanges = 1 << 16

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

// Views reads the pairs at off of sec; off -1 means that there are none.
func Views(sec []byte, off int64) *dwread.Reader {
	if off < 0 || off >= int64(len(sec)) {
		return nil
	}
	return &dwread.Reader{Bytes: sec, Off: int(off)}
}

// addRange appends e to list, with the next pair of views if there are any.
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

// ReadList5 reads one list, and views at the same time if that is not nil. base is the unit's low pc, addrx looks
// indexed addresses up.
func ReadList5(r, views *dwread.Reader, addrSize int, base uint64, addrx func(uint64) (uint64, error)) ([]LocRange,
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

// ReadList4 is readLocList5 for lists of DWARF 4 and before, without indexed addresses.
func ReadList4(r, views *dwread.Reader, addrSize int, base uint64) ([]LocRange, error) {
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

// ReadListSplit4 reads a list of .debug_loc.dwo: the GNU extension of DWARF 4 has kinds as DWARF 5 has, with
// lengths of fixed size.
func ReadListSplit4(r, views *dwread.Reader, addrx func(uint64) (uint64, error)) ([]LocRange, error) {
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
