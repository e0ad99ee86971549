package dw

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"path"
	"slices"
	"sort"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// Unit types (DWARF 5, 7.5.1, table 7.2).
const (
	utCompile = 1 + iota
	utType
	utPartial
	utSkeleton
	utSplitCompile
	utSplitType
)

// Unit is one unit of .debug_info. Its header is read by Units, the rest when asked for.
type Unit struct {
	Off, Die, End dwarf.Offset // of the header, of the first entry, behind the last
	Version       int
	AddrSize      int
	Dwarf64       bool

	typeUnit bool
	skeleton bool         // the header says so; see mayBeSkeleton
	split    *split       // of a .dwo file
	sig      uint64       // of a type unit, or the number of a skeleton
	sigType  dwarf.Offset // the type with this signature

	d       *Data
	loaded  bool
	err     error
	entry   *dwarf.Entry
	ranges  [][2]uint64
	bases   bases
	funcs   funcIndex
	trees   map[dwarf.Offset]*godwarf.Tree // some that were asked for
	files   []string                       // by line-table index
	filesOK bool
	rows    []Row
	seqs    []sequence // of rows, see RowAt
	rowsErr error
	rowsOK  bool
	around  struct { // see Around
		read bool
		list []surround
		err  error
	}
}

// bases are the section offsets that indexed forms of a unit count from.
type bases struct {
	low                uint64 // DW_AT_low_pc: base of location and range lists
	addr, loclists     uint64
	hasAddr, hasLoclst bool
}

// Entry is the unit's own entry.
func (u *Unit) Entry() (*dwarf.Entry, error) {
	if !u.loaded {
		u.loaded = true
		u.err = u.load()
	}
	return u.entry, u.err
}

func (u *Unit) load() (err error) {
	defer foreign.Guard(&err)()
	r, err := u.d.reader(u.Die | u.d.bit)
	if err != nil {
		return err
	}
	e, err := r.Next()
	if err != nil {
		return u.d.Corrupt("unit at %#x: %v", u.Off, err)
	}
	if e == nil {
		return u.d.Corrupt("unit at %#x is empty", u.Off)
	}
	if u.split != nil {
		u.complete(e)
	}
	u.entry = e
	u.bases.low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	if v, ok := e.Val(dwarf.AttrAddrBase).(int64); ok {
		u.bases.addr, u.bases.hasAddr = uint64(v), true
	} else if v, ok := e.Val(attrGNUAddrBase).(int64); ok {
		u.bases.addr, u.bases.hasAddr = uint64(v), true
	}
	if v, ok := e.Val(dwarf.AttrLoclistsBase).(int64); ok {
		u.bases.loclists, u.bases.hasLoclst = uint64(v), true
	}
	if u.split != nil {
		if u.split.skel != nil {
			u.ranges, err = u.split.skel.Ranges()
		}
		return err
	}
	u.ranges, err = u.rangesOf(e)
	return err
}

func (u *Unit) str(a dwarf.Attr) string {
	e, err := u.Entry()
	if err != nil {
		return ""
	}
	s, _ := e.Val(a).(string)
	return s
}

// Name is the source file (C) or the import path (Go).
func (u *Unit) Name() string { return u.str(dwarf.AttrName) }

// Path is the source file with its directory, cleaned; for Go the import path.
func (u *Unit) Path() string {
	n := u.Name()
	if n == "" || path.IsAbs(n) || u.CompDir() == "" || u.Lang() == LangGo {
		return path.Clean(n)
	}
	return path.Join(u.CompDir(), n)
}

// CompDir is the directory of the compilation.
func (u *Unit) CompDir() string { return u.str(dwarf.AttrCompDir) }

// Producer is the compiler with its flags.
func (u *Unit) Producer() string { return u.str(dwarf.AttrProducer) }

const (
	attrDwoName    = dwarf.Attr(0x76)
	attrGNUDwoName = dwarf.Attr(0x2130)
)

// Lang is the DW_LANG code: LangGo, LangC11, ...
func (u *Unit) Lang() int64 {
	e, err := u.Entry()
	if err != nil {
		return 0
	}
	l, _ := e.Val(dwarf.AttrLanguage).(int64)
	return l
}

