package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/types"
)

// instr translates one instruction.
func (g *gen) instr(in *ir.Instr) {
	if in.Dst != ir.NoReg && g.fn.Regs[in.Dst].Type == types.String && g.strs[in.Dst] == nil {
		if _, ok := g.consts[in.Dst]; ok {
			return
		}
	}
	switch in.Op {
	case ir.OpNone:
		if in.Name == place.NestCheck {
			g.subs.nestCheck(in)
		}
	case ir.OpMov:
		switch dst := g.longs[in.Dst]; {
		case dst == mach.None:
			g.assign(g.strs[in.Dst], g.strOf(in.Args[0]))
		case in.Args[0].Kind == ir.ValInt && g.defs[in.Dst] > 1:
			g.oneOf(dst, in.Args[0].Int)
		default:
			g.into(dst, in.Args[0])
		}
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
		g.truth(in.Dst, func(yes, no *mach.Block) { g.compare(in, yes, no) })
	case ir.OpCat:
		g.concat(g.strs[in.Dst], g.strOf(in.Args[0]), g.strOf(in.Args[1]))
	case ir.OpSCmp:
		g.order(g.longs[in.Dst], g.strOf(in.Args[0]), g.strOf(in.Args[1]))
	case ir.OpMatch:
		g.match(in)
	case ir.OpReg:
		g.register(in)
	case ir.OpTraceArg:
		g.traceArg(in)
	case ir.OpTLS:
		g.tls(in)
	case ir.OpBias:
		g.bias(in)
	case ir.OpLoad:
		g.memory(in)
	case ir.OpStore:
		g.storeMemory(in)
	case ir.OpSetReg:
		g.setRegister(in)
	case ir.OpSite:
		g.site(in)
	case ir.OpGGet:
		if g.longs[in.Dst] != mach.None {
			g.globalGet(g.longs[in.Dst], in.Glob)
		} else {
			g.assign(g.strs[in.Dst], g.globalStr(in.Glob))
		}
	case ir.OpGSet:
		g.globalSet(in.Glob, in.Args[0])
	case ir.OpGAdd:
		g.globalAdd(in)
	case ir.OpMGet:
		g.mapGet(in)
	case ir.OpMSet:
		g.mapSet(in)
	case ir.OpMAdd:
		g.mapAdd(in)
	case ir.OpMHas:
		g.mapHas(in)
	case ir.OpMDel:
		g.mapDel(in)
	case ir.OpMClear:
		g.clear(in)
	case ir.OpSAdd:
		g.statAdd(in)
	case ir.OpSGet:
		g.statGet(in)
	case ir.OpPrint:
		g.print(in)
	case ir.OpSprint:
		g.sprint(in)
	case ir.OpIntr:
		g.intrinsic(in)
	case ir.OpBudget:
		g.spend(in.N)
	case ir.OpLock:
		g.take(int(in.N))
	case ir.OpUnlock:
		g.unlock()
		g.lock = -1
	case ir.OpErrMsg:
		if dst := g.strs[in.Dst]; dst != nil {
			g.afterwards(func() { g.message(dst) })
		}
	case ir.OpReport:
		g.afterwards(g.reportError)
	default:
		g.fail("operation %s is not translated", in.Op)
	}
}
