package assigned

import (
	"bytes"
	"testing"

	"github.com/gostap/gostap/compiler/machine/amd64"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestBrought asks where rbx and the first eight bytes of the caller's room for arguments, [rsp+8], are from.
func TestBrought(t *testing.T) {
	store, load := []byte{0x48, 0x89, 0x44, 0x24, 0x08}, []byte{0x48, 0x8b, 0x5c, 0x24, 0x08} // of rax, to rbx
	move, inc := []byte{0x48, 0x89, 0xc3}, []byte{0x48, 0xff, 0xc0}                           // rax to rbx, rax
	over := []byte{0x74, 0x03}                                                                // jumps over inc
	slot, rbx := Held{Reg: -1, Slot: insn.Store{Size: 8}}, Held{Reg: 3, Size: 8}
	for _, c := range []struct {
		name string
		code [][]byte
		held Held
		want int // a register, -1 the slot, none
	}{
		{"not touched", [][]byte{inc}, rbx, 3},
		{"not touched, in memory", [][]byte{inc}, slot, -1},
		{"moved", [][]byte{move, inc}, rbx, 0},
		{"kept", [][]byte{store, inc}, slot, 0},
		{"kept and taken back", [][]byte{store, inc, load}, rbx, 0},
		{"made", [][]byte{inc, move}, rbx, nowhere},
		{"made and kept", [][]byte{inc, store}, slot, nowhere},
		{"made on one way", [][]byte{over, inc, move}, rbx, 0},
	} {
		w, end := codeOf(t, c.code)
		got := nowhere
		if from := w.Brought(c.held, end); len(from) == 1 {
			got = from[0].Reg
			if !from[0].In(from) || from[0].In([]Held{{Reg: 7}, {Reg: -1, Slot: insn.Store{Off: 8, Size: 8}}}) {
				t.Errorf("%s: what is in %+v", c.name, from)
			}
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestOverwritten asks about rbx where a list's entry begins at the first or the third instruction.
func TestOverwritten(t *testing.T) {
	inc, move, over := []byte{0x48, 0xff, 0xc3}, []byte{0x48, 0x89, 0xc3}, []byte{0x74, 0x03} // rbx, rax to it, a jump
	for _, c := range []struct {
		name   string
		code   [][]byte
		begins uint64
		want   bool
	}{
		{"given a value in front", [][]byte{inc, over, inc}, 8, false},
		{"given one since", [][]byte{inc, over, inc}, 0, true},
		{"only moved there", [][]byte{inc, over, move}, 3, false},
		{"given one on a way around it", [][]byte{inc, {0x74, 0x01}, {0x90}, {0x90}}, 5, true},
	} {
		w, end := codeOf(t, c.code)
		begins := func(pc uint64) bool { return pc == c.begins }
		if got := w.Overwritten(Held{Reg: 3, Size: 8}, end, begins); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

const nowhere = -2

// codeOf is a function of instructions, with a frame of 8 bytes; end is behind them, at a NOP.
func codeOf(t *testing.T, instructions [][]byte) (w *Code, end uint64) {
	t.Helper()
	code := bytes.Join(instructions, nil)
	end = uint64(len(code))
	code = append(code, 0x90)
	cfa := func(uint64) (int64, bool) { return 8, true }
	x, err := insn.NewEffects(new(amd64.Decoder), code, 0, none, none, cfa)
	if err != nil {
		t.Fatal(err)
	}
	return &Code{Decoder: new(amd64.Decoder), Bytes: code, Effects: x, CFA: cfa, Registers: 33}, end
}
