package output

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir"
)

// Stacks that the kernel keeps. MapStacks goes from all that makes up a stack to its number, so that the kernel itself
// compares the addresses and two stacks are never taken for one; MapStackList goes back. The kernel hashes the whole of
// a key, so those of at most shortStack addresses have a map of their own, MapShortStacks.

// stackKey is the size of what makes up a stack of at most room addresses: u32 n, u32 room, u32 tgid, u32 what it
// is (backend.StackUser), and the addresses with zeros behind them. It is what wire.Stack looks like.
func stackKey(room int) int { return backend.KeptHead + 8*room }

// StackMaps are the maps of kept stacks of at most room addresses.
func StackMaps(room int) map[string]*ebpf.MapSpec {
	numbers := func(name string, room int) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: name, Type: ebpf.Hash, KeySize: uint32(stackKey(room)), ValueSize: 8,
			MaxEntries: backend.MaxStacks}
	}
	m := map[string]*ebpf.MapSpec{
		plan.MapShortStacks: numbers(plan.MapShortStacks, min(room, shortStack)),
		plan.MapStackList: {Name: plan.MapStackList, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(stackKey(room)),
			MaxEntries: backend.MaxStacks + 1},
	}
	if room > shortStack {
		m[plan.MapStacks] = numbers(plan.MapStacks, room)
	}
	return m
}

// numbers calls a helper for the map with the number of a stack of n addresses, whose key is the helper's second
// argument.
func (g *Output) numbers(n mach.Reg, fn asm.BuiltinFunc, args ...emit.Arg) mach.Reg {
	on := func(name string) mach.Reg { return g.Call(fn, append([]emit.Arg{emit.Map(name)}, args...)...) }
	if g.U.P.Limits.MaxBacktrace <= shortStack {
		return on(plan.MapShortStacks)
	}
	r := g.Reg()
	short, long, done := g.Block(), g.Block(), g.Block()
	g.CondI(asm.JGT, n, shortStack, long, short)
	g.Set(short)
	g.Mov(r, on(plan.MapShortStacks))
	g.Jump(done)
	g.Set(long)
	g.Mov(r, on(plan.MapStacks))
	g.Jump(done)
	g.Set(done)
	return r
}

// KeepStack gives the number of the stack, from 1, and enters it where it is new: 0 for a stack without addresses, but
// that of a goroutine is one that is cut then. It raises an error where there is no room for another one.
func (g *Output) KeepStack(in *ir.Instr, user bool) {
	if in.Dst != ir.NoReg {
		g.keep(in, user, nil, ir.I(0))
	}
}

// KeepBelow is KeepStack of the program with another address below all others, unless that is 0: of the go statement.
func (g *Output) KeepBelow(in *ir.Instr) {
	if in.Dst != ir.NoReg {
		g.keep(in, true, nil, in.Args[0])
	}
}

// KeepGoStack is KeepBelow of a goroutine whose thread is on another stack.
func (g *Output) KeepGoStack(in *ir.Instr) {
	if in.Dst != ir.NoReg {
		g.keep(in, true, &other{pc: in.Args[0], sp: in.Args[1], fp: in.Args[2], low: in.Args[3], high: in.Args[4]},
			in.Args[5])
	}
}

// other says of a walk where it starts, at the registers if sp is 0, and which frames belong to the stack: those whose
// stack pointer is not outside of low and high.
type other struct{ pc, sp, fp, low, high ir.Val }

