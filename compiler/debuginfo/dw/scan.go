package dw

import (
	"bytes"
	"debug/dwarf"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
)

// scanner walks the entries of a unit without allocating: it is for questions about
// all of them (which functions, which names), where debug/dwarf's reader builds every
// entry. Only the attributes that have a slot are kept, and only until the next entry.
type scanner struct {
	u     *Unit
	r     dwread.Reader
	tab   *abbrevTable
	depth int // of the current entry; the unit's own is 0
	level int // of the next entry

	off dwarf.Offset
	a   *abbrev
	val [nSlots]rawValue
	set uint32 // bit i: val[i] holds a value
}

// rawValue is an attribute that has not been interpreted: a number, or where its bytes are.
type rawValue struct {
	form uint16
	n    uint64
}

func (u *Unit) scan() (*scanner, error) {
	info, err := u.d.section(".debug_info")
	if err != nil {
		return nil, err
	}
	tab, err := u.abbrevs()
	if err != nil {
		return nil, err
	}
	end := min(int(u.End), len(info))
	return &scanner{u: u, r: dwread.Reader{Bytes: info[:end], Off: int(u.Die)}, tab: tab}, nil
}

// next moves to the next entry. It is false at the end and on an error (see err).
func (s *scanner) next() bool {
	for {
		if s.r.Err != nil || s.r.Empty() {
			return false
		}
		s.off = dwarf.Offset(s.r.Off) | s.u.d.bit
		code := s.r.Uleb()
		if code == 0 {
			if s.level--; s.level <= 0 {
				return false
			}
			continue
		}
		if s.a = s.tab.get(code); s.a == nil {
			if s.r.Err == nil {
				s.r.Err = fmt.Errorf("unknown abbreviation %d", code)
			}
			return false
		}
		break
	}
	s.depth = s.level
	s.set = 0
	if s.a.fixed >= 0 && !s.a.wanted {
		s.r.Skip(s.a.fixed)
	} else {
		for i := range s.a.fields {
			f := &s.a.fields[i]
			n := s.value(f.form, f.implicit)
			if f.slot != noSlot {
				s.val[f.slot] = n
				s.set |= 1 << f.slot
			}
		}
	}
	if s.a.children {
		if s.level++; s.level > maxDepth {
			s.r.Err = fmt.Errorf("entries are nested more than %d deep", maxDepth)
		}
	}
	return s.r.Err == nil
}

// skipChildren moves behind what is below the current entry.
func (s *scanner) skipChildren() {
	if !s.a.children {
		return
	}
	if s.has(slotSibling) {
		if off, ok := s.ref(slotSibling); ok && int(off&^s.u.d.bit) > s.r.Off && int(off&^s.u.d.bit) <= len(s.r.Bytes) {
			s.r.Off = int(off &^ s.u.d.bit)
			s.level--
			return
		}
	}
	want := s.level - 1
	for s.level > want && s.r.Err == nil && !s.r.Empty() {
		code := s.r.Uleb()
		if code == 0 {
			s.level--
			continue
		}
		a := s.tab.get(code)
		if a == nil {
			s.r.Err = fmt.Errorf("unknown abbreviation %d", code)
			return
		}
		if a.fixed >= 0 {
			s.r.Skip(a.fixed)
		} else {
			for i := range a.fields {
				s.value(a.fields[i].form, 0)
			}
		}
		if a.children {
			s.level++
		}
	}
}

// value reads or skips an attribute.
func (s *scanner) value(form uint16, implicit int64) rawValue {
	r := &s.r
	v := rawValue{form: form}
	for n := 0; form == dwread.FormIndirect; n++ {
		form = uint16(r.Uleb())
		v.form = form
		if n > 2 {
			r.Err = fmt.Errorf("indirect form of an indirect form")
			return v
		}
	}
	switch form {
	case dwread.FormImplicitConst:
		v.n = uint64(implicit)
	case dwread.FormFlagPresent:
		v.n = 1
	case dwread.FormString:
		v.n = uint64(r.Off)
		i := bytes.IndexByte(r.Bytes[min(r.Off, len(r.Bytes)):], 0)
		if i < 0 {
			r.Skip(len(r.Bytes) + 1)
		} else {
			r.Skip(i + 1)
		}
	case dwread.FormSdata:
		v.n = uint64(r.Sleb())
	case dwread.FormUdata, dwread.FormRefUdata, dwread.FormStrx, dwread.FormAddrx, dwread.FormLoclistx,
		dwread.FormRnglistx, dwread.FormGNUAddrIndex, dwread.FormGNUStrIndex:
		v.n = r.Uleb()
	case dwread.FormBlock, dwread.FormExprloc:
		r.Block(r.Uleb())
	case dwread.FormBlock1:
		r.Block(uint64(r.U8()))
	case dwread.FormBlock2:
		r.Block(uint64(r.U16()))
	case dwread.FormBlock4:
		r.Block(uint64(r.U32()))
	default:
		switch n := dwread.FixedSize(form, s.u.AddrSize, s.u.Dwarf64, s.u.Version); n {
		case 1, 2, 4, 8:
			v.n = r.Uint(n)
		case 3:
			if b := r.Take(3); b != nil {
				v.n = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
			}
		case 16:
			r.Skip(16)
		default:
			if r.Err == nil {
				r.Err = fmt.Errorf("unknown form %#x", form)
			}
		}
	}
	return v
}

