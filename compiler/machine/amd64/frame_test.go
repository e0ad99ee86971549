package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

func bytesOf(t *testing.T, code string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFrame(t *testing.T) {
	const rax, r9, xmm1 = 0, 9, 18
	none, unknown := insn.FrameUse{Reg: -1}, insn.FrameUse{Reg: -1, Unknown: true}
	for _, c := range []struct {
		what, code string
		want       insn.FrameUse
	}{
		{"mov %rax, 8(%rsp)", "48 89 44 24 08", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: rax}},
		{"mov %r9d, 0x80(%rsp)", "44 89 8c 24 80 00 00 00", insn.FrameUse{Off: 128, Size: 4, Writes: true, Reg: r9}},
		{"mov %al, (%rsp)", "88 04 24", insn.FrameUse{Size: 1, Writes: true, Reg: rax}},
		{"mov %ah, (%rsp): not its first byte", "88 24 24", insn.FrameUse{Size: 1, Writes: true, Reg: -1}},
		{"mov 8(%rsp), %rax", "48 8b 44 24 08", insn.FrameUse{Off: 8, Size: 8, Reg: rax}},
		{"movzbl 8(%rsp), %eax", "0f b6 44 24 08", insn.FrameUse{Off: 8, Size: 1, Reg: -1}},
		{"movsd %xmm1, 8(%rsp)", "f2 0f 11 4c 24 08", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: xmm1}},
		{"movups %xmm1, 8(%rsp)", "0f 11 4c 24 08", insn.FrameUse{Off: 8, Size: 16, Writes: true, Reg: xmm1}},
		{"movq $1, 8(%rsp)", "48 c7 44 24 08 01 00 00 00", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: -1}},
		{"incq 8(%rsp)", "48 ff 44 24 08", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: -1}},
		{"add %rax, 8(%rsp)", "48 01 44 24 08", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: -1}},
		{"xchg %rax, 8(%rsp)", "48 87 44 24 08", insn.FrameUse{Off: 8, Size: 8, Writes: true, Reg: -1}},
		{"cmp %rax, 8(%rsp)", "48 39 44 24 08", insn.FrameUse{Off: 8, Size: 8, Reg: -1}},
		{"lea 8(%rsp), %rax", "48 8d 44 24 08", insn.FrameUse{Off: 8, Reg: -1, Address: true}},
		{"mov %rax, 8(%rsp,%rcx,8)", "48 89 44 cc 08", insn.FrameUse{Off: 8, Size: 8, Reg: -1, Address: true}},
		{"mov %rax, 8(%rbp): the frame by another register", "48 89 45 08", unknown},
		{"mov %rsp, %rax", "48 89 e0", unknown},
		{"mov %rsp, %rbp", "48 89 e5", none},
		{"mov %rax, 8(%rcx)", "48 89 41 08", none},
		{"sub $16, %rsp", "48 83 ec 10", none},
		{"nopl (%rax,%rax)", "0f 1f 44 00 00", none},
		{"push %rbp", "55", none},
		{"call", "e8 00 00 00 00", none},
		{"vmovdqu %ymm0, (%rsp)", "c5 fe 7f 04 24", unknown},
		{"what does not decode", "0f ff", unknown},
	} {
		got := dec.Frame(bytesOf(t, c.code))
		if c.want.Address {
			got.Size, c.want.Size = 0, 0
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}

func TestStoredNext(t *testing.T) {
	const rsp = 7
	const store = "48 89 44 24 08" // mov %rax, 8(%rsp)
	for _, c := range []struct {
		what, code string
		want       bool
	}{
		{"at once", store, true},
		{"behind others", "b9 07 00 00 00 66 90 48 8b 54 24 08" + store, true},
		{"the register is set first", "b8 07 00 00 00" + store, false},
		{"a part of it is set first", "b0 07" + store, false},
		{"another slot", "48 89 44 24 10", false},
		{"half of the slot", "89 44 24 0c", true},
		{"across its beginning", "48 89 44 24 04", true},
		{"a constant", "48 c7 44 24 08 01 00 00 00" + store, false},
		{"behind a call", "e8 00 00 00 00" + store, false},
		{"behind a jump", "eb 00" + store, false},
		{"the stack pointer moves", "48 83 ec 10" + store, false},
		{"behind a push", "55" + store, false},
		{"by an unknown address", "48 89 e0" + store, false},
		{"too far away", strings.Repeat("90", 20) + store, false},
		{"no code", "", false},
		{"what does not decode", "0f ff" + store, false},
	} {
		if got := insn.StoredNext(dec, bytesOf(t, c.code), 0x1000, 0x1000, rsp, 8, 8); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	if insn.StoredNext(dec, bytesOf(t, store), 0x1000, 0xfff, rsp, 8, 8) {
		t.Error("in front of the code")
	}
}
