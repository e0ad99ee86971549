package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/compiler/ir"
)

// instr translates one instruction.
func (g *gen) instr(in *ir.Instr) {
	switch in.Op {
	case ir.OpNone, ir.OpBudget:
	case ir.OpMov:
		g.into(g.longs[in.Dst], in.Args[0])
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar:
		g.arith(in)
	case ir.OpDiv, ir.OpMod:
		g.divide(in)
	case ir.OpNeg:
		g.into(g.longs[in.Dst], in.Args[0])
		g.neg(g.longs[in.Dst])
	case ir.OpNot:
		g.into(g.longs[in.Dst], in.Args[0])
		g.aluI(asm.Xor, g.longs[in.Dst], -1)
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt:
		g.test(in)
	case ir.OpReg:
		g.register(in)
	case ir.OpLoad:
		g.memory(in)
	case ir.OpGGet:
		g.globalGet(g.longs[in.Dst], in.Glob)
	case ir.OpGSet:
		g.globalSet(in.Glob, in.Args[0])
	case ir.OpGAdd:
		g.globalAdd(in)
	case ir.OpPrint:
		g.print(in)
	default:
		g.fail("operation %s is not translated", in.Op)
	}
}
