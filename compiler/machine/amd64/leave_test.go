package amd64

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestFindLeaves goes through the forms in which compilers of C leave functions, and those that look alike.
func TestFindLeaves(t *testing.T) {
	const entry = 0x1000
	level := func(at ...uint64) func(uint64) (bool, bool) { // the stack is as at the entry at these addresses
		return func(pc uint64) (bool, bool) {
			for _, a := range at {
				if a == pc {
					return true, true
				}
			}
			return false, true
		}
	}
	words := func(w map[uint64]uint64) func(uint64) (uint64, bool) {
		return func(a uint64) (uint64, bool) { v, ok := w[a]; return v, ok }
	}
	cold := insn.Part{Addr: 0x800, Code: code(t, "90 e9 fb 07 00 00")} // nop; jmp 0x1001
	coldRet := insn.Part{Addr: 0x800, Code: code(t, "31 c0 c3 0f 0b")} // xor; ret; ud2
	more := func(p insn.Part) func(uint64, bool, bool) (insn.Part, bool) {
		return func(pc uint64, _, _ bool) (insn.Part, bool) { return p, p.Has(pc) }
	}
	for _, c := range []struct {
		name, code, want string
		around           insn.Around
	}{
		{"ret", "55 5d c3", "ret 1002", insn.Around{}},
		{"endbr, rep ret", "f3 0f 1e fa f3 c3", "ret 1004", insn.Around{}},
		{"bnd ret", "f2 c3", "ret 1000", insn.Around{}},
		{"ret imm16", "c2 08 00", "ret 1000", insn.Around{}},
		{"two returns", "85 ff 74 01 c3 31 c0 c3", "ret 1004, ret 1007", insn.Around{}},
		{"tail call", "31 c0 e9 f9 0f 00 00", "tail 1002 to 2000", insn.Around{}},
		{"bnd tail call", "90 f2 e9 f9 0f 00 00", "tail 1001 to 2000", insn.Around{}},
		{"calls last what does not return", "50 e8 fa 0f 00 00", "", insn.Around{}},
		{"runs on", "50 58 31 c0", "error: the code runs on into what follows the function at 0x1002", insn.Around{}},
		{"runs on into padding", "50 58 31 c0 90 90",
			"error: the code runs on into what follows the function at 0x1002", insn.Around{}},
		{"padding behind", "c3 66 90 0f 1f 40 00", "ret 1000", insn.Around{}},
		{"conditional tail call", "85 ff 0f 84 f8 0f 00 00 c3",
			"error: the function is left by a conditional jump at 0x1002", insn.Around{}},
		{"loop to the first instruction", "ff cf 75 fc c3", "ret 1004; again 1002", insn.Around{}},
		{"loop to it with a frame", "50 90 eb fc c3", "ret 1004", insn.Around{Level: level(0x1000, 0x1004)}},
		{"retpoline", "48 89 04 24 c3",
			"error: the function jumps by a return to an address of its own making at 0x1004", insn.Around{}},
		{"push and ret", "50 c3", "error: the function jumps by a return to an address of its own making at 0x1001",
			insn.Around{}},
		{"return thunk", "31 c0 e9 f9 0f 00 00", "ret 1002",
			insn.Around{Thunk: func(pc uint64) bool { return pc == 0x2000 }}},
		{"through a pointer passed in", "48 89 f8 ff e0", "tail 1003", insn.Around{}},
		{"through a vtable", "48 8b 07 ff 60 18", "tail 1003", insn.Around{}},
		{"through a slot", "ff 25 00 10 00 00", "tail 1000", insn.Around{}},
		{"switch with notrack", "3e ff e0 c3", "ret 1003", insn.Around{}},
		{"switch, distances", "48 63 04 82 48 01 d0 ff e0 c3", "ret 1009", insn.Around{}},
		{"switch with a frame", "50 ff e0 58 c3", "ret 1004", insn.Around{Level: level(0x1000, 0x1004)}},
		{"switch, addresses", "ff 24 c5 00 20 00 00 c3", "ret 1007",
			insn.Around{Word: words(map[uint64]uint64{0x2000: 0x1007})}},
		{"array of functions", "ff 24 c5 00 20 00 00 c3", "tail 1000, ret 1007",
			insn.Around{Word: words(map[uint64]uint64{0x2000: 0x3000})}},
		{"unknown table", "ff 24 c5 00 20 00 00 c3", "error: " + insn.Undecided + " at 0x1000",
			insn.Around{Word: words(nil)}},
		{"labels as values", "48 8d 05 f9 0f 00 00 ff 24 f8 c3", "ret 100a",
			insn.Around{Word: words(map[uint64]uint64{0x2000: 0x100a})}},
		{"array by address", "48 8d 05 f9 0f 00 00 ff 24 f8 c3", "tail 1007, ret 100a",
			insn.Around{Word: words(map[uint64]uint64{0x2000: 0x3000})}},
		{"cold part", "50 0f 85 f9 f7 ff ff 58 c3", "ret 1008", insn.Around{More: more(cold)}},
		{"cold part that returns", "50 0f 85 f9 f7 ff ff 58 c3", "ret 1008, ret 802", insn.Around{More: more(coldRet)}},
		{"part that nobody knows", "50 e9 fa 0f 00 00 c3",
			"error: the function goes on at 0x2000, which is not known to be a part of it at 0x1001",
			insn.Around{Level: level(0x1000, 0x1006)}},
		{"to the end, behind what throws", "50 e8 fa 0f 00 00 eb 02 58 c3", "ret 1009",
			insn.Around{Level: level(0x1000, 0x1009)}},
		{"to the end, behind anything else", "50 90 eb 02 58 c3",
			"error: the function goes on at 0x1006, which is not known to be a part of it at 0x1002",
			insn.Around{Level: level(0x1000, 0x1005)}},
		{"stack described up to the end only", "50 58 e9 f9 0f 00 00 c3", "ret 1007, tail 1002 to 2000",
			insn.Around{Level: level(0x1000)}},
		{"data", "06 c3", "error: the code does not decode at 0x1000: unknown instruction: 06 c3", insn.Around{}},
		{"marks in the middle", "b8 c3 00 00 00 c3",
			"error: the code does not decode to the instructions of the line table at 0x1001",
			insn.Around{Marks: []uint64{0x1001}}},
	} {
		got, err := insn.FindLeaves(dec, entry, []insn.Part{{Addr: entry, Code: code(t, c.code)}}, c.around)
		var out []string
		for _, x := range got.Exits {
			switch {
			case !x.Tail:
				out = append(out, fmt.Sprintf("ret %x", x.PC))
			case x.Target != 0:
				out = append(out, fmt.Sprintf("tail %x to %x", x.PC, x.Target))
			default:
				out = append(out, fmt.Sprintf("tail %x", x.PC))
			}
		}
		text := strings.Join(out, ", ")
		for _, a := range got.Again {
			text += fmt.Sprintf("; again %x", a)
		}
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

func code(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzFindLeaves looks for bytes that the search does not come back from.
func FuzzFindLeaves(f *testing.F) {
	f.Add([]byte{0x55, 0x5d, 0xc3}, uint8(0))
	f.Add([]byte{0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3}, uint8(3))
	f.Add([]byte{0xff, 0x24, 0xc5, 0, 0x20, 0, 0, 0xc3}, uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, how uint8) {
		a := insn.Around{Word: func(uint64) (uint64, bool) { return uint64(how), how&1 != 0 }}
		if how&2 != 0 {
			a.Level = func(pc uint64) (bool, bool) { return pc&uint64(how) != 0, true }
		}
		if how&4 != 0 {
			a.More = func(pc uint64, _, _ bool) (insn.Part, bool) { return insn.Part{Addr: pc, Code: b}, true }
		}
		got, err := insn.FindLeaves(dec, 0x1000, []insn.Part{{Addr: 0x1000, Code: b}}, a)
		if err == nil {
			for _, x := range got.Exits {
				if x.Inst.Kind != insn.Ret && x.Inst.Kind != insn.Jump && x.Inst.Kind != insn.IndirectJump {
					t.Errorf("%x left at %#x by a %d", b, x.PC, x.Inst.Kind)
				}
			}
		}
	})
}
