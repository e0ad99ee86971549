package sel

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// Handlers that may take long (partition.Heavy) look at the clock when they begin and when they end, and add what they
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
	g.U.Timed = true
	// A constant would make the verifier walk the handler twice.
	g.began = g.Get(g.MapVal(plan.MapControl, 0), plan.CtlZero, asm.DWord)
	on, timed := g.Block(), g.Cold()
	v := g.spent(on)
	left := g.Get(v, plan.SpentLeft, asm.DWord)
	g.UnlessI(asm.JEq, left, 0, timed)
	g.AluI(asm.Sub, left, 1)
	g.Store(v, plan.SpentLeft, left, asm.DWord)
	g.Jump(on)
	g.Set(timed)
	g.Mov(g.began, g.Call(asm.FnKtimeGetNs))
	g.Jump(on)
	g.Set(on)
	g.Release()
}

// spent gives this CPU's value of MapSpent; without one it goes to none.
func (g *gen) spent(none *mach.Block) mach.Reg {
	k := g.Temp(8)
	g.Index(k, g.Call(asm.FnGetSmpProcessorId))
	v := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapSpent), emit.OnStack(k, 0))
	g.UnlessI(asm.JEq, v, 0, none)
	return v
}

// clockOut adds what the handler took to its CPU's sum.
func (g *gen) clockOut() {
	if g.began == mach.None {
		return
	}
	time, permille := overload(g.U)
	me := int64(g.H.Probe + 1)
	done, timed := g.Block(), g.Cold()
	g.CondI(asm.JNE, g.began, 0, timed, done)
	g.Set(timed)
	now := g.Copy(g.Call(asm.FnKtimeGetNs))
	took := g.Bin(asm.Sub, now, g.began)
	if g.H.Sites[0].Kind.InUser() {
		short := g.Block()
		long := g.Cold()
		g.CondI(asm.JGT, took, longestUser, long, short)
		g.Set(long)
		g.MovI(took, longestUser)
		g.Jump(short)
		g.Set(short)
	}
	if way := g.way(); way > 0 {
		g.AluI(asm.Add, took, way)
	}
	v := g.spent(done)
	each, counted := g.Block(), g.Block()
	g.UnlessI(asm.JGE, took, briefly, each)
	g.StoreI(v, plan.SpentLeft, sampled-1, asm.DWord)
	g.AluI(asm.Mul, took, sampled)
	g.Jump(counted)
	g.Set(each)
	g.Jump(counted)
	g.Set(counted)
	sum := g.Get(v, plan.SpentSum, asm.DWord)
	g.Alu(asm.Add, sum, took)

	// Whose time most of it is: a vote in which each takes away from the others.
	more, mine, theirs, voted := g.Get(v, plan.SpentMore, asm.DWord), g.Block(), g.Block(), g.Block()
	g.CondI(asm.JEq, g.Get(v, plan.SpentProbe, asm.DWord), me, mine, theirs)
	g.Set(theirs)
	less, change := g.Block(), g.Block()
	g.Cond(asm.JGT, more, took, less, change)
	g.Set(less)
	g.Alu(asm.Sub, more, took)
	g.Jump(voted)
	g.Set(change)
	g.StoreI(v, plan.SpentProbe, me, asm.DWord)
	g.Neg(more)
	g.Jump(mine)
	g.Set(mine)
	g.Alu(asm.Add, more, took)
	g.Jump(voted)
	g.Set(voted)
	g.Store(v, plan.SpentMore, more, asm.DWord)

	over, on := g.Cold(), g.Block()
	since := g.Bin(asm.Sub, now, g.Get(v, plan.SpentSince, asm.DWord))
	g.Cond(asm.JGT, since, g.Imm(time), over, on)
	g.Set(on)
	g.Store(v, plan.SpentSum, sum, asm.DWord)
	g.Jump(done)

	g.Set(over)
	g.Store(v, plan.SpentSince, now, asm.DWord)
	g.StoreI(v, plan.SpentSum, 0, asm.DWord)
	part := g.BinI(asm.Mul, sum, 1000)
	g.Unless(asm.JLE, part, g.BinI(asm.Mul, since, permille), done)
	ctl := g.MapVal(plan.MapControl, 0)
	g.MovI(mach.R0, 0)
	g.Atomic(asm.CmpXchg, ctl, plan.CtlOverload, g.Get(v, plan.SpentProbe, asm.Word), asm.Word)
	g.UnlessI(asm.JNE, g.Copy(mach.R0), 0, done)
	g.Store(ctl, plan.CtlSpent, sum, asm.DWord)
	g.Store(ctl, plan.CtlOf, since, asm.DWord)
	g.StoreI(ctl, plan.CtlState, int64(wire.Failed), asm.Word)
	g.Here(done)
}

// heavyHandler reports whether the handler is timed.
func heavyHandler(u *body.Unit, h *body.Handler) bool {
	return h.Body != nil && (u.Share > 0 || partition.Heavy(u.P, h.Body) || len(h.Subs) > 0 &&
		u.P.Limits.OverloadTime > 0)
}

// shareTime is how long it is waited in nanoseconds before a share of a CPU is looked at.
const shareTime = 500_000_000

// overload gives the nanoseconds after which it is asked what part of a CPU was taken, and the permille that is too
// much.
func overload(u *body.Unit) (ns, permille int64) {
	if u.Share > 0 {
		return shareTime, int64(u.Share)
	}
	return u.P.Limits.Overload()
}

// inKernel is what it takes in nanoseconds to get to a handler in the kernel: 50 of a tracepoint, 300 of a kprobe that
// is no jump.
const inKernel = 150

// way is what it costs in nanoseconds to get to the handler, of the dearest of its places, if that counts.
func (g *gen) way() (ns int64) {
	if g.U.Share == 0 {
		return 0
	}
	for _, s := range g.H.Sites {
		at := int64(inKernel)
		if s.Kind.InUser() {
			if at = g.U.Prices.Emulated.Nanoseconds(); !s.At.Insn.Emulated() {
				at = g.U.Prices.Stepped.Nanoseconds()
			}
			if s.Kind.Trampoline() {
				at += g.U.Prices.Emulated.Nanoseconds() // the return is a trap of its own
			}
		}
		ns = max(ns, at)
	}
	return ns
}

// spentMap is the map that timed handlers need.
func spentMap(u *body.Unit) *ebpf.MapSpec {
	return &ebpf.MapSpec{Name: plan.MapSpent, Type: ebpf.Array, KeySize: 4, ValueSize: plan.SpentSize,
		MaxEntries: uint32(u.CPUs)}
}
