package amd64

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// TestSpills: the block that calls for more stack tells the registers of the arguments, and nothing else does.
func TestSpills(t *testing.T) {
	const entry, more = 0x1000, 0x9000
	check := []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x02, 0x55, 0xc3} // cmp 16(r14), rsp; jbe +2; push rbp; ret
	function := func(head []byte, block ...[]byte) []byte {
		code := append(slices.Clone(head), slices.Concat(block...)...)
		code = append(code, 0xe8)
		return binary.LittleEndian.AppendUint32(code, uint32(more-(entry+len(code)+4)))
	}
	ax := []byte{0x48, 0x89, 0x44, 0x24, 0x08}       // mov rax, 8(rsp)
	bl := []byte{0x88, 0x5c, 0x24, 0x10}             // mov bl, 16(rsp)
	x0 := []byte{0xf2, 0x0f, 0x11, 0x44, 0x24, 0x18} // movsd xmm0, 24(rsp)
	x1 := []byte{0xf3, 0x0f, 0x11, 0x4c, 0x24, 0x20} // movss xmm1, 32(rsp)
	nop := []byte{0x0f, 0x1f, 0x40, 0x00}            // nopl 0(rax)
	other := []byte{0x48, 0x01, 0xd8}                // add rbx, rax
	elsewhere := []byte{0x48, 0x89, 0x43, 0x08}      // mov rax, 8(rbx)
	constant := []byte{0xc6, 0x44, 0x24, 0x10, 0x01} // movb $1, 16(rsp)
	want := []insn.Spill{{Reg: 0, Off: 8, Size: 8}, {Reg: 3, Off: 16, Size: 1}, {Reg: 17, Off: 24, Size: 8},
		{Reg: 18, Off: 32, Size: 4}}
	for _, x := range []struct {
		name string
		code []byte
		want []insn.Spill
	}{
		{"all kinds", function(check, ax, bl, x0, x1, nop), want},
		{"none kept", function(check), nil},
		{"no check", function([]byte{0x55, 0xc3}, ax), nil},
		{"something else", function(check, ax, other), nil},
		{"not the stack", function(check, elsewhere), nil},
		{"a constant", function(check, ax, constant), nil},
		{"cut short", function(check, ax)[:15], nil},
	} {
		got, ok := insn.Spills(&Decoder{}, x.code, entry, func(pc uint64) bool { return pc == more })
		if ok != (x.want != nil) || ok && !slices.Equal(got, x.want) {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
	if got, ok := insn.Spills(&Decoder{}, function(check, ax), entry, func(uint64) bool { return false }); ok {
		t.Errorf("a call of something else: %+v", got)
	}
}
