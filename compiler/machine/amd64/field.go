package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// maxField is how many instructions FieldAt looks at.
const maxField = 256

// FieldAt implements insn.Decoder.
func (Decoder) FieldAt(code []byte, base, pc uint64, reg int, off, size int64) insn.FieldUse {
	best := insn.FieldUnknown
	loaded := -1 // the register that has the word, in DWARF's numbers
	for range maxField {
		if pc < base || pc-base >= uint64(len(code)) {
			return best
		}
		b := code[pc-base:]
		in, ok := decode(b)
		if !ok {
			return best
		}
		switch in.Kind {
		case insn.Nop, insn.Nop5, insn.CondJump:
			pc += uint64(in.Len)
			continue
		case insn.Jump:
			pc = in.Target(pc)
			continue
		case insn.Other, insn.Push:
		default:
			return best
		}
		x, err := x86asm.Decode(b, 64)
		if err != nil {
			return best
		}
		if n, ok := x.Args[1].(x86asm.Imm); ok && x.Op == x86asm.ADD && int64(n) == off {
			if r, ok := x.Args[0].(x86asm.Reg); ok && is(r, reg) {
				return insn.FieldInside
			}
		}
		for i, a := range x.Args {
			m, ok := a.(x86asm.Mem)
			if !ok {
				continue
			}
			if loaded >= 0 && is(m.Base, loaded) && x.Op != x86asm.LEA {
				best = insn.FieldThrough
			}
			if !is(m.Base, reg) || m.Disp < off || m.Disp >= off+min(size, 8) {
				continue
			}
			word := m.Disp == off && x.MemBytes == 8 && m.Index == 0
			if x.Op == x86asm.LEA && m.Disp != off || m.Index != 0 {
				continue // an address of something behind it, perhaps
			}
			if x.Op == x86asm.LEA || !word && x.Op != x86asm.NOP {
				return insn.FieldInside
			}
			if r, ok := x.Args[0].(x86asm.Reg); ok && i == 1 && x.Op == x86asm.MOV {
				if best = max(best, insn.FieldLoaded); !is(r, reg) {
					loaded = number(r)
				}
			}
		}
		_, sets := effect(b, reg)
		if sets || writes(x, reg) {
			return best
		}
		if loaded >= 0 && best != insn.FieldThrough && writes(x, loaded) {
			if m, ok := x.Args[1].(x86asm.Mem); !ok || !is(m.Base, reg) || m.Disp != off {
				loaded = -1
			}
		}
		pc += uint64(in.Len)
	}
	return best
}

// number is the DWARF number of a general register, -1 for others.
func number(r x86asm.Reg) int {
	if n := dwarfReg(r); n < len(byNumber) {
		return n
	}
	return -1
}

// writes reports whether the first operand of in, which nearly all instructions write, is the register.
func writes(in x86asm.Inst, reg int) bool {
	r, ok := in.Args[0].(x86asm.Reg)
	return ok && is(r, reg) && in.Op != x86asm.CMP && in.Op != x86asm.TEST && in.Op != x86asm.PUSH
}
