package amd64

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

func TestInto(t *testing.T) {
	const rax, rdx, rcx, rbx, rsi, rdi, rbp, r11, r14, xmm0, xmm1 = 0, 1, 2, 3, 4, 5, 6, 11, 14, 17, 18
	for _, c := range []struct {
		what, code string
		reg        int
		size       int64
		use        insn.Use
		from       int
	}{
		{"mov rbx, rcx", "48 89 cb", rbx, 8, insn.Copies, rcx},
		{"mov rbx, rcx keeps the other", "48 89 cb", rcx, 8, insn.Keeps, 0},
		{"mov ebx, ecx is not all of 8 bytes", "89 cb", rbx, 8, insn.Changes, 0},
		{"mov ebx, ecx is all of 4", "89 cb", rbx, 4, insn.Copies, rcx},
		{"mov ebx, ebx", "89 db", rbx, 8, insn.Changes, 0},
		{"mov bx, cx", "66 89 cb", rbx, 4, insn.Changes, 0},
		{"mov bl, cl", "88 cb", rbx, 1, insn.Changes, 0},
		{"mov bh, cl", "88 cf", rbx, 8, insn.Changes, 0},
		{"mov rbx, 5", "48 c7 c3 05 00 00 00", rbx, 8, insn.Changes, 0},
		{"mov rbx, [rsp+8]", "48 8b 5c 24 08", rbx, 8, insn.Loads, 0},
		{"mov ebx, [rsp+8]", "8b 5c 24 08", rbx, 8, insn.Changes, 0},
		{"mov [rsp+8], rbx", "48 89 5c 24 08", rbx, 8, insn.Keeps, 0},
		{"pop rbx", "5b", rbx, 8, insn.Loads, 0},
		{"pop r14", "41 5e", r14, 8, insn.Loads, 0},
		{"push rbx", "53", rbx, 8, insn.Keeps, 0},
		{"shl rbx, 24", "48 c1 e3 18", rbx, 8, insn.Changes, 0},
		{"sar edx, 16", "c1 fa 10", rdx, 8, insn.Changes, 0},
		{"lea rbx, [rbx+1]", "48 8d 5b 01", rbx, 8, insn.Changes, 0},
		{"movsx rdx, bl keeps", "48 0f be d3", rbx, 8, insn.Keeps, 0},
		{"movsx rbx, bl", "48 0f be db", rbx, 8, insn.Changes, 0},
		{"cmp rbx, rcx", "48 39 cb", rbx, 8, insn.Keeps, 0},
		{"test rbx, rbx", "48 85 db", rbx, 8, insn.Keeps, 0},
		{"xchg rcx, rbx", "48 87 d9", rbx, 8, insn.Changes, 0},
		{"sete bl", "0f 94 c3", rbx, 8, insn.Changes, 0},
		{"cmove rbx, rcx", "48 0f 44 d9", rbx, 8, insn.Changes, 0},
		{"mul rcx", "48 f7 e1", rdx, 8, insn.Changes, 0},
		{"mul rcx keeps rcx", "48 f7 e1", rcx, 8, insn.Keeps, 0},
		{"imul rcx", "48 f7 e9", rdx, 8, insn.Changes, 0},
		{"imul rbx, rcx", "48 0f af d9", rdx, 8, insn.Keeps, 0},
		{"idiv ecx", "f7 f9", rax, 8, insn.Changes, 0},
		{"cqo", "48 99", rdx, 8, insn.Changes, 0},
		{"rep stosq", "f3 48 ab", rdi, 8, insn.Changes, 0},
		{"rep movsb", "f3 a4", rcx, 8, insn.Changes, 0},
		{"syscall", "0f 05", r11, 8, insn.Changes, 0},
		{"leave", "c9", rbp, 8, insn.Changes, 0},
		{"cpuid", "0f a2", rbx, 8, insn.Changes, 0},
		{"call", "e8 00 00 00 00", rbx, 8, insn.Keeps, 0},
		{"call *rbx", "ff d3", rbx, 8, insn.Keeps, 0},
		{"jmp", "eb 10", rbx, 8, insn.Keeps, 0},
		{"je", "74 10", rbx, 8, insn.Keeps, 0},
		{"jmp *rax", "ff e0", rax, 8, insn.Keeps, 0},
		{"loop", "e2 10", rcx, 8, insn.Changes, 0},
		{"ret", "c3", rax, 8, insn.Keeps, 0},
		{"nop [rax]", "0f 1f 00", rax, 8, insn.Keeps, 0},
		{"endbr64", "f3 0f 1e fa", rbx, 8, insn.Keeps, 0},
		{"movaps xmm0, xmm1", "0f 28 c1", xmm0, 16, insn.Copies, xmm1},
		{"movsd xmm0, xmm1 leaves the rest", "f2 0f 10 c1", xmm0, 8, insn.Changes, 0},
		{"movsd xmm0, [rsp]", "f2 0f 10 04 24", xmm0, 8, insn.Loads, 0},
		{"movss xmm0, [rsp]", "f3 0f 10 04 24", xmm0, 8, insn.Changes, 0},
		{"movq xmm0, rax", "66 48 0f 6e c0", xmm0, 8, insn.Copies, rax},
		{"movq rax, xmm0", "66 48 0f 7e c0", rax, 8, insn.Copies, xmm0},
		{"addsd xmm0, xmm1", "f2 0f 58 c1", xmm0, 8, insn.Changes, 0},
		{"addsd xmm0, xmm1 keeps", "f2 0f 58 c1", xmm1, 8, insn.Keeps, 0},
		{"vaddsd is not known", "c5 fb 58 c1", xmm1, 8, insn.Changes, 0},
		{"no instruction", "06", rbx, 8, insn.Changes, 0},
		{"nothing", "", rbx, 8, insn.Changes, 0},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if use, from := dec.Into(b, c.reg, c.size); use != c.use || from != c.from {
			t.Errorf("%s: %d from %d, not %d from %d", c.what, use, from, c.use, c.from)
		}
	}
}
