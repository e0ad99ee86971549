package sel

import (
	"errors"
	"github.com/gostap/gostap/backend-bpf/internal/sel/array"
	"github.com/gostap/gostap/backend-bpf/internal/sel/hook"
	"github.com/gostap/gostap/backend-bpf/internal/sel/output"
	"github.com/gostap/gostap/backend-bpf/internal/sel/scope"
	"github.com/gostap/gostap/backend-bpf/internal/sel/task"
	"github.com/gostap/gostap/backend-bpf/internal/sel/text"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/runtime/wire"
)

// gen translates one handler: it goes over the blocks and has the parts write what each instruction means.
type gen struct {
	*body.Body
	str    *text.Text
	arrays *array.Arrays
	task   *task.Task
	hook   *hook.Hook
	rec    *output.Output

	subs   *subs
	budget mach.Reg
	words  mach.Slot // of user_block
	window int       // of user_window, in the scratch slot; 0 for none

	out     *mach.Block         // leave without having begun
	end     *mach.Block         // the handler is done: output goes out, scratch memory is given back
	stopped map[int]*mach.Block // the kernel ended a loop, by the lock that is held
	report  *mach.Block         // an error nobody caught: reported, then end
	later   []func()            // code to be written when the rest is
	heavy   bool                // what the handler takes is timed (overload.go)
	began   mach.Reg            // when the hit began, None if it is not timed
	step    *stepper

	spinners map[int]string // functions that try for a lock, by its class
}

// level says how much of the stack a translation may use. When a handler does not fit, it is translated again
// with less on it. far: numbers of the script that find no register go to the scratch slot.
type level struct {
	stackMax, stackLeft int
	far                 bool
}

// farRoom is how many bytes of the scratch slot there are for them, at its beginning: offsets have 16 bits.
const farRoom = 1024

// levels are tried one after the other.
var levels = []level{{64, 160, false}, {16, 48, false}, {0, 0, false}, {0, 0, true}}

func newGen(u *body.Unit, h *Handler, lv level, steps bool) *gen {
	b := &body.Body{U: u, H: h, Steps: steps}
	g := &gen{Body: b, str: text.New(b), task: task.New(b), began: mach.None, heavy: heavyHandler(u, h)}
	g.arrays = array.New(b, g.str)
	g.hook = hook.New(b, g.task, g.str)
	g.rec = output.New(b, g.str, g.task, g.hook)
	g.Lock, g.words = -1, mach.NoSlot
	g.F = mach.New(h.Name)
	g.F.Params = 1
	if steps {
		g.F = mach.New(h.Name + "_step")
		g.F.Params, g.F.Callback, g.F.Global = 2, !u.Feat.MayGoto, u.Feat.MayGoto
		lv.stackLeft = 0 // the stack of a step does not last
	}
	g.Ctx = g.Reg()
	g.Funcs = []*mach.Func{g.F}
	g.Frame.StackMax, g.Frame.StackLeft = lv.stackMax, lv.stackLeft
	g.Frame.Scratch = g.Reg()
	if u.Hashes == nil {
		h := hashes(u.P)
		u.Hashes = &h
	}
	if *u.Hashes {
		g.Frame.Reserved = scheduleBytes
	}
	g.Record = g.hook.Recorded()
	g.budget = g.Reg()
	if lv.far {
		g.F.Far = mach.Far{Base: g.Frame.Scratch, Off: g.Area(farRoom), Room: farRoom, May: map[mach.Reg]bool{}}
	}
	g.Func = g.newFun(h.Body)
	g.Uncaught = g.notCaught
	return g
}

// newFun prepares the translation of a function.
func (g *gen) newFun(f *ir.Func) body.Func {
	u := body.Func{Fn: f, Consts: map[ir.Reg]string{}, Lazies: map[ir.Reg]*body.Lazy{},
		Longs: make([]mach.Reg, len(f.Regs)), Strs: make([]*body.StrVar, len(f.Regs))}
	for i, r := range f.Regs {
		u.Longs[i] = mach.None
		if r.Type != types.String {
			u.Longs[i] = g.Reg()
			if g.F.Far.May != nil {
				g.F.Far.May[u.Longs[i]] = true
			}
		}
	}
	u.Held = g.U.P.HeldLocks(f)
	return u
}

