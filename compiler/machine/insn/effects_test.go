package insn

import (
	"slices"
	"testing"
)

func TestLost(t *testing.T) {
	// A block that returns, then a loop with a call at 0x18, and what the loop leads to.
	x := &Effects{calls: []uint64{0x20}, next: map[uint64][]uint64{
		0x10: {0x14}, 0x14: nil, 0x18: {0x20}, 0x20: {0x24}, 0x24: {0x18, 0x28}, 0x28: {0x40},
	}}
	for _, c := range []struct {
		lo, pc, hi uint64
		want       bool
	}{
		{0x10, 0x10, 0x40, false},
		{0x10, 0x14, 0x40, false},
		{0x10, 0x18, 0x40, true},
		{0x10, 0x28, 0x40, true},
		{0x10, 0x18, 0x20, false}, // the entry ends with the call
		{0x20, 0x24, 0x40, false}, // and begins there
		{0x10, 0x28, 0x28, false}, // not in it
	} {
		if got := x.Lost(c.lo, c.pc, c.hi); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestPrev(t *testing.T) {
	// 0x18 is the end of a loop; nothing but a computed jump leads to 0x20.
	x := &Effects{prev: map[uint64][]uint64{0x14: {0x10, 0x18}, 0x18: {0x14}, 0x1c: {0x18}}, tables: []uint64{0x1c}}
	for pc, want := range map[uint64][]uint64{
		0x14: {0x10, 0x18}, 0x18: {0x14}, 0x1c: {0x18}, 0x20: {0x1c},
	} {
		if got := x.Prev(pc); !slices.Equal(got, want) {
			t.Errorf("%#x: %#x, want %#x", pc, got, want)
		}
	}
}
