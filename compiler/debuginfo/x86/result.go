package x86

import "golang.org/x/arch/x86/x86asm"

// SetForReturn reports whether some return in code finds a value in DWARF register reg that was put there for it:
// by a move between registers or a constant, with nothing in between that reads it. A compiler writes no such
// instruction for a function that returns nothing there, while it may leave what a load, a call or a calculation
// for its flags gave. slots takes in loads of 8 bytes from the function's frame, to which the address of a result was
// moved. code begins at address pc.
func SetForReturn(code []byte, pc uint64, reg int, slots bool) bool {
	set, zeroed := false, false
	found := false
	err := Walk(code, pc, func(at uint64, in Inst) bool {
		switch in.Kind {
		case Ret:
			found = set
			set, zeroed = false, false
		case Nop, Nop5:
		case Other, Push:
			x, err := x86asm.Decode(code[at-pc:], 64)
			if err != nil || lockOrRepeat(x) {
				set = false
				break
			}
			clears := (x.Op == x86asm.XOR || x.Op == x86asm.SUB) && x.Args[0] == x.Args[1]
			if r, ok := x.Args[0].(x86asm.Reg); ok && is(r, reg) && (clears || moves(x) || slots && reloads(x)) {
				set = !clears || !zeroed // zeroed: all registers may be, for safety (-fzero-call-used-regs)
				break
			}
			zeroed = zeroed || clears
			if reads, sets := effect(code[at-pc:], reg); reads || sets {
				set = false
			}
		default:
			set, zeroed = false, false
		}
		return !found
	})
	return err == nil && found
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
