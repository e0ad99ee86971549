package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

var aluOps = map[ir.Op]asm.ALUOp{
	ir.OpAdd: asm.Add, ir.OpSub: asm.Sub, ir.OpMul: asm.Mul, ir.OpAnd: asm.And, ir.OpOr: asm.Or, ir.OpXor: asm.Xor,
	ir.OpShl: asm.LSh, ir.OpShr: asm.RSh, ir.OpSar: asm.ArSh,
}

var jumpOps = map[ir.Op]asm.JumpOp{
	ir.OpEq: asm.JEq, ir.OpNe: asm.JNE, ir.OpLt: asm.JSLT, ir.OpLe: asm.JSLE, ir.OpGt: asm.JSGT, ir.OpGe: asm.JSGE,
	ir.OpULt: asm.JLT,
}

// swapped gives the comparison with its sides exchanged.
var swapped = map[asm.JumpOp]asm.JumpOp{
	asm.JEq: asm.JEq, asm.JNE: asm.JNE, asm.JSLT: asm.JSGT, asm.JSGT: asm.JSLT, asm.JSLE: asm.JSGE, asm.JSGE: asm.JSLE,
	asm.JLT: asm.JGT,
}

func fits(v ir.Val) bool { return v.Kind == ir.ValInt && v.Int == int64(int32(v.Int)) }

// arith writes dst = a op b for the operations that the machine has.
func (g *gen) arith(in *ir.Instr) {
	dst, op := g.Longs[in.Dst], aluOps[in.Op]
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
		d = g.Reg()
	}
	g.Into(d, a)
	switch {
	case fits(b):
		g.AluI(op, d, b.Int)
	case shift:
		g.Alu(op, d, g.BinI(asm.And, g.Long(b), 63))
	default:
		g.Alu(op, d, g.Long(b))
	}
	if d != dst {
		g.Mov(dst, d)
	}
}

// divide does signed division with unsigned instructions: cpu v4's signed ones came with Linux 6.6.
// MinInt64 has its magnitude as an unsigned number, so MinInt64 / -1 wraps as it should.
func (g *gen) divide(in *ir.Instr) {
	dst := g.Longs[in.Dst]
	abs, sign := g.Magnitude(g.Long(in.Args[0]))
	mod := in.Op == ir.OpMod
	op := asm.Div
	if mod {
		op = asm.Mod
	}
	b := in.Args[1]
	switch {
	case b.Kind == ir.ValInt && b.Int > 0:
		g.AluI(op, abs, b.Int)
	case b.Kind == ir.ValInt:
		g.Alu(op, abs, g.Imm(-b.Int)) // MinInt64 stays itself: its magnitude as an unsigned number
		if !mod {
			g.AluI(asm.Xor, sign, -1)
		}
	default:
		m, s := g.Magnitude(g.Long(b))
		g.Alu(op, abs, m)
		if !mod {
			g.Alu(asm.Xor, sign, s)
		}
	}
	g.Alu(asm.Xor, abs, sign)
	g.Alu(asm.Sub, abs, sign)
	g.Mov(dst, abs)
}

// compare branches on a comparison.
func (g *gen) compare(in *ir.Instr, then, els *mach.Block) {
	op, a, b := jumpOps[in.Op], in.Args[0], in.Args[1]
	if a.Kind == ir.ValInt && b.Kind != ir.ValInt {
		a, b, op = b, a, swapped[op]
	}
	if fits(b) {
		g.CondI(op, g.Long(a), b.Int, then, els)
		return
	}
	g.Cond(op, g.Long(a), g.Long(b), then, els)
}
