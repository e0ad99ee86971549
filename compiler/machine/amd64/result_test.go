package amd64

import (
	"encoding/hex"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// A register has a result where something was put into it for a return; not where something is left over in it.
func TestSetForReturn(t *testing.T) {
	for _, c := range []struct {
		code string // of instructions that the comment gives
		want bool
	}{
		{"31c0c3", true},                      // xor eax,eax; ret
		{"89d8" + "5bc3", true},               // mov eax,ebx; pop rbx; ret
		{"8d0437" + "c3", true},               // lea eax,[rdi+rsi]; ret
		{"0f94c0" + "c3", true},               // sete al; ret
		{"b001c3", true},                      // mov al,1; ret
		{"58c3", false},                       // pop rax; ret: the stack's alignment
		{"8b07c3", false},                     // mov eax,[rdi]; ret: perhaps a volatile load
		{"e800000000c3", false},               // call; ret
		{"01f8c3", false},                     // add eax,edi; ret: perhaps for the flags
		{"31c9" + "31c0" + "c3", false},       // xor ecx,ecx; xor eax,eax; ret: all are cleared
		{"89f8" + "8907" + "c3", false},       // mov eax,edi; mov [rdi],eax; ret
		{"31c0" + "e800000000" + "c3", false}, // xor eax,eax; call; ret: no vector arguments
		{"58c3" + "31c0c3", true},             // one of two returns tells
		{"31c0", false},                       // no return
		{"488b45e0" + "5dc3", false},          // mov rax,[rbp-32]; pop rbp; ret: with slots only
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if got := insn.SetForReturn(dec, code, 0x1000, 0, false); got != c.want {
			t.Errorf("%s: %t", c.code, got)
		}
	}
}

// The address of a result in memory may come from the frame.
func TestReloadedForReturn(t *testing.T) {
	for _, c := range []struct {
		code string
		want bool
	}{
		{"488b45e0" + "4883c440" + "5dc3", true},  // mov rax,[rbp-32]; add rsp,64; pop rbp; ret
		{"488b442408" + "5bc3", true},             // mov rax,[rsp+8]; pop rbx; ret
		{"8b45e0" + "c3", false},                  // mov eax,[rbp-32]; ret
		{"488b03" + "c3", false},                  // mov rax,[rbx]; ret
		{"488b45e0" + "488b08" + "c3", false},     // mov rax,[rbp-32]; mov rcx,[rax]; ret
		{"488b45e0" + "e800000000" + "c3", false}, // mov rax,[rbp-32]; call; ret
		{"4889d8" + "c3", true},                   // mov rax,rbx; ret
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if got := insn.SetForReturn(dec, code, 0x1000, 0, true); got != c.want {
			t.Errorf("%s: %t", c.code, got)
		}
	}
}

// What a call has left in a register is taken where code works with it, and not where it only saves the register,
// writes a part of it, or comes to the same whatever is in it.
func TestTaken(t *testing.T) {
	for _, c := range []struct {
		code            string
		taken, returned bool
	}{
		{"4889c3" + "c3", true, false},                           // mov rbx,rax; ret
		{"85c0" + "c3", true, false},                             // test eax,eax; ret
		{"48030425" + "00000000" + "c3", true, false},            // add rax,[0]; ret
		{"8b0485" + "00000000" + "c3", true, false},              // mov eax,[rax*4]; ret
		{"4898" + "c3", true, false},                             // cdqe; ret
		{"480fafd8" + "c3", true, false},                         // imul rbx,rax; ret
		{"0fb6c8" + "c3", true, false},                           // movzx ecx,al; ret
		{"31c0" + "89c3" + "c3", false, false},                   // xor eax,eax; mov ebx,eax; ret
		{"83c8ff" + "89c3" + "c3", false, false},                 // or eax,-1; mov ebx,eax; ret
		{"50" + "59" + "c3", false, true},                        // push rax; pop rcx; ret: the stack's alignment
		{"0f94c0" + "89c3" + "c3", false, false},                 // sete al; mov ebx,eax; ret: a part is another's
		{"0f1f840000000000" + "c3", false, true},                 // nop [rax+rax]; ret
		{"b801000000" + "89c3" + "c3", false, false},             // mov eax,1; mov ebx,eax; ret
		{"e800000000" + "89c3" + "c3", false, false},             // call; mov ebx,eax; ret: that call's
		{"4885db" + "7403" + "31c0c3" + "4889c1c3", true, false}, // test rbx,rbx; je; xor eax,eax; ret; mov rcx,rax
		{"4885db" + "7403" + "31c0c3" + "c3", false, true},       // the same, and ret
		{"ebfe", false, false},                                   // a loop
		{"ffe0", false, false},                                   // jmp rax
		{"c5f877" + "89c3c3", false, false},                      // vzeroupper, which is not known; mov ebx,eax; ret
	} {
		code, err := hex.DecodeString(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if taken, returned := insn.Taken(dec, code, 0x1000, 0x1000, 0); taken != c.taken || returned != c.returned {
			t.Errorf("%s: taken %t, returned %t", c.code, taken, returned)
		}
	}
}
