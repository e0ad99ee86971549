package dw

import (
	"debug/dwarf"
	"errors"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
)

// maxRanges bounds one list; the largest real ones are those of units with all functions in sections of their own,
// some 100,000.
const maxRanges = 1 << 20

// Kinds of range list entries (DWARF 5, 7.25, table 7.30).
const (
	rleEnd = iota
	rleBaseAddressx
	rleStartxEndx
	rleStartxLength
	rleOffsetPair
	rleBaseAddress
	rleStartEnd
	rleStartLength
)

// rangesOf gives the address ranges of an entry of u in the order of the file, none for entries without code.
// (debug/dwarf's reads the unit's entry anew for each, and takes lists of any length.)
func (u *Unit) rangesOf(e *dwarf.Entry) ([][2]uint64, error) {
	var out [][2]uint64
	if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		if f := e.AttrField(dwarf.AttrHighpc); f != nil {
			switch high := f.Val.(type) {
			case uint64:
				if f.Class == dwarf.ClassAddress {
					out = append(out, [2]uint64{low, high})
				}
			case int64:
				out = append(out, [2]uint64{low, low + uint64(high)})
			}
		}
	}
	var off uint64
	switch f := e.AttrField(dwarf.AttrRanges); {
	case f == nil:
		return out, nil
	case f.Class == dwarf.ClassRngList:
		v, ok := f.Val.(uint64)
		if !ok {
			return out, nil
		}
		off = v
	default:
		v, ok := f.Val.(int64)
		if !ok {
			return out, nil
		}
		off = uint64(v)
		if u.split != nil {
			off += u.split.ranges
		}
	}
	own := e
	if e.Offset != u.Die|u.d.bit {
		var err error
		if own, err = u.Entry(); err != nil {
			return nil, err
		}
	}
	base := u.bases.low
	if own != nil {
		if pc, ok := own.Val(dwarf.AttrEntrypc).(uint64); ok { // what some versions of gcc mean
			base = pc
		}
	}
	name, read := ".debug_ranges", u.rangeList4
	if u.Version >= 5 {
		name, read = ".debug_rnglists", u.rangeList5
	}
	sec, err := u.d.optional(name)
	if err != nil || sec == nil {
		return out, err
	}
	if off > uint64(len(sec)) {
		return nil, u.d.Corrupt("address ranges of entry %#x are outside of %s", e.Offset, name)
	}
	out, err = read(&dwread.Reader{Bytes: sec, Off: int(off)}, base, out)
	if err != nil {
		return nil, u.d.Corrupt("address ranges of entry %#x: %v", e.Offset, err)
	}
	return out, nil
}

var errManyRanges = errors.New("too many of them")

// rangeList4 reads a list of .debug_ranges (DWARF 4, 2.17.3).
func (u *Unit) rangeList4(r *dwread.Reader, base uint64, out [][2]uint64) ([][2]uint64, error) {
	top := ^uint64(0)
	if u.AddrSize == 4 {
		top = 1<<32 - 1
	}
	for !r.Empty() {
		lo, hi := r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		switch {
		case r.Err != nil:
			return nil, r.Err
		case lo == 0 && hi == 0:
			return out, nil
		case lo == top:
			base = hi
		default:
			if out = append(out, [2]uint64{base + lo, base + hi}); len(out) > maxRanges {
				return nil, errManyRanges
			}
		}
	}
	return out, nil
}

// rangeList5 reads a list of .debug_rnglists (DWARF 5, 2.17.3).
func (u *Unit) rangeList5(r *dwread.Reader, base uint64, out [][2]uint64) ([][2]uint64, error) {
	indexed := func() uint64 {
		a, err := u.Addrx(r.Uleb())
		if err != nil && r.Err == nil {
			r.Err = err
		}
		return a
	}
	for {
		var lo, hi uint64
		switch kind := r.U8(); kind {
		case rleEnd:
			return out, r.Err
		case rleBaseAddressx:
			base = indexed()
			continue
		case rleBaseAddress:
			base = r.Uint(u.AddrSize)
			continue
		case rleStartxEndx:
			lo, hi = indexed(), indexed()
		case rleStartxLength:
			lo = indexed()
			hi = lo + r.Uleb()
		case rleOffsetPair:
			lo, hi = base+r.Uleb(), base+r.Uleb()
		case rleStartEnd:
			lo, hi = r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		case rleStartLength:
			lo = r.Uint(u.AddrSize)
			hi = lo + r.Uleb()
		default:
			return nil, errors.New("an entry of an unknown kind")
		}
		if r.Err != nil {
			return nil, r.Err
		}
		if out = append(out, [2]uint64{lo, hi}); len(out) > maxRanges {
			return nil, errManyRanges
		}
	}
}
