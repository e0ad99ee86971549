package amd64

import (
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

func none(uint64) bool { return false }

// TestAgain: a store that a loop begins with writes what is in the frame already, or may not.
func TestAgain(t *testing.T) {
	// mov [rsp+16],rax; mov rcx,[rsp+16]; the store: mov [rsp+16],rcx; nop. What follows leads back to the store.
	const ret, store = "c3", "48894c241090"
	const loop = "4889442410" + "488b4c2410" + store
	for _, c := range []struct {
		name, code string
		want       bool
	}{
		{"loaded on both ways", loop + "488b4c2410" + "75f3" + ret, true},
		{"stored on both ways", "4889442410" + "4889c19090" + store + "48894c2410" + "75f3" + ret, true},
		{"unchanged in the loop", loop + "4889542420" + "75f3" + ret, true},
		{"another register in the loop", loop + "4889d19090" + "75f3" + ret, false},
		{"another slot in the loop", loop + "488b4c2418" + "75f3" + ret, false},
		{"the slot changes in the loop", loop + "4889542410" + "75f3" + ret, false},
		{"a part of the slot changes", loop + "8954241490" + "75f3" + ret, false},
		{"half of it is loaded", loop + "8b4c241090" + "75f3" + ret, false},
		{"a call in the loop", loop + "e800000000" + "75f3" + ret, false},
		{"it comes from the caller", "4889442420" + "488b542410" + store + "488b4c2410" + "75f3" + ret, false},
		{"a computed jump", loop + "488b4c2410" + "75f3" + "ffe0", false},
	} {
		const base = 0x1000
		x, err := insn.NewEffects(&Decoder{}, bytesOf(t, c.code), base, none, none,
			func(uint64) (int64, bool) { return 0x40, true })
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := x.Again(insn.Store{PC: base + 10, Off: 0x10 - 0x40, Size: 8}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestLeads: whether a way leads from one instruction to another.
func TestLeads(t *testing.T) {
	// 0 nop; 1 jne 6; 3 nop; 4 jmp 8; 6 nop; 7 ret; 8 nop; 9 jne 3; 11 ret
	code := "90" + "7503" + "90" + "eb02" + "90" + "c3" + "90" + "75f8" + "c3"
	x, err := insn.NewEffects(&Decoder{}, bytesOf(t, code), 0, none, none,
		func(uint64) (int64, bool) { return 0, true })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to uint64
		want     bool
	}{{0, 11, true}, {3, 7, false}, {6, 8, false}, {8, 3, true}, {3, 3, true}, {7, 8, false}, {0, 0, false}} {
		if got := x.Leads(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: %v", c.from, c.to, got)
		}
	}
}

// TestComes: what leads to an instruction, without calls that do not return, and without what fills gaps behind jumps.
func TestComes(t *testing.T) {
	// 0 jne 6; 2 jmp 7; 4 nop; 5 nop; 6 nop; 7 call 100; 12 ret
	code := "7504" + "eb03" + "90" + "90" + "90" + "e858000000" + "c3"
	for _, returns := range []bool{true, false} {
		x, err := insn.NewEffects(&Decoder{}, bytesOf(t, code), 0, none,
			func(to uint64) bool { return to == 100 && !returns }, func(uint64) (int64, bool) { return 0, true })
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint64][]uint64{6: {0}, 7: {2, 6}, 12: {7}}
		if !returns {
			want[12] = nil
		}
		for pc, from := range want {
			if got := x.Prev(pc); !slices.Equal(got, from) {
				t.Errorf("to %d, calls return %v: from %d, want %d", pc, returns, got, from)
			}
		}
	}
}
