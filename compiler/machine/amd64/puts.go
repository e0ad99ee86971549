package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Puts implements insn.Decoder.
func (Decoder) Puts(b []byte) (reg int, how insn.Put, ok bool) {
	x, err := x86asm.Decode(b, 64)
	if err != nil || lockOrRepeat(x) {
		return -1, insn.PutsOther, false
	}
	reg = -1
	if r, ok := x.Args[0].(x86asm.Reg); ok {
		reg = dwarfReg(r)
	}
	switch {
	case (x.Op == x86asm.XOR || x.Op == x86asm.SUB) && x.Args[0] == x.Args[1]:
		how = insn.PutsZero
	case moves(x):
		how = insn.PutsMove
	case reloads(x):
		how = insn.PutsLoad
	}
	return reg, how, true
}

// reloads reports whether x loads 8 bytes of the frame.
func reloads(x x86asm.Inst) bool {
	m, load := x.Args[1].(x86asm.Mem)
	r, _ := x.Args[0].(x86asm.Reg)
	return x.Op == x86asm.MOV && load && r >= x86asm.RAX && r <= x86asm.R15 &&
		(m.Base == x86asm.RSP || m.Base == x86asm.RBP) && m.Index == 0
}

// moves reports whether x only sets its first operand, from what it has in registers.
func moves(x x86asm.Inst) bool {
	switch x.Op {
	case x86asm.LEA:
		return true
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD:
		_, load := x.Args[1].(x86asm.Mem)
		return !load
	case x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE,
		x86asm.SETL, x86asm.SETLE, x86asm.SETNE, x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP,
		x86asm.SETS:
		return true
	}
	return false
}
