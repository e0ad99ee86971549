package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

func TestDead(t *testing.T) {
	const rax, rcx, rsi, rdi, r14 = 0, 2, 4, 5, 14
	for _, c := range []struct {
		what, code string
		reg        int
		dead       bool
	}{
		{"mov eax, edi", "89 f8", rdi, false},
		{"mov edi, 5; ret", "bf 05 00 00 00 c3", rdi, true},
		{"mov edi, 5 asks for another", "bf 05 00 00 00 c3", rsi, false},
		{"mov dil, 5; ret: the rest of it stays", "40 b7 05 c3", rdi, false},
		{"xor edi, edi; ret", "31 ff c3", rdi, true},
		{"xor edi, esi; ret", "31 f7 c3", rdi, false},
		{"sub rdi, rdi; ret", "48 29 ff c3", rdi, true},
		{"lea rdi, [rdi+8]", "48 8d 7f 08 c3", rdi, false},
		{"lea rdi, [rsi+8]", "48 8d 7e 08 c3", rdi, true},
		{"mov rdi, [rdi]", "48 8b 3f c3", rdi, false},
		{"mov [rdi], eax", "89 07 c3", rdi, false},
		{"mov [rsi], eax; mov edi, eax", "89 06 89 c7", rdi, true},
		{"push rdi", "57", rdi, false},
		{"push rbp; pop rdi", "55 5f", rdi, true},
		{"nop; pop r14", "90 41 5e", r14, true},
		{"ret", "c3", rdi, false},
		{"call", "e8 00 00 00 00 bf 05 00 00 00", rdi, false},
		{"jmp over; mov eax, edi; mov edi, 1", "eb 02 89 f8 bf 01 00 00 00", rdi, true},
		{"je to ret; mov edi, 1; ret", "74 05 bf 01 00 00 00 c3", rdi, false},
		{"je to mov edi, 2; mov edi, 1; mov edi, 2", "74 05 bf 01 00 00 00 bf 02 00 00 00", rdi, true},
		{"a loop of its own", "eb fe", rdi, true},
		{"jmp out of the code", "eb 70", rdi, false},
		{"rep stosb", "f3 aa bf 01 00 00 00", rdi, false},
		{"shl eax, cl", "d3 e0 b9 01 00 00 00", rcx, false},
		{"imul esi", "f7 ee b8 01 00 00 00", rax, false},
		{"cdq; mov eax, 1", "99 b8 01 00 00 00", rax, false},
		{"what does not decode", "0f ff", rdi, false},
		{"the stack pointer of no number", "bf 05 00 00 00", 40, false},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := insn.Dead(dec, code, 0x1000, 0x1000, c.reg, false); got != c.dead {
			t.Errorf("%s: %d dead %v", c.what, c.reg, got)
		}
	}
	for reg, want := range map[int]bool{rdi: true, rsi: false} { // mov eax, esi; ret
		if insn.Dead(dec, []byte{0x89, 0xf0, 0xc3}, 0, 0, reg, true) != want {
			t.Errorf("%d at a return", reg)
		}
	}
	if insn.Dead(dec, nil, 0, 0, 0, true) || insn.Dead(dec, []byte{0x90}, 16, 8, 0, true) {
		t.Error("no code, and yet something known")
	}
}

func FuzzDead(f *testing.F) {
	f.Add([]byte{0x74, 5, 0xbf, 1, 0, 0, 0, 0xc3}, uint64(0), 5)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64, reg int) { insn.Dead(dec, code, 16, 16+pc%64, reg, true) })
}
