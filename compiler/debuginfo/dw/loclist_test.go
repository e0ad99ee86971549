package dw

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/loclist"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// expr is a counted expression with one literal operation.
func lit(n int) []byte { return elftest.Encode(1, uint8(0x30+n)) }

func TestLocList5(t *testing.T) {
	addrs := []uint64{0x1000, 0x2000, 0x3000}
	addrx := func(i uint64) (uint64, error) {
		if i >= uint64(len(addrs)) {
			return 0, fmt.Errorf("index %d", i)
		}
		return addrs[i], nil
	}
	list := elftest.Encode(
		uint8(lleOffsetPair), 0x10, 0x20, lit(1),
		uint8(lleViewPair), 3, 4,
		uint8(lleBaseAddressx), 1,
		uint8(lleOffsetPair), 0x10, 0x20, lit(2),
		uint8(lleOffsetPair), 0x30, 0x30, lit(3), // empty
		uint8(lleOffsetPair), 0x40, 0x50, 0, // without an expression
		uint8(lleStartxEndx), 0, 1, lit(4),
		uint8(lleStartxLength), 2, 0x80, lit(5),
		uint8(lleBaseAddress), uint64(0x50000),
		uint8(lleOffsetPair), 0, 0x10, lit(6),
		uint8(lleStartEnd), uint64(0x60000), uint64(0x60010), lit(7),
		uint8(lleStartLength), uint64(0x70000), 0x20, lit(8),
		uint8(lleDefaultLocation), lit(9),
		uint8(lleEnd))
	got, err := readLocList5(&dwread.Reader{Bytes: list}, nil, 8, 0x400, addrx)
	if err != nil {
		t.Fatal(err)
	}
	type rng struct{ lo, hi, n uint64 }
	var flat []rng
	for _, r := range got {
		flat = append(flat, rng{r.Lo, r.Hi, uint64(r.Expr[0] - 0x30)})
	}
	want := []rng{{0x410, 0x420, 1}, {0x2010, 0x2020, 2}, {0x1000, 0x2000, 4}, {0x3000, 0x3080, 5},
		{0x50000, 0x50010, 6}, {0x60000, 0x60010, 7}, {0x70000, 0x70020, 8}, {0, ^uint64(0), 9}}
	if !slices.Equal(flat, want) {
		t.Errorf("got  %x\nwant %x", flat, want)
	}
	for pc, n := range map[uint64]uint8{0x40f: 9, 0x410: 1, 0x41f: 1, 0x420: 9, 0x1fff: 4, 0x2010: 2, 0x2030: 9,
		0x2040: 9} {
		if e := At(got, pc); e == nil || e[0] != 0x30+n {
			t.Errorf("at %#x: %v, want %d", pc, e, n)
		}
	}
	for n := range list {
		if n == len(list)-1 {
			continue
		}
		if _, err := readLocList5(&dwread.Reader{Bytes: list[:n]}, nil, 8, 0, addrx); err == nil {
			t.Errorf("list cut at %d was taken", n)
		}
	}
	if _, err := readLocList5(&dwread.Reader{Bytes: elftest.Encode(uint8(99))}, nil, 8, 0, addrx); err == nil {
		t.Error("unknown kind was taken")
	}
	if _, err := readLocList5(&dwread.Reader{Bytes: elftest.Encode(uint8(lleBaseAddressx), 7, uint8(0))}, nil, 8, 0,
		addrx); err == nil {
		t.Error("index out of range was taken")
	}
}

func TestLocList4(t *testing.T) {
	list := elftest.Encode(
		uint64(0x10), uint64(0x20), uint16(1), "\x31",
		^uint64(0), uint64(0x7000),
		uint64(0x10), uint64(0x20), uint16(2), "\x32\x9f",
		uint64(0x30), uint64(0x40), uint16(0),
		uint64(0), uint64(0))
	got, err := readLocList4(&dwread.Reader{Bytes: list}, nil, 8, 0x400)
	if err != nil || len(got) != 2 || got[0].Lo != 0x410 || got[1].Lo != 0x7010 || got[1].Hi != 0x7020 ||
		len(got[1].Expr) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := readLocList4(&dwread.Reader{Bytes: list[:30]}, nil, 8, 0); err == nil {
		t.Error("a list without an end was taken")
	}
}

