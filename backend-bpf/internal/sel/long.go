package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

var aluOps = map[ir.Op]asm.ALUOp{
	ir.OpAdd: asm.Add, ir.OpSub: asm.Sub, ir.OpMul: asm.Mul, ir.OpAnd: asm.And, ir.OpOr: asm.Or, ir.OpXor: asm.Xor,
	ir.OpShl: asm.LSh, ir.OpShr: asm.RSh, ir.OpSar: asm.ArSh,
}

var jumpOps = map[ir.Op]asm.JumpOp{
	ir.OpEq: asm.JEq, ir.OpNe: asm.JNE, ir.OpLt: asm.JSLT, ir.OpLe: asm.JSLE, ir.OpGt: asm.JSGT, ir.OpGe: asm.JSGE, ir.OpULt: asm.JLT,
}

// swapped gives the comparison with its sides exchanged.
var swapped = map[asm.JumpOp]asm.JumpOp{
	asm.JEq: asm.JEq, asm.JNE: asm.JNE, asm.JSLT: asm.JSGT, asm.JSGT: asm.JSLT, asm.JSLE: asm.JSGE, asm.JSGE: asm.JSLE, asm.JLT: asm.JGT,
}

func fits(v ir.Val) bool { return v.Kind == ir.ValInt && v.Int == int64(int32(v.Int)) }

// arith writes dst = a op b for the operations that the machine has.
func (g *gen) arith(in *ir.Instr) {
	dst, op := g.longs[in.Dst], aluOps[in.Op]
	a, b := in.Args[0], in.Args[1]
	switch in.Op {
	case ir.OpAdd, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor:
		if a.Kind == ir.ValInt || b.IsReg() && b.Reg == in.Dst && !(a.IsReg() && a.Reg == in.Dst) {
			a, b = b, a
		}
	}
	shift := in.Op == ir.OpShl || in.Op == ir.OpShr || in.Op == ir.OpSar
	if b.Kind == ir.ValInt && shift {
		b.Int &= 63
	}
	// dst may be b as well, so the result is made aside unless that is plainly unneeded.
	d := dst
	if b.IsReg() && b.Reg == in.Dst {
		d = g.reg()
	}
	g.into(d, a)
	switch {
	case fits(b):
		g.aluI(op, d, b.Int)
	case shift:
		g.alu(op, d, g.binI(asm.And, g.long(b), 63))
	default:
		g.alu(op, d, g.long(b))
	}
	if d != dst {
		g.mov(dst, d)
	}
}

// oneOf sets dst to a constant on one of several ways that give it different values. Where Linux 6.1 has such a
// number on the stack, it takes the slot of a known number and that of an unknown one for different things
// and walks what is behind for each, so n such numbers make 2^n ways: it is not told that this one is known.
func (g *gen) oneOf(dst mach.Reg, v int64) {
	if g.u.Feat.MayGoto {
		g.movI(dst, v)
		return
	}
	g.load(dst, g.mapVal(plan.MapControl, 0), plan.CtlZero, asm.DWord)
	if v != 0 {
		g.aluI(asm.Add, dst, v)
	}
}

// into sets dst to a Long operand.
func (g *gen) into(dst mach.Reg, v ir.Val) {
	if v.Kind == ir.ValInt {
		g.movI(dst, v.Int)
		return
	}
	if r := g.long(v); r != dst {
		g.mov(dst, r)
	}
}

// magnitude gives v's absolute value and a register that is all ones where v is negative.
func (g *gen) magnitude(v mach.Reg) (abs, sign mach.Reg) {
	sign = g.binI(asm.ArSh, v, 63)
	abs = g.bin(asm.Xor, v, sign)
	g.alu(asm.Sub, abs, sign)
	return abs, sign
}

// divide does signed division with unsigned instructions: cpu v4's signed ones came with Linux 6.6.
// MinInt64 has its magnitude as an unsigned number, so MinInt64 / -1 wraps as it should.
func (g *gen) divide(in *ir.Instr) {
	dst := g.longs[in.Dst]
	abs, sign := g.magnitude(g.long(in.Args[0]))
	mod := in.Op == ir.OpMod
	op := asm.Div
	if mod {
		op = asm.Mod
	}
	b := in.Args[1]
	switch {
	case b.Kind == ir.ValInt && b.Int > 0:
		g.aluI(op, abs, b.Int)
	case b.Kind == ir.ValInt:
		g.alu(op, abs, g.imm(-b.Int)) // MinInt64 stays itself: its magnitude as an unsigned number
		if !mod {
			g.aluI(asm.Xor, sign, -1)
		}
	default:
		m, s := g.magnitude(g.long(b))
		g.alu(op, abs, m)
		if !mod {
			g.alu(asm.Xor, sign, s)
		}
	}
	g.alu(asm.Xor, abs, sign)
	g.alu(asm.Sub, abs, sign)
	g.mov(dst, abs)
}

// compare branches on a comparison.
func (g *gen) compare(in *ir.Instr, then, els *mach.Block) {
	op, a, b := jumpOps[in.Op], in.Args[0], in.Args[1]
	if a.Kind == ir.ValInt && b.Kind != ir.ValInt {
		a, b, op = b, a, swapped[op]
	}
	if fits(b) {
		g.condI(op, g.long(a), b.Int, then, els)
		return
	}
	g.cond(op, g.long(a), g.long(b), then, els)
}
