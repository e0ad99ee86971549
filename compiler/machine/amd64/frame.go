package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Frame implements insn.Decoder.
func (Decoder) Frame(b []byte) insn.FrameUse {
	none, unknown := insn.FrameUse{Reg: -1}, insn.FrameUse{Reg: -1, Unknown: true}
	known, ok := decode(b)
	if !ok || vex(b) {
		return unknown
	}
	x, err := x86asm.Decode(b, 64)
	if err != nil {
		if known.Kind != insn.Other {
			return none
		}
		return unknown
	}
	if known.Kind != insn.Other {
		return none // pushes write below the stack pointer; calls and returns do not change the frame by themselves
	}
	for i, a := range x.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			switch {
			case a.Base == x86asm.RBP || a.Base == x86asm.EBP || a.Base == x86asm.ESP || a.Index == x86asm.RBP:
				if x.Op != x86asm.NOP {
					return unknown // the frame by another register
				}
			case a.Base == x86asm.RSP && x.Op != x86asm.NOP:
				return frameUse(x, i, a)
			}
		case x86asm.Reg:
			if a == x86asm.RSP && i > 0 && !(x.Op == x86asm.MOV && x.Args[0] == x86asm.RBP) && x.Op != x86asm.CMP &&
				x.Op != x86asm.TEST {
				return unknown // the stack pointer in another register
			}
		}
	}
	return none
}

// frameUse is Frame for operand i, which is m, behind the stack pointer.
func frameUse(x x86asm.Inst, i int, m x86asm.Mem) insn.FrameUse {
	u := insn.FrameUse{Off: m.Disp, Size: int64(x.MemBytes), Reg: -1}
	switch {
	case x.Op == x86asm.LEA || m.Index != 0:
		u.Address = true
		return u
	case u.Size == 0 || lockOrRepeat(x):
		u.Unknown = true
		return u
	}
	u.Writes = i == 0 || x.Op == x86asm.XCHG || x.Op == x86asm.XADD
	switch x.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.IMUL,
		x86asm.UCOMISS, x86asm.UCOMISD, x86asm.COMISS, x86asm.COMISD:
		u.Writes = false
	}
	if i == 1 && moved(x) > 0 && moved(x) <= u.Size {
		if r, ok := x.Args[0].(x86asm.Reg); ok {
			u.Reg = dwarfReg(r)
		}
	}
	if i == 0 && stores(x) {
		if r, ok := x.Args[1].(x86asm.Reg); ok && (r < x86asm.AH || r > x86asm.BH) {
			u.Reg = dwarfReg(r)
		}
	}
	return u
}

// stores reports whether an instruction whose first operand is memory does nothing but move the first bytes of its
// second one there.
func stores(x x86asm.Inst) bool {
	switch x.Op {
	case x86asm.MOV, x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVUPS, x86asm.MOVAPS, x86asm.MOVUPD, x86asm.MOVAPD,
		x86asm.MOVDQU, x86asm.MOVDQA, x86asm.MOVQ, x86asm.MOVD:
		return true
	}
	return false
}
