package amd64

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// Kept implements insn.Decoder.
func (Decoder) Kept(code []byte, base, pc uint64, reg int) (out []insn.Kept) {
	in := map[int]insn.Kept{} // what registers have of the object
	gone := false             // reg points to it no more
	for range maxField {
		if pc < base || pc-base >= uint64(len(code)) {
			return out
		}
		b := code[pc-base:]
		known, ok := decode(b)
		if !ok || known.Kind != insn.Other && known.Kind != insn.Push && known.Kind != insn.Nop &&
			known.Kind != insn.Nop5 {
			return out
		}
		x, err := x86asm.Decode(b, 64)
		if _, more := unnamed[x.Op]; err != nil || vex(b) || lockOrRepeat(x) || more ||
			x.Op == x86asm.XCHG || x.Op == x86asm.XADD {
			return out
		}
		m, store := x.Args[0].(x86asm.Mem)
		if store && stores(x) && m.Base == x86asm.RSP && m.Index == 0 {
			if r, ok := x.Args[1].(x86asm.Reg); ok && (r < x86asm.AH || r > x86asm.BH) {
				if k, ok := in[dwarfReg(r)]; ok && int64(x.MemBytes) == k.Size {
					k.PC, k.Slot = pc, m.Disp
					out = append(out, k)
				}
			}
		}
		r, ok := x.Args[0].(x86asm.Reg)
		if !ok || store || x.Op == x86asm.CMP || x.Op == x86asm.TEST || known.Kind != insn.Other {
			pc += uint64(known.Len)
			continue
		}
		delete(in, dwarfReg(r))
		if n, ok := x.Args[1].(x86asm.Imm); ok && !gone && is(r, reg) && x.Op == x86asm.ADD && x.DataSize == 64 {
			in[reg] = insn.Kept{Off: int64(n), Size: 8, Address: true}
		}
		if m, ok := x.Args[1].(x86asm.Mem); ok && !gone && is(m.Base, reg) && m.Index == 0 {
			switch {
			case x.Op == x86asm.LEA:
				in[dwarfReg(r)] = insn.Kept{Off: m.Disp, Size: 8, Address: true}
			case moved(x) > 0 || x.Op == x86asm.MOVZX:
				in[dwarfReg(r)] = insn.Kept{Off: m.Disp, Size: int64(x.MemBytes)}
			}
		}
		gone = gone || is(r, reg) // what is in registers can still be stored
		pc += uint64(known.Len)
	}
	return out
}
