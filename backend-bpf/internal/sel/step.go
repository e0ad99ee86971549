package sel

import (
	"errors"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
)

// Where the kernel has no may_goto (before 6.9), a handler with loops is a state machine
// that bpf_loop steps: the body is a callback that runs until a loop would jump back,
// then leaves what is live in the scratch slot, says there which loop it was, and
// returns; the next call goes on at that loop's head. The verifier looks at the callback once, from
// a state in which everything that it loads from the slot is unknown, so it cannot take the first
// turn's values for constants (which Linux 6.1 does with what lies on the stack).

// Handlers whose loops are too tangled for may_goto are made of steps on later kernels too. Later verifiers walk a
// callback of bpf_loop as the body of a loop, in which two ways are the same only if all numbers have the same
// ranges. So there the step is a global function, which the verifier walks once, by itself, with arguments of
// which it knows nothing, and all that the callback does is to call it in a loop. A global function takes no pointer
// into a map, so it looks the scratch slot up again. may_goto alone would not do for the loop: some kernels end it
// after 65535 turns.

// errSteps says that a handler has to be translated again as steps.
var errSteps = errors.New("handler has loops")

// maxSteps is the most calls that bpf_loop makes of a step, maxRounds of a callback that makes some ten thousand steps
// or more itself.
const (
	maxSteps  = 1 << 23
	maxRounds = 128
)

// Words of the step area in the scratch slot, and values of its first word.
const (
	stepState = 0 // where the next step goes on: 0 at the beginning, then the index of a head
	stepStop  = 8 // where to go on when there are no steps left
	stepRegs  = 16

	stepDone = -1
)

// stepper is a handler that is made of steps.
type stepper struct {
	area  int // of the scratch slot
	entry *mach.Block
	begin *mach.Block
	heads []*mach.Block // by state - 1
	stops map[int]int   // lock class -> state of its stop
	home  map[mach.Reg]int
}

// startSteps begins the callback: long (u64 turn, struct { ctx, scratch } *), or the global function:
// long (ctx, u64 index of the scratch slot).
func (g loops) startSteps() {
	g.step = &stepper{area: g.Area(stepRegs), stops: map[int]int{}, home: map[mach.Reg]int{}}
	if g.F.Global {
		g.Mov(g.Ctx, mach.R1)
		k := g.Temp(8)
		g.Index(k, mach.R2)
		slot := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapScratch), emit.OnStack(k, 0))
		none := g.Cold()
		g.UnlessI(asm.JEq, slot, 0, none)
		g.Mov(g.Frame.Scratch, slot)
		on := g.Cur
		g.Set(none)
		g.Ret(1)
		g.Set(on)
		g.Release()
	} else {
		fr := g.Copy(mach.R2)
		g.Load(g.Ctx, fr, 0, asm.DWord)
		g.Load(g.Frame.Scratch, fr, 8, asm.DWord)
	}
	g.step.entry, g.step.begin = g.Cur, g.Block()
	g.Jump(g.step.begin)
	g.Set(g.step.begin)
}

// endStep ends the callback for good.
func (g loops) endStep() {
	g.StoreI(g.SlotAddr(), g.step.area+stepState, stepDone, asm.DWord)
	g.Ret(1)
}

// cutLoops turns every jump back of the callback into the end of a step.
func (g loops) cutLoops(f *mach.Func, open []mach.Loop) {
	s := g.step
	live := f.Liveness()
	state := map[*mach.Block]int{}
	add := func(b *mach.Block) int {
		s.heads = append(s.heads, b)
		return len(s.heads)
	}
	for _, class := range g.stopClasses() {
		s.stops[class] = add(g.stopped[class])
	}
	c := emit.Code{F: f, Lock: -1}
	slot := g.Frame.Scratch
	kept := func(head *mach.Block, fn func(r mach.Reg, off int)) {
		live.EachIn(head, func(r mach.Reg) {
			if g.isPointer(r) {
				return
			}
			off, ok := s.home[r]
			if !ok {
				off = g.Area(8)
				s.home[r] = off
			}
			fn(r, off)
		})
	}
	for _, l := range open {
		n, ok := state[l.Head]
		if !ok {
			again := f.NewBlock()
			c.Set(again)
			kept(l.Head, func(r mach.Reg, off int) { c.Load(r, slot, off, asm.DWord) })
			if g.subs != nil && live.In(l.Head, g.subs.fp) {
				g.subs.current(&c, g.subs.fp, slot)
			}
			c.Jump(l.Head)
			n = add(again)
			state[l.Head] = n
		}
		back := f.NewBlock()
		back.Cold = l.Latch.Cold
		c.Set(back)
		kept(l.Head, func(r mach.Reg, off int) { c.Store(slot, off, r, asm.DWord) })
		c.StoreI(slot, s.area+stepState, int64(n), asm.DWord)
		c.StoreI(slot, s.area+stepStop, int64(s.stops[l.Latch.Tag]), asm.DWord)
		c.Ret(0)
		l.Latch.Redirect(l.Head, back)
	}
	// The callback goes on where the last step stopped. The verifier follows a jump's other way first and comes back
	// to the places jumped to from the last to the first. So it begins with the last loop, of whose numbers it knows
	// nothing, goes backwards from there and ends with the handler's beginning: whatever it reaches again on the way,
	// it has seen in a state that covers this one. The other way round it would walk what is behind a loop for each
	// state that loops before it leave.
	c.Set(s.entry)
	st := c.Get(slot, s.area+stepState, asm.DWord)
	to := append([]*mach.Block{s.begin}, s.heads...)
	last := len(to) - 1
	for n, b := range to[:last] {
		c.CondI(asm.JEq, st, int64(n), b, f.NewBlock())
	}
	c.Jump(to[last])
}

