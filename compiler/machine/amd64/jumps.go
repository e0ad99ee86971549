package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Padding implements insn.Decoder.
func (Decoder) Padding(b []byte) bool {
	if x, err := x86asm.Decode(b, 64); err == nil {
		switch x.Op {
		case x86asm.NOP, x86asm.UD2, x86asm.UD1, x86asm.XCHG, x86asm.HLT, x86asm.INT, x86asm.SYSCALL:
			return true
		case x86asm.LEA:
			return true // lea 0(%rsi),%rsi of old assemblers
		}
	}
	return false
}

// Returnable implements insn.Decoder.
func (Decoder) Returnable(b []byte) bool {
	if in, ok := decode(b); ok && in.Kind == insn.Push {
		return true
	}
	x, err := x86asm.Decode(b, 64)
	if err != nil || x.Op != x86asm.MOV {
		return false
	}
	m, ok := x.Args[0].(x86asm.Mem)
	return ok && m.Base == x86asm.RSP && m.Index == 0 && m.Disp == 0
}

// Leaves implements insn.Decoder.
func (Decoder) Leaves(b []byte, j insn.Computed) (away bool, why string) {
	l := computed(j)
	i := 0
	for i < len(b) && b[i] != 0xff {
		if b[i] == 0x3e {
			return false, "" // notrack
		}
		i++
	}
	x, err := x86asm.Decode(b[i0(b):], 64)
	if err != nil {
		return false, insn.Undecided
	}
	switch a := x.Args[0].(type) {
	case x86asm.Mem:
		return l.memory(a)
	case x86asm.Reg:
		return l.register(a)
	}
	return false, insn.Undecided
}

// computed is a jump to an address that is not in the instruction.
type computed insn.Computed

// i0 is the number of bnd prefixes, which the decoder need not know.
func i0(b []byte) int {
	if len(b) > 2 && b[0] == 0xf2 {
		return 1
	}
	return 0
}

// memory decides about a jump to an address that stands in memory.
func (l computed) memory(m x86asm.Mem) (away bool, why string) {
	if m.Index == 0 {
		return true, "" // a member, a variable, a slot of the linker's
	}
	if l.Word == nil {
		return false, insn.Undecided
	}
	table := uint64(m.Disp)
	if m.Base != 0 {
		base, ok := l.address(m.Base)
		if !ok && !l.tabled(m.Base) {
			return true, "" // an array of pointers
		}
		if !ok {
			return false, insn.Undecided
		}
		table = base + uint64(m.Disp)
	}
	to, ok := l.Word(table)
	if !ok || to == 0 {
		return false, insn.Undecided
	}
	return !insn.Computed(l).Inside(to), ""
}

// address is what a register was made to point to by the last instruction before that wrote it, if that is known.
func (l computed) address(r x86asm.Reg) (uint64, bool) {
	for i := len(l.Last) - 1; i >= 0; i-- {
		s := l.Last[i]
		x, err := x86asm.Decode(s.Code, 64)
		if err != nil || flows(s.Inst) {
			return 0, false
		}
		if !changes(x, r) {
			continue
		}
		switch src := x.Args[1].(type) {
		case x86asm.Mem:
			if x.Op == x86asm.LEA && src.Base == x86asm.RIP {
				return s.PC + uint64(s.Inst.Len) + uint64(src.Disp), true
			}
		case x86asm.Imm:
			if x.Op == x86asm.MOV {
				return uint64(src), true
			}
		}
		return 0, false
	}
	return 0, false
}

// flows reports whether what stands before an instruction need not have run before it.
func flows(in insn.Inst) bool {
	switch in.Kind {
	case insn.Jump, insn.IndirectJump, insn.Ret, insn.Trap:
		return true
	}
	return false
}

// changes reports whether an instruction writes a general register, of which x86asm.Reg names any part.
func changes(x x86asm.Inst, r x86asm.Reg) bool {
	switch x.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.PUSH, x86asm.BT, x86asm.NOP:
		return false
	case x86asm.CALL:
		return true // for all that is known
	}
	w, ok := x.Args[0].(x86asm.Reg)
	return ok && whole(w) == whole(r)
}

// whole is the 64-bit register that a general register is part of.
func whole(r x86asm.Reg) x86asm.Reg {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return r - x86asm.AL + x86asm.RAX
	case r >= x86asm.AX && r <= x86asm.R15W:
		return r - x86asm.AX + x86asm.RAX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return r - x86asm.EAX + x86asm.RAX
	}
	return r
}

// register decides about a jump to the address in a register, by what came before it.
func (l computed) register(r x86asm.Reg) (away bool, why string) {
	for i := len(l.Last) - 1; i >= 0; i-- {
		s := l.Last[i]
		if flows(s.Inst) {
			break
		}
		x, err := x86asm.Decode(s.Code, 64)
		if err != nil {
			continue // a vector instruction
		}
		if s.Inst.Kind == insn.Call || s.Inst.Kind == insn.IndirectCall {
			break
		}
		if !changes(x, r) {
			continue
		}
		switch x.Op {
		case x86asm.ADD, x86asm.SUB:
			return false, "" // a table of distances
		case x86asm.MOV:
			switch src := x.Args[1].(type) {
			case x86asm.Mem:
				at := l
				at.Last = l.Last[:i]
				if src.Base == x86asm.RIP {
					return true, ""
				}
				return at.memory(src)
			case x86asm.Reg:
				at := l
				at.Last = l.Last[:i]
				return at.register(src)
			}
		case x86asm.LEA, x86asm.POP:
			return true, ""
		}
		return true, ""
	}
	return true, "" // compilers compute an address out of a table right before the jump
}

// tabled reports whether the function makes a register point to a table of addresses of its own.
func (l computed) tabled(r x86asm.Reg) bool {
	found := false
	for _, p := range l.Parts {
		_ = insn.Walk(&Decoder{}, p.Code, p.Addr, func(pc uint64, in insn.Inst) bool {
			if in.Kind != insn.Other || in.Len < 5 {
				return true
			}
			x, err := x86asm.Decode(p.Code[pc-p.Addr:], 64)
			if err != nil || !changes(x, r) {
				return true
			}
			var at uint64
			switch src := x.Args[1].(type) {
			case x86asm.Mem:
				if x.Op != x86asm.LEA || src.Base != x86asm.RIP {
					return true
				}
				at = pc + uint64(in.Len) + uint64(src.Disp)
			case x86asm.Imm:
				at = uint64(src)
			default:
				return true
			}
			to, ok := l.Word(at)
			found = ok && insn.Computed(l).Inside(to)
			return !found
		})
	}
	return found
}