func (g *gen) run() error {
	prescanner{g}.prescan()
	if g.Prescan.Loops {
		// What is on the stack would tell the verifier the ways to a loop apart.
		g.Frame.StackLeft = 0
	}
	g.prepareSubs()
	g.Set(g.Block())
	g.out, g.end = g.Block(), g.Block()
	var begin *mach.Block
	body := g.Block()
	if g.Steps {
		loops{g}.startSteps()
		begin = g.Cur
	} else {
		g.prologue()
		begin = g.Block()
		g.Jump(begin)
	}
	g.Set(body)
	g.subs.enter()
	prescanner{g}.homes()
	g.Jump(g.Blocks[0])
	g.writeBlocks()
	g.subs.write()
	if g.Err != nil {
		return g.Err
	}
	loops{g}.prepareStops()
	for _, write := range g.later {
		write()
	}
	g.Lock = -1
	if g.report != nil {
		g.Set(g.report)
		g.hook.Withdraw()
		g.reportError()
		g.Jump(g.end)
	}
	g.Set(g.end)
	g.epilogue()
	g.subs.dispatcher()
	g.Lock = -1
	// What the body turned out to need is set up in front of it.
	g.Set(begin)
	g.setup()
	g.Jump(body)
	if err := (loops{g}).closeLoops(g.F); err != nil || g.Err != nil {
		return errors.Join(g.Err, err)
	}
	g.subs.placeStack()
	loops{g}.keepNear()
	if g.Steps {
		driver := loops{g}.driver(g.F) // which may add a function
		g.Funcs = append([]*mach.Func{driver}, g.Funcs...)
	}
	return g.Err
}

// writeBlocks translates the blocks of the current function.
func (g *gen) writeBlocks() {
	for _, i := range g.inOrder() {
		g.Set(g.Blocks[i])
		g.Lock = g.Held[i]
		g.body(i, g.Fn.Blocks[i])
		if g.Err != nil {
			return
		}
	}
}

// prologue decides whether the hit counts: the session is on, the process is the right one, the
// probe's condition holds.
func (g *gen) prologue() {
	g.Ctx = g.Reg()
	g.Mov(g.Ctx, mach.R1)
	g.hook.Answers()
	// A disarmed probe stays in place, since its condition may change with every hit of another: it goes no further
	// than this.
	if c := g.U.P.Probes[g.H.Probe].Cond; c >= 0 {
		v := g.Reg()
		g.arrays.GlobalGet(v, c)
		g.UnlessI(asm.JEq, v, 0, g.out)
	}
	if g.U.CanStop {
		ctl := g.MapVal(plan.MapControl, 0)
		st := g.Get(ctl, plan.CtlState, asm.Word)
		g.UnlessI(asm.JNE, st, int64(wire.Running), g.out)
	}
	g.hook.Wanted(g.out)
	g.filter(g.out)
	g.hook.Counted(g.out)
	if g.U.Fired && g.H.Probe < plan.MaxFired {
		g.StoreI(g.MapVal(plan.MapControl, 0), plan.CtlFired+g.H.Probe, 1, asm.Byte)
	}
	if g.U.Hits {
		g.CountAt(plan.CounterHits)
		g.Release()
	}
	g.clockIn()
}

// setup gets what the handler needs while it runs.
func (g *gen) setup() {
	if g.hook.SiteNum != mach.None {
		g.Mov(g.hook.SiteNum, g.hook.HitSite())
	}
	if g.Prescan.Budget {
		g.MovI(g.budget, int64(g.maxAction()))
	}
	if g.Prescan.Prints > 1 {
		g.rec.OutArea()
	}
	if g.Frame.Used && !g.Steps {
		g.acquire(g.out)
	}
	if g.Prescan.Prints > 1 {
		g.rec.StartOutput()
	}
	if g.window > 0 {
		g.StoreIP(g.theWindow(), windowSize, 0, asm.DWord)
	}
	g.subs.setup()
	g.Release()
}