func (g *Output) keep(in *ir.Instr, user bool, from *other, below ir.Val) {
	g.U.Kept = true
	room := g.U.P.Limits.MaxBacktrace
	dst := g.Longs[in.Dst]
	created := below.Kind != ir.ValInt || below.Int != 0
	most := room
	if created {
		most--
	}
	var list emit.Mem
	var n, cut mach.Reg
	walked := user && (from != nil || g.raw())
	switch {
	case walked:
		list, n, cut = g.walk(in, most, backend.KeptHead, from)
	case user && most > 1 && g.framed():
		list, n = g.frames(most, backend.KeptHead)
	default:
		list = emit.At(g.TempBuffer(stackKey(room)), backend.KeptHead)
		n = g.trace(list, most, user)
	}
	key := list.Plus(-backend.KeptHead)
	done := g.Block()
	g.MovI(dst, 0)
	if from == nil {
		g.UnlessI(asm.JLT, n, 8, done)
	}
	g.AluI(asm.RSh, n, 3)
	isCreated := g.Imm(0)
	if created {
		isCreated = g.putBelow(list, n, most, g.Copy(g.Long(below)))
	}
	count := g.Copy(n)
	g.Alu(asm.Or, n, g.Imm(int64(room)<<32))
	g.StoreP(key, 0, n, asm.DWord)
	if user {
		whose := g.Copy(g.task.Tgid())
		g.AluI(asm.LSh, whose, 32)
		g.AluI(asm.RSh, whose, 32)
		if created {
			g.Alu(asm.Or, whose, isCreated)
		}
		is := int64(backend.StackUser)
		if walked {
			is |= backend.StackWalked
			g.AluI(asm.LSh, cut, 32+emit.Log2(backend.StackCut))
			g.Alu(asm.Or, whose, cut)
		}
		g.Alu(asm.Or, whose, g.Imm(is<<32))
		g.StoreP(key, 8, whose, asm.DWord)
	} else {
		g.StoreIP(key, 8, 0, asm.DWord)
	}
	fresh, known := g.Cold(), g.Block()
	at := g.numbers(count, asm.FnMapLookupElem, g.ArgP(key))
	g.CondI(asm.JEq, at, 0, fresh, known)
	g.Set(known)
	g.Load(dst, at, 0, asm.DWord)
	g.Jump(done)

	// A stack is in the list before it has a number that others can see. Who comes second with it takes that of the
	// first one, and a place of the list stays empty.
	g.Set(fresh)
	full, listed, entered, second := g.Cold(), g.Cold(), g.Cold(), g.Cold()
	num := g.Imm(1)
	g.Atomic(asm.FetchAdd, g.MapVal(plan.MapControl, 0), plan.CtlStacks, num, asm.DWord)
	g.AluI(asm.Add, num, 1)
	slot := g.Temp(8)
	g.StoreS(slot, 0, num, asm.DWord)
	r := g.Call(asm.FnMapUpdateElem, emit.Map(plan.MapStackList), emit.OnStack(slot, 0), g.ArgP(key),
		emit.Const(emit.UpdateAny))
	g.CondI(asm.JEq, r, 0, listed, full)
	g.Set(listed)
	r = g.numbers(count, asm.FnMapUpdateElem, g.ArgP(key), emit.OnStack(slot, 0), emit.Const(emit.UpdateNew))
	g.CondI(asm.JEq, r, 0, entered, second)
	g.Set(entered)
	g.LoadS(dst, slot, 0, asm.DWord)
	g.Jump(done)
	g.Set(second)
	at = g.numbers(count, asm.FnMapLookupElem, g.ArgP(key))
	again := g.Cold()
	g.CondI(asm.JEq, at, 0, full, again)
	g.Set(again)
	g.Load(dst, at, 0, asm.DWord)
	g.Jump(done)

	g.Set(full)
	g.str.RaiseText(ir.ErrArgument, body.Literal(fmt.Sprintf("no room for another stack: %d are kept",
		backend.MaxStacks)), in.OnErr)
	g.Set(done)
}

// putBelow stores an address behind the n that there are of most, unless it is 0, and counts it. It gives what is to be
// said of that in the word with the process.
func (g *Output) putBelow(list emit.Mem, n mach.Reg, most int, addr mach.Reg) mach.Reg {
	is, none := g.Imm(0), g.Block()
	g.StoreIP(list, 8*most, 0, asm.DWord)
	g.UnlessI(asm.JEq, addr, 0, none)
	at := g.Tight(g.Copy(n), most)
	g.AluI(asm.LSh, at, 3)
	g.Alu(asm.Add, at, g.AddrP(list))
	g.Store(at, 0, addr, asm.DWord)
	g.AluI(asm.Add, n, 1)
	g.Mov(is, g.Imm(backend.StackCreated<<32))
	g.Here(none)
	return is
}
