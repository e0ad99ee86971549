package amd64

import (
	"bytes"
	"encoding/binary"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Landing implements insn.Decoder: endbr64.
func (Decoder) Landing(code []byte) int {
	if bytes.HasPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa}) {
		return 4
	}
	return 0
}

// Grows implements insn.Decoder: a push, or sub n, %rsp.
func (Decoder) Grows(b []byte, in insn.Inst) bool {
	return in.Kind == insn.Push || in.Len > 3 && b[0] == 0x48 && (b[1] == 0x83 || b[1] == 0x81) && b[2] == 0xec
}

// Fills implements insn.Decoder: 90, or 0f 1f, of any length.
func (Decoder) Fills(b []byte, in insn.Inst) bool {
	if in.Kind == insn.Nop || in.Kind == insn.Nop5 {
		return true
	}
	return bytes.HasPrefix(bytes.TrimLeft(b[:in.Len], "\x66\x2e"), []byte{0x0f, 0x1f})
}

// throughBytes is the length of a jump or call *disp(%rip): ff, 25 or 15, disp32.
const throughBytes = 6

// CallSlot implements insn.Decoder: call *disp(%rip), with prefixes or not.
func (Decoder) CallSlot(b []byte, in insn.Inst, pc uint64) (uint64, bool) {
	i := in.Len - throughBytes
	if i < 0 || b[i] != 0xff || b[i+1] != 0x15 {
		return 0, false
	}
	return through(b[i:], pc+uint64(i)), true
}

// StubSlot implements insn.Decoder: jmp *disp(%rip), with endbr64 or bnd in front of it or not.
func (Decoder) StubSlot(stub []byte, pc uint64) (uint64, bool) {
	for i := 0; i+throughBytes <= len(stub) && i <= 5; i++ {
		if stub[i] == 0xff && stub[i+1] == 0x25 {
			return through(stub[i:], pc+uint64(i)), true
		}
	}
	return 0, false
}

// through is the address of the word that a jump or call *disp(%rip) at pc goes through.
func through(b []byte, pc uint64) uint64 {
	return pc + throughBytes + uint64(int64(int32(binary.LittleEndian.Uint32(b[2:]))))
}
