package sel

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// quickTries is how often a lock is tried before the clock is looked at: about a microsecond.
const quickTries = 24

// hostTime is how many times longer a handler waits for the host than for another handler.
const hostTime = 8

// Words of what a spinner gets: whether it has the lock, until when it tries, and the mark of the holder.
const (
	spinGot   = 0
	spinUntil = 8
	spinMe    = 16
	spinSize  = 24
)

// take takes a lock by exchanging its word, 0, for 1 + the CPU. Handlers cannot wait, so it is tried again and again,
// for MAXTRYLOCK times TRYLOCKDELAY microseconds; then the hit is skipped. The host's word is plan.HostHolds with its
// thread's number: a hit in that very thread would wait in vain.
func (g *gen) take(class int) {
	p := g.MapVal(plan.MapControl, plan.CtlLocks+4*class)
	me := g.Call(asm.FnGetSmpProcessorId)
	g.AluI(asm.Add, me, 1)
	left := g.Imm(quickTries)
	head, got, busy, late := g.Block(), g.Block(), g.Cold(), g.Cold()
	g.Here(head)
	g.Bounded(head)
	g.MovI(mach.R0, 0)
	g.Atomic(asm.CmpXchg, p, 0, me, asm.Word)
	old := g.Copy(mach.R0)
	g.CondI(asm.JEq, old, 0, got, busy)
	g.Set(busy)
	g.AluI(asm.Sub, left, 1)
	g.CondI(asm.JEq, left, 0, late, head)
	g.Set(late)
	if wait := int64(g.U.P.Limits.MaxTryLock) * int64(g.U.P.Limits.TryLockDelay) * 1000; wait > 0 {
		none := g.Cold()
		kind := g.H.Sites[0].Kind
		if !kind.InUser() {
			// This program has interrupted what runs on the CPU: if that is the holder it does not go on before we end.
			other, self := g.Cold(), g.Cold()
			g.Cond(asm.JEq, old, me, none, other)
			g.Set(other)
			theirs, spin := g.Cold(), g.Cold()
			g.CondI(asm.JSet, old, plan.HostHolds, theirs, spin)
			g.Set(theirs)
			thread := g.Copy(old)
			g.AluI(asm.And, thread, plan.HostHolds-1)
			g.Cond(asm.JEq, thread, g.task.CurrentID(true), self, spin)
			g.Set(self)
			if kind.Class() == probe.Syscall {
				// the tracer reads the globals by system calls, which are not what is looked for
				g.skip(ir.SkipStopping)
			} else {
				g.Jump(none)
			}
			g.Set(spin)
		}
		ctx := g.Temp(spinSize)
		g.StoreIS(ctx, spinGot, 0, asm.DWord)
		g.StoreIS(ctx, spinGot, 0, asm.Byte) // the verifier must not take the 0 for a constant
		until := g.Call(asm.FnKtimeGetNs)
		g.Alu(asm.Add, until, g.Imm(wait))
		if kind.InThread() {
			// Only the caller waits here. The host gets more time than a handler: interrupts come in between.
			more, short := g.Cold(), g.Block()
			g.CondI(asm.JSet, old, plan.HostHolds, more, short)
			g.Set(more)
			g.Alu(asm.Add, until, g.Imm((hostTime-1)*wait))
			g.Jump(short)
			g.Set(short)
		}
		g.StoreS(ctx, spinUntil, until, asm.DWord)
		g.StoreS(ctx, spinMe, me, asm.DWord)
		g.Call(asm.FnLoop, emit.Const(maxSteps), emit.Fn(g.spinner(class)), emit.OnStack(ctx, 0), emit.Const(0))
		g.CondI(asm.JNE, g.GetS(ctx, spinGot, asm.DWord), 0, got, none)
		g.Set(none)
	}
	g.skip(ir.SkipLock)
	g.Set(got)
	g.Lock = class
}

// spinner gives the function that tries once more for a lock: long (u64 turn, words *). It ends the loop when it has
// the lock or time is up.
func (g *gen) spinner(class int) string {
	if name, ok := g.spinners[class]; ok {
		return name
	}
	f := mach.New(fmt.Sprintf("%s_lock%d", g.F.Name, class))
	f.Params, f.Callback = 2, true
	g.Funcs = append(g.Funcs, f)
	if g.spinners == nil {
		g.spinners = map[int]string{}
	}
	g.spinners[class] = f.Name
	c := emit.Code{F: f, Pos: g.Pos, Lock: -1}
	c.Set(c.Block())
	ctx := c.Copy(mach.R2)
	p := c.MapVal(plan.MapControl, plan.CtlLocks+4*class)
	busy := c.Block()
	c.UnlessI(asm.JNE, c.Get(p, 0, asm.Word), 0, busy) // without taking the line from the holder
	c.MovI(mach.R0, 0)
	c.Atomic(asm.CmpXchg, p, 0, c.Get(ctx, spinMe, asm.DWord), asm.Word)
	c.UnlessI(asm.JNE, c.Copy(mach.R0), 0, busy)
	c.StoreI(ctx, spinGot, 1, asm.DWord)
	c.StoreI(ctx, spinGot, 1, asm.Byte)
	c.Ret(1)
	c.Set(busy)
	late := c.Block()
	c.Unless(asm.JGT, c.Call(asm.FnKtimeGetNs), c.Get(ctx, spinUntil, asm.DWord), late)
	c.Ret(0)
	c.Set(late)
	c.Ret(1)
	return f.Name
}

// unlock releases the lock that is held, if any.
func (g *gen) unlock() {
	if g.Lock == lockUnknown {
		g.subs.unlockUnknown()
	} else if g.Lock >= 0 {
		g.StoreI(g.MapVal(plan.MapControl, plan.CtlLocks+4*g.Lock), 0, 0, asm.Word)
	}
}
