package sel

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// gen translates one handler.
type gen struct {
	code
	u     *Unit
	h     *Handler
	fn    *ir.Func
	funcs []*mach.Func

	ctx    mach.Reg   // the program's context
	longs  []mach.Reg // by ir.Reg
	uses   []int      // how often each ir.Reg is read
	blocks []*mach.Block
	bi     int // the block being translated

	end    *mach.Block // the handler is done: output goes out, scratch memory is given back
	report *mach.Block // an error nobody caught: reported, then end
	faults struct {
		code, a, b mach.Reg // ir.Code | pos << 32, and the arguments
	}
	plan runPlan
	err  error
}

// runPlan is what a look over the whole handler found out about it.
type runPlan struct {
	budget  bool // statements are counted
	prints  int  // most print statements on one run: 0, 1, or 2 for more
	fails   bool // something can raise an error
	loops   bool
	cookie  bool // sites are told apart
	pc      bool // the cookie carries the site's pc
	canMiss bool
}

func newGen(u *Unit, h *Handler) *gen {
	g := &gen{u: u, h: h, fn: h.Body}
	g.f = mach.New(h.Name)
	g.f.Params = 1
	g.funcs = []*mach.Func{g.f}
	g.longs = make([]mach.Reg, len(g.fn.Regs))
	for i, r := range g.fn.Regs {
		g.longs[i] = mach.None
		if r.Type != types.String {
			g.longs[i] = g.reg()
		}
	}
	return g
}

func (g *gen) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *gen) run() error {
	g.look()
	g.set(g.block())
	g.end = g.block()
	g.prologue()
	g.blocks = make([]*mach.Block, len(g.fn.Blocks))
	for i := range g.fn.Blocks {
		g.blocks[i] = g.block()
	}
	g.jump(g.blocks[0])
	for i, b := range g.fn.Blocks {
		g.bi = i
		g.set(g.blocks[i])
		g.body(b)
	}
	g.set(g.end)
	g.epilogue()
	if g.report != nil {
		g.set(g.report)
		g.reportError()
		g.jump(g.end)
	}
	return g.err
}

// prologue decides whether the hit counts: the session is on, the process is the right one, the
// probe's condition holds.
func (g *gen) prologue() {
	g.ctx = g.copy(mach.R1)
	g.faults.code, g.faults.a, g.faults.b = g.reg(), g.reg(), g.reg()
	out := g.end
	if g.u.CanStop {
		ctl := g.mapVal(plan.MapControl, 0)
		st := g.get(ctl, plan.CtlState, asm.Word)
		g.unlessI(asm.JNE, st, int64(wire.Running), out)
	}
	g.filter(out)
	if c := g.u.P.Probes[g.h.Probe].Cond; c >= 0 {
		v := g.reg()
		g.globalGet(v, c)
		g.unlessI(asm.JEq, v, 0, out)
	}
}

// filter drops hits of processes that the site is not for. The kernel's own filter by pid is not
// relied on: before 6.10 uprobe_multi compared thread ids.
func (g *gen) filter(out *mach.Block) {
	s := g.h.Sites[0]
	if s.Kind.OnHost() || s.PID == 0 && !s.Target {
		return
	}
	id := g.call(asm.FnGetCurrentPidTgid)
	g.aluI(asm.RSh, id, 32)
	if s.PID != 0 {
		g.unlessI(asm.JNE, id, int64(s.PID), out)
		return
	}
	want := g.get(g.mapVal(plan.MapControl, 0), plan.CtlTarget, asm.Word)
	g.unless(asm.JNE, id, want, out)
}

func (g *gen) epilogue() {
	g.movI(mach.R0, 0)
	g.cur.Term = mach.Term{Kind: mach.Exit}
}

func (g *gen) body(b *ir.Block) {
	for i := range b.Instrs {
		in := &b.Instrs[i]
		g.pos = in.Pos
		if g.fused(b, i) {
			break // a comparison that the branch below does by itself
		}
		g.instr(in)
		if g.err != nil {
			return
		}
	}
	g.pos = b.Term.Pos
	g.term(b)
}

// fused reports whether the instruction at i is a comparison that only the branch behind it looks at.
func (g *gen) fused(b *ir.Block, i int) bool {
	in := &b.Instrs[i]
	return i == len(b.Instrs)-1 && b.Term.Kind == ir.TermBranch && b.Term.Cond.IsReg() && in.Dst == b.Term.Cond.Reg &&
		in.Op >= ir.OpEq && in.Op <= ir.OpULt && g.uses[in.Dst] == 1
}

func (g *gen) term(b *ir.Block) {
	t := &b.Term
	switch t.Kind {
	case ir.TermJump:
		g.jump(g.blocks[t.Then])
	case ir.TermBranch:
		g.branch(b)
	case ir.TermEnd, ir.TermReturn:
		g.jump(g.end)
	case ir.TermFail:
		var a, x mach.Reg = mach.None, mach.None
		if len(t.Args) > 0 {
			a = g.long(t.Args[0])
		}
		if len(t.Args) > 1 {
			x = g.long(t.Args[1])
		}
		g.raise(t.Code, a, x, t.OnErr)
	case ir.TermSkip:
		g.count(t.Cause)
		g.jump(g.end)
	}
}

func (g *gen) branch(b *ir.Block) {
	t := &b.Term
	then, els := g.blocks[t.Then], g.blocks[t.Else]
	if t.Cond.Kind == ir.ValInt {
		if t.Cond.Int == 0 {
			then = els
		}
		g.jump(then)
		return
	}
	if n := len(b.Instrs); n > 0 && g.fused(b, n-1) {
		g.compare(&b.Instrs[n-1], then, els)
		return
	}
	g.condI(asm.JNE, g.longs[t.Cond.Reg], 0, then, els)
}

// long gives the value of a Long operand in a register that must not be written.
func (g *gen) long(v ir.Val) mach.Reg {
	switch v.Kind {
	case ir.ValReg:
		return g.longs[v.Reg]
	case ir.ValInt:
		return g.imm(v.Int)
	}
	g.fail("operand is not a number")
	return g.imm(0)
}

// look goes over the handler before it is translated.
func (g *gen) look() {
	g.uses = make([]int, len(g.fn.Regs))
	read := func(v ir.Val) {
		if v.IsReg() {
			g.uses[v.Reg]++
		}
	}
	for _, b := range g.fn.Blocks {
		for i := range b.Instrs {
			for _, a := range b.Instrs[i].Args {
				read(a)
			}
		}
		read(b.Term.Cond)
		for _, a := range b.Term.Args {
			read(a)
		}
	}
}

// cookies gives each site's cookie.
func (g *gen) cookies() []uint64 {
	out := make([]uint64, len(g.h.Sites))
	for i, s := range g.h.Sites {
		out[i] = cookie(i, s, g.plan)
	}
	return out
}

func cookie(i int, s *probe.Site, p runPlan) uint64 {
	switch {
	case p.pc:
		return uint64(i)<<48 | s.At.PC
	case p.cookie:
		return uint64(i)
	}
	return 0
}

func (g *gen) scratchSize() int { return 0 }