// filter drops hits of processes that the site, or the session, is not for. The kernel's own filter by pid is not
// relied on: before 6.10 uprobe_multi compared thread ids.
func (g *gen) filter(out *mach.Block) {
	s := g.H.Sites[0]
	switch {
	case s.Program.PID != 0:
		g.UnlessI(asm.JNE, g.task.Tgid(), int64(s.Program.PID), out)
	case s.Program.Target:
		g.hook.InFamily(g.task.Tgid(), out)
	}
	if s.Program.Exe != "" {
		g.hook.Executable(&ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}, s.Program.Exe, out)
	}
	if g.U.Scope != nil {
		in := &ir.Instr{Pos: g.U.P.Probes[g.H.Probe].Pos}
		if s.Kind.Class() == probe.Packet {
			g.Refuse(in, backend.CodeScope, "packets are not of a control group's threads")
		} else if err := scope.Inside(g.task, out); err != nil {
			g.Refuse(in, backend.CodeScope, "probes cannot be kept to groups of the %s controller: %v",
				g.U.Scope.Controller, err)
		}
	}
}

func (g *gen) epilogue() {
	if g.Prescan.Prints > 1 {
		g.rec.EndOutput()
	}
	if g.Steps {
		loops{g}.endStep()
		return
	}
	if g.Frame.Used {
		g.StoreI(g.SlotAddr(), 0, 0, asm.Word)
	}
	g.clockOut()
	g.Jump(g.out)
	g.Set(g.out)
	g.hook.Quit()
}

func (g *gen) body(id ir.BlockID, b *ir.Block) {
	for i := 0; i < len(b.Instrs) && g.Err == nil; i++ {
		in := &b.Instrs[i]
		g.Pos, g.Via = in.Pos, in.Via
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
		g.Release()
	}
	g.Pos, g.Via = b.Term.Pos, 0
	g.term(b)
	g.Release()
}

// fused reports whether the instruction at i is a comparison that only the branch behind it looks at.
func (g *gen) fused(b *ir.Block, i int) bool {
	in := &b.Instrs[i]
	return i == len(b.Instrs)-1 && b.Term.Kind == ir.TermBranch && b.Term.Cond.IsReg() && in.Dst == b.Term.Cond.Reg &&
		in.Op >= ir.OpEq && in.Op <= ir.OpULt && g.Uses[in.Dst] == 1
}

func (g *gen) term(b *ir.Block) {
	t := &b.Term
	switch t.Kind {
	case ir.TermJump:
		g.Jump(g.Blocks[t.Then])
	case ir.TermBranch:
		g.branch(b)
	case ir.TermReturn:
		g.subs.giveBack(t.Cond)
	case ir.TermEnd:
		if g.H.Where == partition.Deferred {
			g.rec.Deferred()
		}
		g.Jump(g.end)
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
		g.Count(c)
	}
	g.Jump(g.end)
}

func (g *gen) branch(b *ir.Block) {
	t := &b.Term
	then, els := g.Blocks[t.Then], g.Blocks[t.Else]
	if t.Cond.Kind == ir.ValInt {
		if t.Cond.Int == 0 {
			then = els
		}
		g.Jump(then)
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
	g.CondI(asm.JNE, g.Longs[t.Cond.Reg], 0, then, els)
}

// stringBranch branches on the (in)equality of strings.
func (g *gen) stringBranch(cmp, test *ir.Instr, then, els *mach.Block) {
	if test.Op == ir.OpNe {
		then, els = els, then
	}
	g.str.Equal(g.StrOf(cmp.Args[0]), g.StrOf(cmp.Args[1]), then, els)
}

// stringValue sets a register to the (in)equality of strings.
func (g *gen) stringValue(cmp, test *ir.Instr) {
	g.truth(test.Dst, func(yes, no *mach.Block) { g.stringBranch(cmp, test, yes, no) })
}

// truth sets dst to 1 or 0 by the way that a test takes.
func (g *gen) truth(dst ir.Reg, test func(yes, no *mach.Block)) {
	yes, no, join := g.Block(), g.Block(), g.Block()
	test(yes, no)
	g.Set(yes)
	g.MovI(g.Longs[dst], 1)
	g.Jump(join)
	g.Set(no)
	g.MovI(g.Longs[dst], 0)
	g.Here(join)
}

func (g *gen) maxAction() int {
	if g.H.Sites[0].Kind.MayWait() {
		return g.U.P.Limits.MaxActionInt
	}
	return g.U.P.Limits.MaxAction
}