// driver writes the program that calls the steps.
func (g loops) driver(body *mach.Func) *mach.Func {
	f := mach.New(g.H.Name)
	f.Params = 1
	// The same code is written as for a handler in one piece, into another function with registers of its own.
	step, temps := g.Code, g.Frame.Temps
	ctx, scratch := g.Ctx, g.Frame.Scratch
	defer func() { g.Code, g.Frame.Temps, g.Ctx, g.Frame.Scratch = step, temps, ctx, scratch }()
	g.Code = emit.Code{F: f, Lock: -1}
	g.Frame.Temps = nil
	g.Frame.Scratch = g.Reg()
	g.Set(g.Block())
	g.out, g.end = g.Block(), g.Block()
	g.prologue()
	idx := g.acquire(g.out)
	area := emit.At(g.Frame.Scratch, g.step.area)
	g.StoreIP(area, stepState, 0, asm.DWord)
	fr := g.Temp(16)
	g.StoreS(fr, 0, g.Ctx, asm.DWord)
	name, most := body.Name, int64(maxSteps)
	if body.Global {
		most = maxRounds
		g.StoreS(fr, 8, idx, asm.DWord)
		g.Funcs = append(g.Funcs, turn(body))
		name = turnName(body)
	} else {
		g.StoreS(fr, 8, g.Frame.Scratch, asm.DWord)
	}
	run := func(turns int64) {
		g.Call(asm.FnLoop, emit.Const(turns), emit.Fn(name), emit.OnStack(fr, 0), emit.Const(0))
	}
	run(most)
	late := g.Cold()
	g.CondI(asm.JNE, g.GetP(area, stepState, asm.DWord), stepDone, late, g.end)
	g.Set(late)
	// All steps are used up: one more ends the handler as MAXACTION does.
	g.StoreP(area, stepState, g.GetP(area, stepStop, asm.DWord), asm.DWord)
	run(1)
	g.Jump(g.end)
	g.Set(g.end)
	g.StoreI(g.Frame.Scratch, 0, 0, asm.Word)
	g.clockOut()
	g.Jump(g.out)
	g.Set(g.out)
	g.hook.Quit()
	return f
}

func turnName(step *mach.Func) string { return step.Name + "_turn" }

// turn writes the callback that calls the global function until it is done: long (u64 turn, struct { ctx, index } *).
// Its loop is a may_goto, which costs less than bpf_loop.
func turn(step *mach.Func) *mach.Func {
	f := mach.New(turnName(step))
	f.Params, f.Callback = 2, true
	c := emit.Code{F: f, Lock: -1}
	c.Set(c.Block())
	fr := c.Copy(mach.R2)
	ctx, idx := c.Get(fr, 0, asm.DWord), c.Get(fr, 8, asm.DWord)
	head, again, done, pause := c.Block(), c.Block(), c.Block(), c.Cold()
	c.Here(head)
	c.CondI(asm.JNE, c.CallFn(step.Name, emit.InReg(ctx), emit.InReg(idx)), 0, done, again)
	c.Cur.Term = mach.Term{Kind: mach.MayGoto, Then: pause, Else: head}
	c.Set(done)
	c.Ret(1)
	c.Set(pause)
	c.Ret(0)
	return f
}
