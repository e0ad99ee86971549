package amd64

import "golang.org/x/arch/x86/x86asm"

// byNumber gives the DWARF number for the number that instructions use.
var byNumber = [...]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// Effect implements insn.Decoder.
func (Decoder) Effect(b []byte, reg int) (reads, sets bool) { return effect(b, reg) }

func effect(b []byte, reg int) (reads, sets bool) {
	if reg < 0 || reg >= len(byNumber) {
		return true, false
	}
	in, err := x86asm.Decode(b, 64)
	if err != nil || lockOrRepeat(in) {
		return true, false
	}
	first := 0 // the first operand that is read
	switch in.Op {
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.POP:
		first = 1
	case x86asm.XOR, x86asm.SUB:
		if in.Args[0] == in.Args[1] {
			first = 2 // the way to set a register to 0
		}
	case x86asm.ADD, x86asm.AND, x86asm.OR, x86asm.CMP, x86asm.TEST, x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT,
		x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.PUSH, x86asm.NOP, x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVAPS,
		x86asm.MOVUPS,
		x86asm.MOVAPD, x86asm.PXOR, x86asm.XORPS, x86asm.MOVDQA, x86asm.MOVDQU:
	case x86asm.IMUL:
		if in.Args[1] == nil {
			return true, false // rax and rdx by their place
		}
	default:
		return true, false
	}
	for i, a := range in.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			if is(a.Base, reg) || is(a.Index, reg) {
				return true, false
			}
		case x86asm.Reg:
			if !is(a, reg) {
				continue
			}
			if i >= first {
				return true, false
			}
			if a < x86asm.EAX || a > x86asm.R15 {
				return true, false // a part of 8 or 16 bits leaves the rest
			}
			sets = true
		}
	}
	return false, sets
}

// Takes implements insn.Decoder.
func (Decoder) Takes(b []byte, reg int) bool {
	in, err := x86asm.Decode(b, 64)
	if reg < 0 || reg >= len(byNumber) || err != nil || vex(b) || lockOrRepeat(in) {
		return false
	}
	first := 0 // the first operand that is read
	switch in.Op {
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.MOVD, x86asm.MOVQ:
		first = 1
	case x86asm.ADD, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.SUB:
		_, constant := in.Args[1].(x86asm.Imm)
		switch {
		case in.Args[0] == in.Args[1]:
			return false // xor of a register with itself
		case constant && (in.Op == x86asm.AND || in.Op == x86asm.OR):
			first = 1 // or $-1, and $0
		}
	case x86asm.CMP, x86asm.TEST, x86asm.IMUL, x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.NEG, x86asm.NOT, x86asm.INC,
		x86asm.DEC:
	case x86asm.CDQE, x86asm.CDQ, x86asm.CQO, x86asm.CWDE:
		return reg == byNumber[0]
	default:
		return false
	}
	for i, a := range in.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			if is(a.Base, reg) || is(a.Index, reg) {
				return true
			}
		case x86asm.Reg:
			if i >= first && is(a, reg) {
				return true
			}
		}
	}
	return false
}

// lockOrRepeat reports whether a prefix makes of in something that has more operands than it shows.
func lockOrRepeat(in x86asm.Inst) bool {
	for _, p := range in.Prefix {
		switch p &^ (x86asm.PrefixImplicit | x86asm.PrefixIgnored | x86asm.PrefixInvalid) {
		case x86asm.PrefixLOCK, x86asm.PrefixREP, x86asm.PrefixREPN:
			if p&x86asm.PrefixImplicit == 0 {
				return true
			}
		}
	}
	return false
}

// is reports whether a is the general register reg, or a part of it.
func is(a x86asm.Reg, reg int) bool { return dwarfReg(a) == reg }