// Some DW_LANG codes (DWARF 5, table 7.17).
const (
	LangC89  = 0x01
	LangC    = 0x02
	LangCpp  = 0x04
	LangC99  = 0x0c
	LangGo   = 0x16
	LangRust = 0x1c
	LangC11  = 0x1d
	LangC17  = 0x2c
	LangC23  = 0x3e
	LangAsm  = 0x8001

	LangCpp03 = 0x19
	LangCpp11 = 0x1a
	LangCpp14 = 0x21
	LangCpp17 = 0x2a
	LangCpp20 = 0x2b
	LangCpp23 = 0x3a
)

// Ranges are the address ranges of the unit's code.
func (u *Unit) Ranges() ([][2]uint64, error) {
	_, err := u.Entry()
	return u.ranges, err
}

// Data is the DWARF that u is part of.
func (u *Unit) Data() *Data { return u.d }

func (d *Data) Corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", d.src.Path(), foreign.ErrCorrupt, fmt.Sprintf(format, args...))
}

// Units lists the units in file order, by their headers only. Type units are among them.
func (d *Data) Units() ([]*Unit, error) {
	if !d.unitsOK {
		d.unitsOK = true
		d.units, d.unitsErr = d.scanUnits()
	}
	return d.units, d.unitsErr
}

// scanUnits reads the unit headers (DWARF 5, 7.5.1; DWARF 4, 7.5.1).
func (d *Data) scanUnits() (units []*Unit, err error) {
	defer foreign.Guard(&err)()
	info, err := d.section(".debug_info")
	if err != nil {
		return nil, err
	}
	b := &dwread.Reader{Bytes: info}
	for b.Off < len(info) {
		u := &Unit{d: d, Off: dwarf.Offset(b.Off)}
		n, dwarf64 := b.UnitLength()
		u.Dwarf64 = dwarf64
		end := b.Off + int(min(n, uint64(len(info)-min(b.Off, len(info)))))
		u.End = dwarf.Offset(end)
		if n == 0 {
			continue
		}
		u.Version = int(b.U16())
		if u.Version < 2 || u.Version > 5 {
			return nil, d.Corrupt("unit at %#x has DWARF version %d", u.Off, u.Version)
		}
		ut := uint8(utCompile)
		if u.Version >= 5 {
			ut = b.U8()
			u.AddrSize = int(b.U8())
			b.Offset(dwarf64)
		} else {
			b.Offset(dwarf64)
			u.AddrSize = int(b.U8())
		}
		switch ut {
		case utSkeleton, utSplitCompile:
			u.skeleton = ut == utSkeleton
			u.sig = b.U64()
		case utType, utSplitType:
			u.typeUnit = true
			u.sig = b.U64()
			u.sigType = u.Off + dwarf.Offset(b.Offset(dwarf64))
		}
		if b.Err != nil {
			return nil, d.Corrupt("unit header at %#x is cut short", u.Off)
		}
		u.Die = dwarf.Offset(b.Off)
		if units = append(units, u); len(units) > maxUnits {
			return nil, d.Corrupt("more than %d units", maxUnits)
		}
		b.Off = end
	}
	if d.joined != nil {
		units = d.joined.known(units)
	}
	return units, nil
}

// UnitOf finds the unit that an entry is in.
func (d *Data) UnitOf(off dwarf.Offset) (*Unit, error) {
	if off&altBit != 0 && d.linked {
		if a := d.alt(); a != nil {
			return a.UnitOf(off)
		}
		return nil, d.NoAlt()
	}
	off &^= d.bit
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	i := sort.Search(len(units), func(i int) bool { return units[i].End > off })
	if i == len(units) || off < units[i].Die {
		return nil, d.Corrupt("no unit at %#x", off)
	}
	return units[i], nil
}

// TypeUnit finds the type with a signature.
func (d *Data) TypeUnit(sig uint64) (off dwarf.Offset, ok bool, err error) {
	units, err := d.Units()
	if err != nil {
		return 0, false, err
	}
	for _, u := range units {
		if u.typeUnit && u.sig == sig {
			return u.sigType, true, nil
		}
	}
	return 0, false, nil
}

