package sel

import (
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
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

// take takes a lock by exchanging its word, 0, for 1 + the CPU. Handlers cannot wait, so it is tried again and again, for
// MAXTRYLOCK times TRYLOCKDELAY microseconds; then the hit is skipped. The host's word is plan.HostHolds with its
// thread's number: a hit in that very thread would wait in vain.
func (g *gen) take(class int) {
	p := g.mapVal(plan.MapControl, plan.CtlLocks+4*class)
	me := g.call(asm.FnGetSmpProcessorId)
	g.aluI(asm.Add, me, 1)
	left := g.imm(quickTries)
	head, got, busy, late := g.block(), g.block(), g.cold(), g.cold()
	g.here(head)
	g.bounded(head)
	g.movI(mach.R0, 0)
	g.atomic(asm.CmpXchg, p, 0, me, asm.Word)
	old := g.copy(mach.R0)
	g.condI(asm.JEq, old, 0, got, busy)
	g.set(busy)
	g.aluI(asm.Sub, left, 1)
	g.condI(asm.JEq, left, 0, late, head)
	g.set(late)
	if wait := int64(g.u.P.Limits.MaxTryLock) * int64(g.u.P.Limits.TryLockDelay) * 1000; wait > 0 {
		none := g.cold()
		kind := g.h.Sites[0].Kind
		if !kind.InUser() {
			// This program has interrupted what runs on the CPU: if that is the holder it does not go on before we end.
			other, self := g.cold(), g.cold()
			g.cond(asm.JEq, old, me, none, other)
			g.set(other)
			theirs, spin := g.cold(), g.cold()
			g.condI(asm.JSet, old, plan.HostHolds, theirs, spin)
			g.set(theirs)
			thread := g.copy(old)
			g.aluI(asm.And, thread, plan.HostHolds-1)
			g.cond(asm.JEq, thread, g.currentID(true), self, spin)
			g.set(self)
			if kind.Class() == probe.Syscall {
				g.skip(ir.SkipStopping) // the tracer reads the globals by system calls, which are not what is looked for
			} else {
				g.jump(none)
			}
			g.set(spin)
		}
		ctx := g.temp(spinSize)
		g.storeIS(ctx, spinGot, 0, asm.DWord)
		g.storeIS(ctx, spinGot, 0, asm.Byte) // the verifier must not take the 0 for a constant
		until := g.call(asm.FnKtimeGetNs)
		g.alu(asm.Add, until, g.imm(wait))
		if kind.InUser() || kind.Class() == probe.Syscall {
			// Only the caller waits here. The host gets more time than a handler: interrupts come in between.
			more, short := g.cold(), g.block()
			g.condI(asm.JSet, old, plan.HostHolds, more, short)
			g.set(more)
			g.alu(asm.Add, until, g.imm((hostTime-1)*wait))
			g.jump(short)
			g.set(short)
		}
		g.storeS(ctx, spinUntil, until, asm.DWord)
		g.storeS(ctx, spinMe, me, asm.DWord)
		g.call(asm.FnLoop, aImm(maxSteps), aFunc(g.spinner(class)), aSlot(ctx, 0), aImm(0))
		g.condI(asm.JNE, g.getS(ctx, spinGot, asm.DWord), 0, got, none)
		g.set(none)
	}
	g.skip(ir.SkipLock)
	g.set(got)
	g.lock = class
}

// spinner gives the function that tries once more for a lock: long (u64 turn, words *). It ends the loop when it has
// the lock or time is up.
func (g *gen) spinner(class int) string {
	if name, ok := g.spinners[class]; ok {
		return name
	}
	f := mach.New(fmt.Sprintf("%s_lock%d", g.f.Name, class))
	f.Params, f.Callback = 2, true
	g.funcs = append(g.funcs, f)
	if g.spinners == nil {
		g.spinners = map[int]string{}
	}
	g.spinners[class] = f.Name
	c := code{f: f, pos: g.pos, lock: -1}
	c.set(c.block())
	ctx := c.copy(mach.R2)
	p := c.mapVal(plan.MapControl, plan.CtlLocks+4*class)
	busy := c.block()
	c.unlessI(asm.JNE, c.get(p, 0, asm.Word), 0, busy) // without taking the line from the holder
	c.movI(mach.R0, 0)
	c.atomic(asm.CmpXchg, p, 0, c.get(ctx, spinMe, asm.DWord), asm.Word)
	c.unlessI(asm.JNE, c.copy(mach.R0), 0, busy)
	c.storeI(ctx, spinGot, 1, asm.DWord)
	c.storeI(ctx, spinGot, 1, asm.Byte)
	c.ret(1)
	c.set(busy)
	late := c.block()
	c.unless(asm.JGT, c.call(asm.FnKtimeGetNs), c.get(ctx, spinUntil, asm.DWord), late)
	c.ret(0)
	c.set(late)
	c.ret(1)
	return f.Name
}

// unlock releases the lock that is held, if any.
func (g *gen) unlock() {
	if g.lock == lockUnknown {
		g.subs.unlockUnknown()
	} else if g.lock >= 0 {
		g.storeI(g.mapVal(plan.MapControl, plan.CtlLocks+4*g.lock), 0, 0, asm.Word)
	}
}
