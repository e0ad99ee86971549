package carried

import (
	"encoding/hex"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/assigned"
	"github.com/gostap/gostap/compiler/machine/amd64"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestFind follows a word that is in rax at the beginning to the end of the code, with [rsp+16] as the slot that is the
// variable's own.
func TestFind(t *testing.T) {
	const (
		nop, call = "90", "e800000000"
		store     = "4889442410" // mov [rsp+16],rax
		load      = "488b4c2410" // mov rcx,[rsp+16]
		copies    = "4889c1"     // mov rcx,rax
		changes   = "48ffc0"     // inc rax
		over      = "4889542410" // mov [rsp+16],rdx
		half      = "8b4c2410"   // mov ecx,[rsp+16]
		jump5     = "7505"       // jne behind the next 5 bytes
		computed  = "ffe0"       // jmp rax
	)
	none := 0x100
	for _, c := range []struct {
		name, code string
		pointer    bool
		bar        int // an instruction that bars the way, none
		reg        int // none: lost; -1: the slot
	}{
		{"nothing happens", nop, true, none, 0},
		{"a copy, and the register changes", copies + changes, true, none, 2},
		{"the register changes", changes, true, none, none},
		{"stored", store + changes, true, none, -1},
		{"stored and loaded", store + changes + load, true, none, 2},
		{"half of it loaded", store + changes + half, true, none, -1},
		{"stored, and another value over it", store + changes + over, true, none, none},
		{"a call leaves no register", copies + call, false, none, none},
		{"a call leaves the slot", store + call, false, none, -1},
		{"but no pointer that the collector need not see", store + call, true, none, none},
		{"changed on one way", jump5 + changes + nop + nop, true, none, none},
		{"stored on one way", jump5 + store + changes, true, none, none},
		{"stored on both ways", store + jump5 + changes + nop + nop, true, none, -1},
		{"a way that does not count", nop + nop, true, 1, none},
		{"a computed jump", jump5 + nop + nop + computed + nop + nop, true, none, none},
	} {
		code, err := hex.DecodeString(c.code + "c3")
		if err != nil {
			t.Fatal(err)
		}
		const base = 0x1000
		cfa := func(uint64) (int64, bool) { return 32, true }
		x, err := insn.NewEffects(new(amd64.Decoder), code, base, never, never, cfa)
		if err != nil {
			t.Fatal(c.name, err)
		}
		w := &Walk{
			Code: assigned.Code{Decoder: new(amd64.Decoder), Base: base, Bytes: code, Effects: x, CFA: cfa},
			PC:   base + uint64(len(code)) - 1, Words: []Word{{Size: 8, Pointer: c.pointer}}, Registers: 33,
			Slots:   []insn.Store{{Off: -16, Size: 8}},
			Sources: []Source{{PC: base, At: map[assigned.Held]int{{Reg: 0, Size: 8}: 0}, Only: true}},
			Bars:    func(pc uint64) bool { return pc == base+uint64(c.bar) },
		}
		at, ok := w.Find()
		switch {
		case ok != (c.reg != none):
			t.Errorf("%s: %v %v", c.name, at, ok)
		case ok && at[0].Reg != c.reg, ok && c.reg < 0 && at[0].Slot.Off != -16:
			t.Errorf("%s: %v", c.name, at)
		}
	}
}

func never(uint64) bool { return false }
