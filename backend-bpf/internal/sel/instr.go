package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/types"
)

// instr translates one instruction.
func (g *gen) instr(in *ir.Instr) {
	if in.Dst != ir.NoReg && g.Fn.Regs[in.Dst].Type == types.String && g.Strs[in.Dst] == nil {
		if _, ok := g.Consts[in.Dst]; ok {
			return
		}
	}
	switch in.Op {
	case ir.OpNone:
		if in.Name == partition.NestCheck {
			g.subs.nestCheck(in)
		}
	case ir.OpMov:
		switch dst := g.Longs[in.Dst]; {
		case dst == mach.None:
			g.str.Assign(g.Strs[in.Dst], g.StrOf(in.Args[0]))
		case in.Args[0].Kind == ir.ValInt && g.Defs[in.Dst] > 1:
			g.OneOf(dst, in.Args[0].Int)
		default:
			g.Into(dst, in.Args[0])
		}
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar:
		g.arith(in)
	case ir.OpDiv, ir.OpMod:
		g.divide(in)
	case ir.OpNeg:
		g.Into(g.Longs[in.Dst], in.Args[0])
		g.Neg(g.Longs[in.Dst])
	case ir.OpNot:
		g.Into(g.Longs[in.Dst], in.Args[0])
		g.AluI(asm.Xor, g.Longs[in.Dst], -1)
	case ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt:
		g.truth(in.Dst, func(yes, no *mach.Block) { g.compare(in, yes, no) })
	case ir.OpCat:
		g.str.Concat(g.Strs[in.Dst], g.StrOf(in.Args[0]), g.StrOf(in.Args[1]))
	case ir.OpSCmp:
		g.str.Order(g.Longs[in.Dst], g.StrOf(in.Args[0]), g.StrOf(in.Args[1]))
	case ir.OpMatch:
		g.str.Match(in)
	case ir.OpReg:
		g.hook.Register(in)
	case ir.OpTraceArg:
		g.hook.TraceArg(in)
	case ir.OpTLS:
		g.task.TLS(in)
	case ir.OpBias:
		g.hook.Bias(in)
	case ir.OpLoad:
		g.memory(in)
	case ir.OpStore:
		g.storeMemory(in)
	case ir.OpSetReg:
		g.hook.SetRegister(in)
	case ir.OpSite:
		g.hook.Site(in)
	case ir.OpGGet:
		if g.Longs[in.Dst] != mach.None {
			g.arrays.GlobalGet(g.Longs[in.Dst], in.Glob)
		} else {
			g.str.Assign(g.Strs[in.Dst], g.arrays.GlobalStr(in.Glob))
		}
	case ir.OpGSet:
		g.arrays.GlobalSet(in.Glob, in.Args[0])
	case ir.OpGAdd:
		g.arrays.GlobalAdd(in)
	case ir.OpMGet:
		g.arrays.MapGet(in)
	case ir.OpMSet:
		g.arrays.MapSet(in)
	case ir.OpMAdd:
		g.arrays.MapAdd(in)
	case ir.OpMHas:
		g.arrays.MapHas(in)
	case ir.OpMDel:
		g.arrays.MapDel(in)
	case ir.OpMClear:
		g.arrays.Clear(in)
	case ir.OpSAdd:
		g.arrays.StatAdd(in)
	case ir.OpSGet:
		g.arrays.StatGet(in)
	case ir.OpPrint:
		g.rec.Print(in)
	case ir.OpSprint:
		g.str.Sprint(in)
	case ir.OpIntr:
		g.intrinsic(in)
	case ir.OpBudget:
		g.spend(in.N)
	case ir.OpLock:
		g.take(int(in.N))
	case ir.OpUnlock:
		g.unlock()
		g.Lock = -1
	case ir.OpErrMsg:
		if dst := g.Strs[in.Dst]; dst != nil {
			g.afterwards(func() { g.message(dst) })
		}
	case ir.OpReport:
		g.afterwards(g.reportError)
	default:
		g.Fail("operation %s is not translated", in.Op)
	}
}
