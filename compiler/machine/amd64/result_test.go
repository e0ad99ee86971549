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