// A unit as clang writes it: DW_FORM_loclistx counts in the table at DW_AT_loclists_base.
func TestLoclistx(t *testing.T) {
	table := elftest.Encode(uint32(2*4), uint32(2*4+3)) // two offsets from the base
	sec := append([]byte("twelve bytes"), table...)
	sec = append(sec, elftest.Encode(uint8(lleEnd), uint8(lleEnd), uint8(lleEnd), uint8(lleOffsetPair), 4, 8, lit(5),
		uint8(lleEnd))...)
	f := new(elffile.File)
	d := &Data{f: f, src: f, joined: &joined{sec: map[string][]byte{".debug_loclists": sec}}}
	u := &Unit{d: d, Version: 5, AddrSize: 8, loaded: true, bases: bases{low: 0x1000, loclists: 12, hasLoclst: true}}
	e := &dwarf.Entry{Field: []dwarf.Field{{Attr: dwarf.AttrLocation, Val: uint64(1), Class: dwarf.ClassLocList}}}
	for _, known := range []bool{true, false} { // without the attribute the first table is meant
		u.bases.hasLoclst = known
		got, err := u.Locations(e, dwarf.AttrLocation)
		if err != nil || len(got) != 1 || got[0].Lo != 0x1004 || got[0].Hi != 0x1008 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	e.Field[0].Val = uint64(1 << 40)
	if _, err := u.Locations(e, dwarf.AttrLocation); err == nil {
		t.Error("index out of range was taken")
	}
}

// All lists of real programs, against Delve's reader.
func TestLocListsDiffer(t *testing.T) {
	for _, path := range []string{elftest.C(t, "-g -O2 -gdwarf-5", "types.c"), elftest.C(t, "-g -O2 -gdwarf-4",
		"code.c"),
		elftest.C(t, "-g -O2 -gdwarf-5", "code.c"), elftest.Go(t, "", "types.go")} {
		d := openDwarf(t, path)
		v5sec, _ := d.src.Optional(".debug_loclists")
		v4sec, _ := d.src.Optional(".debug_loc")
		addrSec, _ := d.src.Optional(".debug_addr")
		addr := godwarf.ParseAddr(addrSec)
		v5, v4 := loclist.NewDwarf5Reader(v5sec), loclist.NewDwarf2Reader(v4sec, 8)
		n := 0
		r := d.d.Reader()
		for n < 3000 {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				break
			}
			off, ok := e.Val(dwarf.AttrLocation).(int64)
			if !ok {
				continue
			}
			u, err := d.UnitOf(e.Offset)
			if err != nil {
				t.Fatal(err)
			}
			list, err := u.Locations(e, dwarf.AttrLocation)
			if err != nil {
				t.Fatal(err)
			}
			n++
			for _, l := range list {
				for _, pc := range []uint64{l.Lo, l.Hi - 1, l.Hi} {
					var rd loclist.Reader = v5
					if u.Version < 5 {
						rd = v4
					}
					want, err := rd.Find(int(off), 0, u.bases.low, pc, addr.GetSubsection(u.bases.addr))
					if err != nil {
						t.Fatal(err)
					}
					got := At(list, pc)
					if want != nil && !bytes.Equal(want.Instr, got) || want == nil && got != nil {
						t.Fatalf("%s: entry %#x at %#x: %x, Delve has %v", path, e.Offset, pc, got, want)
					}
				}
			}
		}
		if n == 0 && path != elftest.C(t, "-g -O2 -gdwarf-5", "types.c") {
			t.Errorf("%s: no lists", path)
		}
	}
}
