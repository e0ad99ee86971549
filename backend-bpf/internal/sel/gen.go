package sel

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// gen translates one handler.
type gen struct {
	code
	fun
	u     *Unit
	h     *Handler
	funcs []*mach.Func

	look    look
	frame   frame
	subs    *subs
	ctx     mach.Reg // the program's context
	outAt   int      // of the output area in scratch memory
	siteNum mach.Reg
	budget  mach.Reg

	out     *mach.Block         // leave without having begun
	end     *mach.Block         // the handler is done: output goes out, scratch memory is given back
	stopped map[int]*mach.Block // the kernel ended a loop, by the lock that is held
	report  *mach.Block         // an error nobody caught: reported, then end
	faults  faults
	// uncaught ends the current block with an error that nobody in the current function catches.
	uncaught func(c ir.Code)
	later    []func()   // code to be written when the rest is
	sent     []wire.Arg // of a deferred handler's record
	steps    bool       // the body is made of steps (step.go)
	record   bool       // the context is an event's record (perfevent.go)
	sleeps   bool       // the program may wait for pages of the traced program
	heavy    bool       // what the handler takes is timed (overload.go)
	began    mach.Reg   // when the hit began, None if it is not timed

	readRegs uint32 // registers of the probed context that are looked at, a bit for each DWARF number
	step     *stepper
	err      error

	spinners map[int]string // functions that try for a lock, by its class
}

// level says how much of the stack a translation may use. When a handler does not fit, it is translated again
// with less on it.
type level struct{ stackMax, stackLeft int }

var levels = []level{{64, 160}, {16, 48}, {0, 0}}

func newGen(u *Unit, h *Handler, lv level, steps bool) *gen {
	g := &gen{u: u, h: h, began: mach.None, heavy: heavyHandler(u, h)}
	g.lock = -1
	g.f = mach.New(h.Name)
	g.f.Params = 1
	if g.steps = steps; steps {
		g.f = mach.New(h.Name + "_step")
		g.f.Params, g.f.Callback, g.f.Global = 2, !u.Feat.MayGoto, u.Feat.MayGoto
		lv.stackLeft = 0 // the stack of a step does not last
	}
	g.ctx = g.reg()
	g.funcs = []*mach.Func{g.f}
	g.frame.stackMax, g.frame.stackLeft = lv.stackMax, lv.stackLeft
	g.frame.scratch = g.reg()
	g.siteNum = mach.None
	g.record = g.recorded()
	g.budget = g.reg()
	g.fun = g.newFun(h.Body)
	g.uncaught = g.notCaught
	return g
}

// newFun prepares the translation of a function.
func (g *gen) newFun(f *ir.Func) fun {
	u := fun{fn: f, consts: map[ir.Reg]string{}, lazies: map[ir.Reg]*lazy{}, longs: make([]mach.Reg, len(f.Regs)), strs: make([]*strVar, len(f.Regs))}
	for i, r := range f.Regs {
		u.longs[i] = mach.None
		if r.Type != types.String {
			u.longs[i] = g.reg()
		}
	}
	u.held = g.u.P.HeldLocks(f)
	return u
}

func (g *gen) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *gen) run() error {
	survey{g}.lookOver()
	if g.look.loops {
		// What is on the stack would tell the verifier the ways to a loop apart.
		g.frame.stackLeft = 0
	}
	g.prepareSubs()
	g.set(g.block())
	g.out, g.end = g.block(), g.block()
	var begin *mach.Block
	body := g.block()
	if g.steps {
		loops{g}.startSteps()
		begin = g.cur
	} else {
		g.prologue()
		begin = g.block()
		g.jump(begin)
	}
	g.set(body)
	g.subs.enter()
	survey{g}.homes()
	g.jump(g.blocks[0])
	g.writeBlocks()
	g.subs.write()
	if g.err != nil {
		return g.err
	}
	loops{g}.prepareStops()
	for _, write := range g.later {
		write()
	}
	g.lock = -1
	if g.report != nil {
		g.set(g.report)
		g.reportError()
		g.jump(g.end)
	}
	g.set(g.end)
	g.epilogue()
	g.subs.dispatcher()
	g.lock = -1
	// What the body turned out to need is set up in front of it.
	g.set(begin)
	g.setup()
	g.jump(body)
	if err := (loops{g}).closeLoops(g.f); err != nil || g.err != nil {
		return errors.Join(g.err, err)
	}
	g.subs.placeStack()
	if g.steps {
		driver := loops{g}.driver(g.f) // which may add a function
		g.funcs = append([]*mach.Func{driver}, g.funcs...)
	}
	return g.err
}

// writeBlocks translates the blocks of the current function.
func (g *gen) writeBlocks() {
	for _, i := range g.inOrder() {
		g.set(g.blocks[i])
		g.lock = g.held[i]
		g.body(i, g.fn.Blocks[i])
		if g.err != nil {
			return
		}
	}
}

