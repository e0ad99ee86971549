package insn

// maxStored is how many instructions StoredNext looks at.
const maxStored = 16

// StoredNext reports whether the code from pc on, up to the next jump or call, moves a register as it is at pc to the
// size bytes at off behind the stack pointer sp, or to some of them, before anything else is written there. code
// begins at address base. What is not known counts as no such move.
func StoredNext(d Decoder, code []byte, base, pc uint64, sp int, off, size int64) bool {
	at := pc
	for range maxStored {
		if at < base || at-base >= uint64(len(code)) {
			return false
		}
		b := code[at-base:]
		in, ok := d.Decode(b)
		if !ok || in.Kind != Other && in.Kind != Nop && in.Kind != Nop5 {
			return false
		}
		u := d.Frame(b)
		if u.Unknown {
			return false
		}
		if u.Writes && u.Off < off+size && off < u.Off+u.Size {
			return u.Reg >= 0 && keeps(d, code[pc-base:at-base], u.Reg, min(u.Size, size))
		}
		if use, _ := d.Into(b, sp, 8); use != Keeps {
			return false
		}
		at += uint64(in.Len)
	}
	return false
}

// keeps reports whether no instruction of code changes the first size bytes of a register.
func keeps(d Decoder, code []byte, reg int, size int64) bool {
	kept := true
	err := Walk(d, code, 0, func(pc uint64, _ Inst) bool {
		use, _ := d.Into(code[pc:], reg, size)
		kept = use == Keeps
		return kept
	})
	return kept && err == nil
}