func (s *scanner) has(k slot) bool { return s.set&(1<<k) != 0 }

func (s *scanner) flag(k slot) bool { return s.has(k) && s.val[k].n != 0 }

// ref is a reference within the file.
func (s *scanner) ref(k slot) (dwarf.Offset, bool) {
	if !s.has(k) {
		return 0, false
	}
	switch v := s.val[k]; v.form {
	case dwread.FormRef1, dwread.FormRef2, dwread.FormRef4, dwread.FormRef8, dwread.FormRefUdata:
		return s.u.Off + dwarf.Offset(v.n) | s.u.d.bit, true
	case dwread.FormRefAddr:
		return dwarf.Offset(v.n) | s.u.d.bit, true
	case dwread.FormGNURefAlt:
		return dwarf.Offset(v.n) | altBit, v.n < uint64(altBit)
	}
	return 0, false
}

// addr is an address.
func (s *scanner) addr(k slot) (uint64, bool) {
	if !s.has(k) {
		return 0, false
	}
	switch v := s.val[k]; v.form {
	case dwread.FormAddr:
		return v.n, true
	case dwread.FormAddrx, dwread.FormAddrx1, dwread.FormAddrx2, dwread.FormAddrx3, dwread.FormAddrx4,
		dwread.FormGNUAddrIndex, dwread.FormLoclistx:
		a, err := s.u.Addrx(v.n)
		return a, err == nil
	}
	return 0, false
}

// high is the end of the code that begins at low (DW_AT_high_pc: an address or a size).
func (s *scanner) high(low uint64) (uint64, bool) {
	if a, ok := s.addr(slotHigh); ok {
		return a, true
	}
	if !s.has(slotHigh) {
		return 0, false
	}
	return low + s.val[slotHigh].n, true
}

// str is a string; the bytes are the section's.
func (s *scanner) str(k slot) []byte {
	if !s.has(k) {
		return nil
	}
	v := s.val[k]
	sec := ".debug_str"
	switch v.form {
	case dwread.FormString:
		return dwread.Name(s.r.Bytes, v.n)
	case dwread.FormStrp:
	case dwread.FormGNUStrpAlt:
		return s.u.d.altString(v.n)
	case dwread.FormLineStrp:
		sec = ".debug_line_str"
	case dwread.FormStrx, dwread.FormStrx1, dwread.FormStrx2, dwread.FormStrx3, dwread.FormStrx4,
		dwread.FormGNUStrIndex, dwread.FormLoclistx:
		off, ok := s.u.strx(v.n)
		if !ok {
			return nil
		}
		v.n = off
	default:
		return nil
	}
	b, err := s.u.d.optional(sec)
	if err != nil {
		return nil
	}
	return dwread.Name(b, v.n)
}

// strx is the offset in .debug_str of an indexed string (DWARF 5, 7.26).
func (u *Unit) strx(i uint64) (uint64, bool) {
	sec, err := u.d.optional(".debug_str_offsets")
	if err != nil {
		return 0, false
	}
	var e *dwarf.Entry
	if u.split == nil { // its entry has indexed strings itself
		if e, err = u.Entry(); err != nil {
			return 0, false
		}
	}
	base, size := uint64(8), uint64(4)
	if u.Dwarf64 {
		base, size = 16, 8
	}
	if u.Version < 5 {
		base = 0
	}
	if u.split != nil {
		base = u.split.strs
	} else if v, ok := e.Val(dwarf.AttrStrOffsetsBase).(int64); ok {
		base = uint64(v)
	}
	if i >= uint64(len(sec))/size || base > uint64(len(sec)) {
		return 0, false
	}
	r := &dwread.Reader{Bytes: sec, Off: int(base + i*size)}
	off := r.Offset(u.Dwarf64)
	return off, r.Err == nil
}

func (s *scanner) failed() error {
	if s.r.Err == nil {
		return nil
	}
	return s.u.d.Corrupt("entry at %#x: %v", s.off, s.r.Err)
}