// unitHeaderAt is the unit whose header is at off, nil if none.
func (d *Data) unitHeaderAt(off dwarf.Offset) *Unit {
	units, _ := d.Units()
	if d.joined != nil {
		if to, ok := d.joined.replaced[off]; ok {
			off = to
		}
	}
	i := sort.Search(len(units), func(i int) bool { return units[i].Off >= off })
	if i < len(units) && units[i].Off == off {
		return units[i]
	}
	return nil
}

// pcIndex finds units by pc. Units enter it when a lookup gets to them, so that one lookup
// seldom reads all of them.
type pcIndex struct {
	started bool
	spans   []span
	sorted  bool
	rest    []*Unit // not yet in spans
}

type span struct {
	lo, hi uint64
	u      *Unit
}

// UnitAt finds the unit whose code covers pc; nil without an error if there is none.
func (d *Data) UnitAt(pc uint64) (u *Unit, err error) {
	defer foreign.Guard(&err)()
	x := &d.pcs
	if !x.started {
		units, err := d.Units()
		if err != nil {
			return nil, err
		}
		x.started = true
		listed := d.readAranges(x)
		for _, u := range units {
			if !listed[u.Off] && !u.typeUnit {
				x.rest = append(x.rest, u)
			}
		}
	}
	if u := x.find(pc); u != nil {
		return u, nil
	}
	var firstErr error
	for len(x.rest) > 0 {
		u := x.rest[0]
		x.rest, x.sorted = x.rest[1:], false
		ranges, err := u.Ranges()
		if err != nil && firstErr == nil {
			firstErr = err
		}
		hit := false
		for _, r := range ranges {
			if r[0] < r[1] {
				x.spans = append(x.spans, span{r[0], r[1], u})
				hit = hit || r[0] <= pc && pc < r[1]
			}
		}
		if hit {
			return u, nil
		}
	}
	return nil, firstErr
}

func (x *pcIndex) find(pc uint64) *Unit {
	if !x.sorted && len(x.rest) > 0 {
		for _, s := range x.spans {
			if s.lo <= pc && pc < s.hi {
				return s.u
			}
		}
		return nil
	}
	if !x.sorted {
		slices.SortFunc(x.spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
		x.sorted = true
	}
	// Spans do not overlap in sound files; look a few back for those that do.
	i := sort.Search(len(x.spans), func(i int) bool { return x.spans[i].lo > pc })
	for j := i - 1; j >= 0 && j >= i-8; j-- {
		if pc < x.spans[j].hi {
			return x.spans[j].u
		}
	}
	return nil
}

// readAranges puts .debug_aranges (DWARF 5, 6.1.2) into x and says which units it lists. It is an
// index that may be absent or partial; a damaged one is not used.
func (d *Data) readAranges(x *pcIndex) map[dwarf.Offset]bool {
	sec, err := d.src.Optional(".debug_aranges")
	if err != nil || len(sec) == 0 {
		return nil
	}
	listed := map[dwarf.Offset]bool{}
	var spans []span
	b := &dwread.Reader{Bytes: sec}
	for b.Off < len(sec) {
		start := b.Off
		n, dwarf64 := b.UnitLength()
		end := b.Off + int(min(n, uint64(len(sec))))
		if end > len(sec) || n == 0 {
			return nil
		}
		version := b.U16()
		off := dwarf.Offset(b.Offset(dwarf64))
		addrSize, segSize := b.U8(), b.U8()
		if version != 2 || addrSize != 8 || segSize != 0 {
			b.Off = end
			continue
		}
		if pad := (b.Off - start) % 16; pad != 0 {
			b.Skip(16 - pad)
		}
		u := d.unitHeaderAt(off)
		if b.Err != nil || u == nil {
			return nil
		}
		any := false
		for b.Off+16 <= end {
			lo, size := b.U64(), b.U64()
			if lo == 0 && size == 0 {
				break
			}
			if size != 0 && lo+size > lo && lo != 0 {
				spans = append(spans, span{lo, lo + size, u})
				any = true
			}
		}
		if any {
			listed[off] = true
		}
		b.Off = end
	}
	x.spans = spans
	x.sorted = false
	if len(spans) > 0 {
		slices.SortFunc(x.spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
		x.sorted = true
	}
	return listed
}
