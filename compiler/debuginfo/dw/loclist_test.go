package dw

import (
	"bytes"
	"debug/dwarf"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/loclist"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// A unit as clang writes it: DW_FORM_loclistx counts in the table at DW_AT_loclists_base.
func TestLoclistx(t *testing.T) {
	table := elftest.Encode(uint32(2*4), uint32(2*4+3)) // two offsets from the base
	sec := append([]byte("twelve bytes"), table...)
	const end, offsetPair, lit5 = uint8(0), uint8(4), uint8(0x35)
	sec = append(sec, elftest.Encode(end, end, end, offsetPair, 4, 8, 1, lit5, end)...)
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
					got := dwexpr.At(list, pc)
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