// prologue decides whether the hit counts: the session is on, the process is the right one, the
// probe's condition holds.
func (g *gen) prologue() {
	g.ctx = g.reg()
	g.mov(g.ctx, mach.R1)
	// A disarmed probe stays in place, since its condition may change with every hit of another: it goes no further than this.
	if c := g.u.P.Probes[g.h.Probe].Cond; c >= 0 {
		v := g.reg()
		g.globalGet(v, c)
		g.unlessI(asm.JEq, v, 0, g.out)
	}
	if g.u.CanStop {
		ctl := g.mapVal(plan.MapControl, 0)
		st := g.get(ctl, plan.CtlState, asm.Word)
		g.unlessI(asm.JNE, st, int64(wire.Running), g.out)
	}
	g.wanted(g.out)
	g.filter(g.out)
	g.counted(g.out)
	if g.u.Fired && g.h.Probe < plan.MaxFired {
		g.storeI(g.mapVal(plan.MapControl, 0), plan.CtlFired+g.h.Probe, 1, asm.Byte)
	}
	g.clockIn()
}

// setup gets what the handler needs while it runs.
func (g *gen) setup() {
	if g.siteNum != mach.None {
		g.mov(g.siteNum, g.hitSite())
	}
	if g.look.budget {
		g.movI(g.budget, int64(g.maxAction()))
	}
	if g.look.prints > 1 {
		g.outArea()
	}
	if g.frame.used && !g.steps {
		g.acquire(g.out)
	}
	if g.look.prints > 1 {
		g.startOutput()
	}
	g.subs.setup()
	g.release()
}

// filter drops hits of processes that the site is not for. The kernel's own filter by pid is not
// relied on: before 6.10 uprobe_multi compared thread ids.
func (g *gen) filter(out *mach.Block) {
	s := g.h.Sites[0]
	switch {
	case s.PID != 0:
		g.unlessI(asm.JNE, g.tgid(), int64(s.PID), out)
	case s.Target:
		g.inFamily(g.tgid(), out)
	}
	if s.Exe != "" {
		g.executable(&ir.Instr{Pos: g.u.P.Probes[g.h.Probe].Pos}, s.Exe, out)
	}
}

func (g *gen) epilogue() {
	if g.look.prints > 1 {
		g.endOutput()
	}
	if g.steps {
		loops{g}.endStep()
		return
	}
	if g.frame.used {
		g.storeI(g.slotAddr(), 0, 0, asm.Word)
	}
	g.clockOut()
	g.jump(g.out)
	g.set(g.out)
	g.quit()
}

func (g *gen) body(id ir.BlockID, b *ir.Block) {
	for i := 0; i < len(b.Instrs) && g.err == nil; i++ {
		in := &b.Instrs[i]
		g.pos, g.via = in.Pos, in.Via
		switch {
		case g.fused(b, i):
		case in.Op == ir.OpCall:
			g.subs.call(id, i, in)
		case g.stringTest(b, i):
			i++
			if !g.fused(b, i) {
				g.stringValue(in, &b.Instrs[i])
			}
		default:
			g.instr(in)
		}
		g.release()
	}
	g.pos, g.via = b.Term.Pos, 0
	g.term(b)
	g.release()
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
	case ir.TermReturn:
		g.subs.giveBack(t.Cond)
	case ir.TermEnd:
		if g.h.Where == place.Deferred {
			g.deferred()
		}
		g.jump(g.end)
	case ir.TermFail:
		g.throw(t)
	case ir.TermSkip:
		g.skip(t.Cause)
	}
}

// skip ends the handler as if it had not been hit, and counts that.
func (g *gen) skip(c ir.Cause) {
	g.unlock()
	if c != ir.SkipStopping {
		g.count(c)
	}
	g.jump(g.end)
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
		if n > 1 && g.stringTest(b, n-2) {
			g.stringBranch(&b.Instrs[n-2], &b.Instrs[n-1], then, els)
			return
		}
		g.compare(&b.Instrs[n-1], then, els)
		return
	}
	g.condI(asm.JNE, g.longs[t.Cond.Reg], 0, then, els)
}

// stringBranch branches on the (in)equality of strings.
func (g *gen) stringBranch(cmp, test *ir.Instr, then, els *mach.Block) {
	if test.Op == ir.OpNe {
		then, els = els, then
	}
	g.equal(g.strOf(cmp.Args[0]), g.strOf(cmp.Args[1]), then, els)
}

// stringValue sets a register to the (in)equality of strings.
func (g *gen) stringValue(cmp, test *ir.Instr) {
	g.truth(test.Dst, func(yes, no *mach.Block) { g.stringBranch(cmp, test, yes, no) })
}

// truth sets dst to 1 or 0 by the way that a test takes.
func (g *gen) truth(dst ir.Reg, test func(yes, no *mach.Block)) {
	yes, no, join := g.block(), g.block(), g.block()
	test(yes, no)
	g.set(yes)
	g.movI(g.longs[dst], 1)
	g.jump(join)
	g.set(no)
	g.movI(g.longs[dst], 0)
	g.here(join)
}

// long gives the value of a Long operand in a register that must not be written.
func (g *gen) long(v ir.Val) mach.Reg {
	switch v.Kind {
	case ir.ValReg:
		if r := g.longs[v.Reg]; r != mach.None {
			return r
		}
	case ir.ValInt:
		return g.imm(v.Int)
	}
	g.fail("operand is not a number")
	return g.imm(0)
}

func (g *gen) maxAction() int {
	if g.h.Sites[0].Kind.OnHost() {
		return g.u.P.Limits.MaxActionInt
	}
	return g.u.P.Limits.MaxAction
}
