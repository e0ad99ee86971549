package assigned

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/gosource"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/machine/amd64"
	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestPasses asks about a variable that line 10 declares and whose place is [rsp+8] or rax.
func TestPasses(t *testing.T) {
	store, inc, nop := []byte{0x48, 0x89, 0x44, 0x24, 0x08}, []byte{0x48, 0xff, 0xc0}, []byte{0x90}
	cmp, load := []byte{0x48, 0x39, 0xc3}, []byte{0x48, 0x8b, 0x5c, 0x24, 0x20}
	call := []byte{0xe8, 0x00, 0x10, 0x00, 0x00}
	slot, rax := Held{Reg: -1, Slot: insn.Store{Off: -8, Size: 8}}, Held{Reg: 0, Size: 8}
	behind := func(line int) bool { return line > 20 }
	front := func(line int) bool { return line < 35 }
	elsewhere := gosource.Assignment{Line: 20, Reaches: func(int) bool { return false }, Until: 20}
	once := gosource.Assignment{Line: 20, Reaches: behind, Until: 40}
	copied := gosource.Assignment{Line: 20, Reaches: behind, Until: 40, Copy: true, Sources: []int{10}}
	later := gosource.Assignment{Line: 40, Reaches: func(int) bool { return true }, Until: 45}
	type in struct {
		code []byte
		line int
	}
	for _, c := range []struct {
		name         string
		code         []in
		line         int // of the site, behind the code
		held         Held
		as           gosource.Assignment
		silent, want int
		param        bool
	}{
		{"the slot, in front", []in{{inc, 10}, {store, 10}, {nop, 15}}, 15, slot, once, 0, 0, false},
		{"the new value is in a register", []in{{inc, 10}, {store, 10}, {inc, 20}, {nop, 30}},
			30, slot, once, 0, 20, false},
		{"and stored", []in{{inc, 10}, {store, 10}, {inc, 20}, {store, 20}, {nop, 30}}, 30, slot, once, 0, 0, false},
		{"the register", []in{{inc, 10}, {store, 10}, {inc, 20}, {nop, 30}}, 30, rax, once, 0, 0, false},
		{"made by no line that assigns", []in{{inc, 20}, {inc, 25}, {nop, 30}}, 30, rax, once, 0, 20, false},
		{"computed before its line", []in{{inc, 10}, {inc, 20}, {nop, 15}}, 15, rax, once, 0, 20, false},
		{unfinished, []in{{inc, 10}, {store, 10}, {nop, 30}, {inc, 20}},
			30, slot, once, 0, 20, false},
		{"no code at all", []in{{inc, 10}, {store, 10}, {nop, 30}}, 30, slot, once, 20, 0, false},
		{"no code, in front", []in{{inc, 10}, {store, 10}, {nop, 15}}, 15, slot, once, 0, 0, false},
		{"of a variable that got it there", []in{{inc, 10}, {store, 10}, {nop, 15}}, 15, slot, copied, 0, 20, false},
		{"a branch that does not lead here", []in{{inc, 10}, {store, 10}, {nop, 30}},
			30, slot, elsewhere, 0, 0, false},
		{"made there all the same", []in{{inc, 10}, {inc, 20}, {nop, 30}}, 30, rax, elsewhere, 0, 20, false},
		{"all that leads here assigns", []in{{inc, 10}, {store, 10}, {nop, 38}}, 38, slot, elsewhere, 0, 20, false},
		{"compared and taken back", []in{{inc, 10}, {store, 10}, {cmp, 20}, {load, 20}, {nop, 30}},
			30, slot, elsewhere, 0, 0, false},
		{"called", []in{{inc, 10}, {store, 10}, {call, 20}, {nop, 30}}, 30, slot, once, 0, 20, false},
		{"from the caller", []in{{nop, 15}, {nop, 30}}, 30, rax, elsewhere, 0, 20, false},
		{"an argument", []in{{nop, 15}, {nop, 30}}, 30, rax, elsewhere, 0, 0, true},
		{"an argument, assigned to", []in{{nop, 15}, {nop, 38}}, 38, rax, elsewhere, 0, 20, true},
		{"an argument, kept", []in{{store, 20}, {nop, 30}}, 30, slot, elsewhere, 0, 0, true},
		{"below, in front of it all the same", []in{{inc, 40}, {nop, 38}}, 38, rax, later, 0, 40, false},
		{"an argument, kept, assigned to", []in{{store, 20}, {nop, 38}}, 38, slot, once, 0, 20, true},
	} {
		var code []byte
		var rows []pclntab.Row
		pc := uint64(0)
		for _, i := range c.code {
			if len(rows) > 0 && i.line == c.line {
				pc = uint64(len(code))
			}
			rows = append(rows, pclntab.Row{Lo: uint64(len(code)), Hi: uint64(len(code) + len(i.code)), Line: i.line})
			code = append(code, i.code...)
		}
		cfa := func(uint64) (int64, bool) { return 16, true }
		x, err := insn.NewEffects(new(amd64.Decoder), code, 0, none, none, cfa)
		if err != nil {
			t.Fatal(err)
		}
		w := &Walk{
			Code: Code{Decoder: new(amd64.Decoder), Bytes: code, Effects: x, Rows: rows, CFA: cfa, Registers: 33},
			PC:   pc, Line: c.line, Decl: 10, Reaches: front, Param: c.param,
			List: []dwexpr.LocRange{{Lo: 0, Hi: 100}},
		}
		if got := w.Assign([]gosource.Assignment{c.as}); got != c.silent {
			t.Errorf("%s: without code: %d, want %d", c.name, got, c.silent)
		} else if got > 0 {
			continue
		}
		if got := w.Unfinished(); (got > 0) != (c.name == unfinished) {
			t.Errorf("%s: unfinished: %d", c.name, got)
		}
		if got := w.Passes(c.held); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestGiven asks about [rsp+8], which has been stored in line 25 or 20, where that must be a value of a variable that
// lines 10 and 20 give one.
func TestGiven(t *testing.T) {
	for line, want := range map[int]int{20: 0, 25: 10} {
		code := []byte{0x48, 0xff, 0xc0, 0x48, 0x89, 0x44, 0x24, 0x08, 0x90}
		cfa := func(uint64) (int64, bool) { return 16, true }
		x, err := insn.NewEffects(new(amd64.Decoder), code, 0, none, none, cfa)
		if err != nil {
			t.Fatal(err)
		}
		w := &Walk{
			Code: Code{Decoder: new(amd64.Decoder), Bytes: code, Effects: x, CFA: cfa, Registers: 33,
				Rows: []pclntab.Row{{Lo: 0, Hi: 8, Line: line}, {Lo: 8, Hi: 9, Line: 30}}},
			PC: 8, Line: 30, Decl: 10, Reaches: func(int) bool { return true }, Given: true,
			List: []dwexpr.LocRange{{Lo: 0, Hi: 100}},
		}
		w.Assign([]gosource.Assignment{{Line: 20, Reaches: func(int) bool { return line == 20 }, Until: 40}})
		if got := w.Passes(Held{Reg: -1, Slot: insn.Store{Off: -8, Size: 8}}); got != want {
			t.Errorf("stored in line %d: %d, want %d", line, got, want)
		}
	}
}

const unfinished = "its code stands further down"

func none(uint64) bool { return false }
