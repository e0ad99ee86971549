package amd64

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/gostap/gostap/compiler/machine/insn"
)

// firstXMM is the DWARF number of xmm0; xmm15 is 32 (System V ABI, figure 3.36).
const firstXMM = 17

// Into implements insn.Decoder.
func (Decoder) Into(b []byte, reg int, size int64) (u insn.Use, from int) {
	known, ok := decode(b)
	if !ok || vex(b) {
		return insn.Changes, 0
	}
	in, err := x86asm.Decode(b, 64)
	if err != nil {
		if known.Kind != insn.Other {
			return insn.Keeps, 0
		}
		return insn.Changes, 0
	}
	switch in.Op {
	case x86asm.CALL, x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.NOP, x86asm.RET, x86asm.JMP,
		x86asm.UCOMISS, x86asm.UCOMISD, x86asm.COMISS, x86asm.COMISD, x86asm.UD2:
		return insn.Keeps, 0
	}
	if n := moved(in); n > 0 {
		dst, ok := in.Args[0].(x86asm.Reg)
		if !ok || dwarfReg(dst) != reg {
			return insn.Keeps, 0
		}
		switch src := in.Args[1].(type) {
		case x86asm.Reg:
			if from := dwarfReg(src); from >= 0 && n >= size {
				return insn.Copies, from
			}
		case x86asm.Mem, nil: // nil: the stack's top
			if n >= size {
				return insn.Loads, 0
			}
		}
		return insn.Changes, 0
	}
	if in.Op == x86asm.IMUL && in.Args[1] == nil {
		in.Op = x86asm.MUL
	}
	if slices.Contains(unnamed[in.Op], reg) {
		return insn.Changes, 0
	}
	writes := 1 // how many of the operands, from the first on, may be written
	switch in.Op {
	case x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG:
		writes = 2
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV:
		writes = 0
	}
	for _, a := range in.Args[:writes] {
		if r, ok := a.(x86asm.Reg); ok && dwarfReg(r) == reg {
			return insn.Changes, 0
		}
	}
	return insn.Keeps, 0
}

// vex reports whether an instruction is one of those behind a VEX, EVEX or XOP prefix, which x86asm does not know.
func vex(b []byte) bool {
	for _, c := range b {
		switch c {
		case 0x64, 0x65, 0x67: // other prefixes in front of it
			continue
		case 0xc4, 0xc5, 0x62, 0x8f:
			return c != 0x8f || len(b) > 1 && b[1]&0x1f >= 8
		}
		return false
	}
	return false
}

// moved is how many bytes the instruction moves as they are, from where its second operand says, or the top of the
// stack, to the first, all of which it sets; 0 if it does something else.
func moved(in x86asm.Inst) int64 {
	switch in.Op {
	case x86asm.MOV, x86asm.POP:
		switch dst, _ := in.Args[0].(x86asm.Reg); {
		case dst >= x86asm.RAX && dst <= x86asm.R15:
			return 8
		case dst >= x86asm.EAX && dst <= x86asm.R15L:
			return 4
		}
	case x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQA, x86asm.MOVDQU:
		return 16
	case x86asm.MOVQ:
		return 8
	case x86asm.MOVD:
		return 4
	case x86asm.MOVSD_XMM, x86asm.MOVSS:
		if _, load := in.Args[1].(x86asm.Mem); load { // a register leaves the rest of the other
			return map[x86asm.Op]int64{x86asm.MOVSD_XMM: 8, x86asm.MOVSS: 4}[in.Op]
		}
	}
	return 0
}

// unnamed are the instructions that change general registers that are not among their operands.
var unnamed = map[x86asm.Op][]int{
	x86asm.MUL: raxRdx, x86asm.DIV: raxRdx, x86asm.IDIV: raxRdx, x86asm.CMPXCHG: raxRdx, x86asm.CMPXCHG8B: raxRdx,
	x86asm.CMPXCHG16B: raxRdx, x86asm.CBW: raxRdx, x86asm.CWDE: raxRdx, x86asm.CDQE: raxRdx, x86asm.CWD: raxRdx,
	x86asm.CDQ: raxRdx, x86asm.CQO: raxRdx, x86asm.XLATB: raxRdx, x86asm.LAHF: raxRdx, x86asm.IN: raxRdx,
	x86asm.CPUID: {0, 1, 2, 3}, x86asm.RDTSC: raxRdx, x86asm.RDTSCP: {0, 1, 2}, x86asm.RDPMC: raxRdx,
	x86asm.RDMSR: raxRdx, x86asm.XGETBV: raxRdx, x86asm.XBEGIN: raxRdx, x86asm.INT: raxRdx,
	x86asm.SYSCALL: {0, 2, 11}, x86asm.SYSENTER: {0, 2, 11}, x86asm.PCMPESTRI: {2}, x86asm.PCMPISTRI: {2},
	x86asm.LOOP: {2}, x86asm.LOOPE: {2}, x86asm.LOOPNE: {2}, x86asm.LEAVE: {6}, x86asm.ENTER: {6},
	x86asm.MOVSB: text, x86asm.MOVSW: text, x86asm.MOVSD: text, x86asm.MOVSQ: text,
	x86asm.STOSB: text, x86asm.STOSW: text, x86asm.STOSD: text, x86asm.STOSQ: text,
	x86asm.LODSB: text, x86asm.LODSW: text, x86asm.LODSD: text, x86asm.LODSQ: text,
	x86asm.CMPSB: text, x86asm.CMPSW: text, x86asm.CMPSD: text, x86asm.CMPSQ: text,
	x86asm.SCASB: text, x86asm.SCASW: text, x86asm.SCASD: text, x86asm.SCASQ: text,
	x86asm.INSB: text, x86asm.INSW: text, x86asm.INSD: text, x86asm.OUTSB: text, x86asm.OUTSW: text, x86asm.OUTSD: text,
}

var (
	raxRdx = []int{0, 1}
	text   = []int{0, 2, 4, 5} // what instructions on bytes in a row use: rax, rcx, rsi, rdi
)

// dwarfReg is the DWARF number of a general or vector register, or of the one that r is a part of; -1 for others.
func dwarfReg(r x86asm.Reg) int {
	switch {
	case r >= x86asm.X0 && r <= x86asm.X15:
		return firstXMM + int(r-x86asm.X0)
	case r >= x86asm.RAX && r <= x86asm.R15:
		return byNumber[r-x86asm.RAX]
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return byNumber[r-x86asm.EAX]
	case r >= x86asm.AX && r <= x86asm.R15W:
		return byNumber[r-x86asm.AX]
	case r >= x86asm.AL && r <= x86asm.BL:
		return byNumber[r-x86asm.AL]
	case r >= x86asm.AH && r <= x86asm.BH:
		return byNumber[r-x86asm.AH]
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return byNumber[int(r-x86asm.SPB)+4]
	}
	return -1
}
