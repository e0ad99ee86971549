package dwexpr

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// lit is a counted expression with one literal operation.
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
	got, err := ReadList5(&dwread.Reader{Bytes: list}, nil, 8, 0x400, addrx)
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
		if _, err := ReadList5(&dwread.Reader{Bytes: list[:n]}, nil, 8, 0, addrx); err == nil {
			t.Errorf("list cut at %d was taken", n)
		}
	}
	if _, err := ReadList5(&dwread.Reader{Bytes: elftest.Encode(uint8(99))}, nil, 8, 0, addrx); err == nil {
		t.Error("unknown kind was taken")
	}
	if _, err := ReadList5(&dwread.Reader{Bytes: elftest.Encode(uint8(lleBaseAddressx), 7, uint8(0))}, nil, 8, 0,
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
	got, err := ReadList4(&dwread.Reader{Bytes: list}, nil, 8, 0x400)
	if err != nil || len(got) != 2 || got[0].Lo != 0x410 || got[1].Lo != 0x7010 || got[1].Hi != 0x7020 ||
		len(got[1].Expr) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := ReadList4(&dwread.Reader{Bytes: list[:30]}, nil, 8, 0); err == nil {
		t.Error("a list without an end was taken")
	}
}

func FuzzLocList(f *testing.F) {
	f.Add(elftest.Encode(uint8(lleOffsetPair), 0x10, 0x20, lit(1), uint8(lleEnd)), true)
	f.Add(elftest.Encode(uint64(0x10), uint64(0x20), uint16(1), "\x31", uint64(0), uint64(0)), false)
	f.Fuzz(func(t *testing.T, b []byte, v5 bool) {
		if v5 {
			ReadList5(&dwread.Reader{Bytes: b}, nil, 8, 0x1000, func(i uint64) (uint64, error) { return i, nil })
		} else {
			ReadList4(&dwread.Reader{Bytes: b}, nil, 8, 0x1000)
		}
	})
}
