package insn

// SetForReturn reports whether some return in code finds a value in DWARF register reg that was put there for it:
// by a move between registers or a constant, with nothing in between that reads it. A compiler writes no such
// instruction for a function that returns nothing there, while it may leave what a load, a call or a calculation
// for its flags gave. slots takes in loads of 8 bytes from the function's frame, to which the address of a result was
// moved. code begins at address pc.
func SetForReturn(d Decoder, code []byte, pc uint64, reg int, slots bool) bool {
	set, zeroed := false, false
	found := false
	err := Walk(d, code, pc, func(at uint64, in Inst) bool {
		switch in.Kind {
		case Ret:
			found = set
			set, zeroed = false, false
		case Nop, Nop5:
		case Other, Push:
			b := code[at-pc:]
			to, how, ok := d.Puts(b)
			if !ok {
				set = false
				break
			}
			clears := how == PutsZero
			if to == reg && (clears || how == PutsMove || slots && how == PutsLoad) {
				set = !clears || !zeroed // zeroed: all registers may be, for safety (-fzero-call-used-regs)
				break
			}
			zeroed = zeroed || clears
			if reads, sets := d.Effect(b, reg); reads || sets {
				set = false
			}
		default:
			set, zeroed = false, false
		}
		return !found
	})
	return err == nil && found
}
