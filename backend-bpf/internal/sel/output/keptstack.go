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
// compares the addresses and two stacks are never taken for one; MapStackList goes back.

// stackKey is the size of what makes up a stack of at most room addresses: u32 n, u32 room, u32 tgid, u32 what it
// is (backend.StackUser), and the addresses with zeros behind them. It is what wire.Stack looks like.
func stackKey(room int) int { return backend.KeptHead + 8*room }

// StackMaps are the maps of kept stacks of at most room addresses.
func StackMaps(room int) (numbers, list *ebpf.MapSpec) {
	size := uint32(stackKey(room))
	return &ebpf.MapSpec{Name: plan.MapStacks, Type: ebpf.Hash, KeySize: size, ValueSize: 8,
			MaxEntries: backend.MaxStacks},
		&ebpf.MapSpec{Name: plan.MapStackList, Type: ebpf.Array, KeySize: 4, ValueSize: size,
			MaxEntries: backend.MaxStacks + 1}
}

// KeepStack gives the number of the stack, from 1, and enters it where it is new: 0 for a stack without addresses. It
// raises an error where there is no room for another one.
func (g *Output) KeepStack(in *ir.Instr, user bool) {
	if in.Dst == ir.NoReg {
		return
	}
	g.U.Kept = true
	room := g.U.P.Limits.MaxBacktrace
	dst := g.Longs[in.Dst]
	var list emit.Mem
	var n, cut mach.Reg
	walked := user && g.raw()
	if walked {
		list, n, cut = g.walk(in, room, 16)
	} else {
		list = emit.At(g.TempBuffer(stackKey(room)), 16)
		n = g.trace(list, room, user)
	}
	key := list.Plus(-16)
	done := g.Block()
	g.MovI(dst, 0)
	g.UnlessI(asm.JLT, n, 8, done)
	g.AluI(asm.RSh, n, 3)
	g.Alu(asm.Or, n, g.Imm(int64(room)<<32))
	g.StoreP(key, 0, n, asm.DWord)
	if user {
		whose := g.Copy(g.task.Tgid())
		g.AluI(asm.LSh, whose, 32)
		g.AluI(asm.RSh, whose, 32)
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
	at := g.Call(asm.FnMapLookupElem, emit.Map(plan.MapStacks), g.ArgP(key))
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
	r = g.Call(asm.FnMapUpdateElem, emit.Map(plan.MapStacks), g.ArgP(key), emit.OnStack(slot, 0),
		emit.Const(emit.UpdateNew))
	g.CondI(asm.JEq, r, 0, entered, second)
	g.Set(entered)
	g.LoadS(dst, slot, 0, asm.DWord)
	g.Jump(done)
	g.Set(second)
	at = g.Call(asm.FnMapLookupElem, emit.Map(plan.MapStacks), g.ArgP(key))
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
