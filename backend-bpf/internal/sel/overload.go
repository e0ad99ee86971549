package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/runtime/wire"
)

// Handlers that may take long (place.Heavy) look at the clock when they begin and when they end, and add what they
// took to the sum of their CPU: each of those that take long, and as long as they do not, one of sampled hits,
// which counts for all of them. Whoever finds that the time of STP_OVERLOAD_INTERVAL is over compares the sum with
// STP_OVERLOAD_THRESHOLD and begins anew; where it is too much, the session ends.

// longestUser is the most that counts of a hit in a program: it may be interrupted there and lie idle for milliseconds.
const longestUser = 1_000_000

// sampled hits are counted as one of them took, if that was less than briefly nanoseconds. The number is odd since
// hits of two handlers often come in turns.
const (
	sampled = 13
	briefly = 20_000
)

// clockIn looks at the clock at the beginning of a handler that is timed.
func (g *gen) clockIn() {
	g.began = mach.None
	if !g.heavy {
		return
	}
	g.u.timed = true
	// A constant would make the verifier walk the handler twice.
	g.began = g.get(g.mapVal(plan.MapControl, 0), plan.CtlZero, asm.DWord)
	on, timed := g.block(), g.cold()
	v := g.spent(on)
	left := g.get(v, plan.SpentLeft, asm.DWord)
	g.unlessI(asm.JEq, left, 0, timed)
	g.aluI(asm.Sub, left, 1)
	g.store(v, plan.SpentLeft, left, asm.DWord)
	g.jump(on)
	g.set(timed)
	g.mov(g.began, g.call(asm.FnKtimeGetNs))
	g.jump(on)
	g.set(on)
	g.release()
}

// spent gives this CPU's value of MapSpent; without one it goes to none.
func (g *gen) spent(none *mach.Block) mach.Reg {
	k := g.temp(8)
	g.storeS(k, 0, g.call(asm.FnGetSmpProcessorId), asm.Word)
	v := g.call(asm.FnMapLookupElem, aMap(plan.MapSpent), aSlot(k, 0))
	g.unlessI(asm.JEq, v, 0, none)
	return v
}

// clockOut adds what the handler took to its CPU's sum.
func (g *gen) clockOut() {
	if g.began == mach.None {
		return
	}
	time, permille := g.u.P.Limits.Overload()
	me := int64(g.h.Probe + 1)
	done, timed := g.block(), g.cold()
	g.condI(asm.JNE, g.began, 0, timed, done)
	g.set(timed)
	now := g.copy(g.call(asm.FnKtimeGetNs))
	took := g.bin(asm.Sub, now, g.began)
	if g.h.Sites[0].Kind.InUser() {
		short := g.block()
		long := g.cold()
		g.condI(asm.JGT, took, longestUser, long, short)
		g.set(long)
		g.movI(took, longestUser)
		g.jump(short)
		g.set(short)
	}
	v := g.spent(done)
	each, counted := g.block(), g.block()
	g.unlessI(asm.JGE, took, briefly, each)
	g.storeI(v, plan.SpentLeft, sampled-1, asm.DWord)
	g.aluI(asm.Mul, took, sampled)
	g.jump(counted)
	g.set(each)
	g.jump(counted)
	g.set(counted)
	sum := g.get(v, plan.SpentSum, asm.DWord)
	g.alu(asm.Add, sum, took)

	// Whose time most of it is: a vote in which each takes away from the others.
	more, mine, theirs, voted := g.get(v, plan.SpentMore, asm.DWord), g.block(), g.block(), g.block()
	g.condI(asm.JEq, g.get(v, plan.SpentProbe, asm.DWord), me, mine, theirs)
	g.set(theirs)
	less, change := g.block(), g.block()
	g.cond(asm.JGT, more, took, less, change)
	g.set(less)
	g.alu(asm.Sub, more, took)
	g.jump(voted)
	g.set(change)
	g.storeI(v, plan.SpentProbe, me, asm.DWord)
	g.neg(more)
	g.jump(mine)
	g.set(mine)
	g.alu(asm.Add, more, took)
	g.jump(voted)
	g.set(voted)
	g.store(v, plan.SpentMore, more, asm.DWord)

	over, on := g.cold(), g.block()
	since := g.bin(asm.Sub, now, g.get(v, plan.SpentSince, asm.DWord))
	g.cond(asm.JGT, since, g.imm(time), over, on)
	g.set(on)
	g.store(v, plan.SpentSum, sum, asm.DWord)
	g.jump(done)

	g.set(over)
	g.store(v, plan.SpentSince, now, asm.DWord)
	g.storeI(v, plan.SpentSum, 0, asm.DWord)
	part := g.binI(asm.Mul, sum, 1000)
	g.unless(asm.JLE, part, g.binI(asm.Mul, since, permille), done)
	ctl := g.mapVal(plan.MapControl, 0)
	g.movI(mach.R0, 0)
	g.atomic(asm.CmpXchg, ctl, plan.CtlOverload, g.get(v, plan.SpentProbe, asm.Word), asm.Word)
	g.unlessI(asm.JNE, g.copy(mach.R0), 0, done)
	g.store(ctl, plan.CtlSpent, sum, asm.DWord)
	g.store(ctl, plan.CtlOf, since, asm.DWord)
	g.storeI(ctl, plan.CtlState, int64(wire.Failed), asm.Word)
	g.here(done)
}

// heavyHandler reports whether the handler is timed.
func heavyHandler(u *Unit, h *Handler) bool {
	return h.Body != nil && (place.Heavy(u.P, h.Body) || len(h.Subs) > 0 && u.P.Limits.OverloadTime > 0)
}

// spentMap is the map that timed handlers need.
func spentMap(u *Unit) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapSpent, Type: ebpf.Array, KeySize: 4, ValueSize: plan.SpentSize, MaxEntries: uint32(u.CPUs)}
}
