package x86

import (
	"golang.org/x/arch/x86/x86asm"
)

// dwarfRegs are the names of the general registers by their number in DWARF (System V ABI, figure 3.36).
var dwarfRegs = [...]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
	"r13", "r14", "r15"}

// byNumber gives the DWARF number for the number that instructions use.
var byNumber = [...]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// RegName names a general register by its DWARF number, "" if it is none.
func RegName(reg int) string {
	if reg < 0 || reg >= len(dwarfRegs) {
		return ""
	}
	return dwarfRegs[reg]
}

// maxUnread is how many instructions Unread looks at.
const maxUnread = 64

// Unread reports whether every way through code from pc on overwrites DWARF register reg before an
// instruction reads it. code begins at address base. It follows direct jumps; what is not known is
// taken for a reader: calls, other jumps, ways out of code, and instructions that are not common. A return counts as
// one unless freed says that the caller has no use for reg.
func Unread(code []byte, base, pc uint64, reg int, freed bool) bool {
	if RegName(reg) == "" {
		return false
	}
	left := maxUnread
	seen := map[uint64]bool{}
	todo := []uint64{pc}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !seen[at] {
			seen[at] = true
			if left--; left < 0 || at < base || at-base >= uint64(len(code)) {
				return false
			}
			b := code[at-base:]
			in, ok := decode(b)
			if !ok {
				return false
			}
			next := at + uint64(in.Len)
			switch in.Kind {
			case Nop, Nop5:
				at = next
				continue
			case Jump:
				at = in.Target(at)
				continue
			case CondJump:
				todo = append(todo, in.Target(at))
				at = next
				continue
			case Ret:
				if !freed {
					return false
				}
				continue // seen: this way has come to its end
			case Other, Push:
			default:
				return false
			}
			reads, sets := effect(b, reg)
			if reads {
				return false
			}
			if sets {
				break
			}
			at = next
		}
	}
	return true
}

// effect says what the instruction at the beginning of b does with a register: whether it reads it, and whether it
// sets all of it.
func effect(b []byte, reg int) (reads, sets bool) {
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
