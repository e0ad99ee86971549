package output

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/partition"
	"github.com/gostap/gostap/runtime/wire"
)

// LazyIntr notes what the text of a PrintOnly intrinsic will be made of.
func (g *Output) LazyIntr(in *ir.Instr) {
	if in.Dst == ir.NoReg || g.Uses[in.Dst] == 0 {
		return
	}
	arg := in.Builtin().Text
	if arg.Lazy == wire.NotLazy {
		g.Fail("intrinsic %s has no form on the wire", in.Name)
		return
	}
	if !g.Printed[in.Dst] || g.Defs[in.Dst] != 1 {
		g.Refuse(in, "bpf-lazy-text", "the text of %s() is made on the host: with eBPF it can only be printed, not "+
			"compared, stored or used as a key", in.Name)
		return
	}
	l := &body.Lazy{Arg: arg}
	if l.Lazy == wire.Decoded {
		l.Names = &wire.Names{List: [][]byte{[]byte(in.Args[1].Str)}}
	}
	if l.Kind == wire.Snapshot {
		l.Names, l.Snap = &wire.Names{List: [][]byte{[]byte(in.Args[0].Str)}}, g.snapOff(in)
	} else if len(in.Args) > 0 {
		l.Val = g.Copy(g.Long(in.Args[0]))
	}
	g.Lazies[in.Dst] = l
}

// lazyField prepares a text that the host makes.
func (g *Output) lazyField(l *body.Lazy) Field {
	switch l.Kind {
	case wire.Stack:
		room := g.U.P.Limits.MaxBacktrace
		if !l.Lazy.OfKernel() && g.raw() {
			return Field{Arg: wire.Arg{Kind: wire.RawStack, Lazy: l.Lazy}, size: g.RawSize(),
				put: func(r *Record) { g.putRawStack(r, room) }}
		}
		return Field{Arg: l.Arg, size: 16 + 8*room, fixed: true,
			put: func(r *Record) { g.putStack(r, room, !l.Lazy.OfKernel()) }}
	case wire.Quoted:
		s := l.Text.Str()
		size := SentSize(s.Cap)
		return Field{Arg: l.Arg, size: 8 + size, put: func(r *Record) {
			n := g.str.Length(s)
			room := g.LengthWord(r, n, g.BinI(asm.And, g.GetP(s.LenAt, 0, asm.DWord), wire.Unread))
			g.str.CopyBytes(g.ArgP(r.At(0)), n, g.str.BytesOf(s))
			r.Grow(room, size)
		}}
	case wire.Snapshot:
		return g.snapField(l)
	case wire.Sym:
		return Field{Arg: l.Arg, size: 16, fixed: true, put: func(r *Record) {
			r.Reg(l.Val)
			r.Reg(g.task.Tgid())
		}}
	}
	return Field{Arg: l.Arg, size: 8, fixed: true, put: func(r *Record) { r.Reg(l.Val) }}
}

// userStack is BPF_F_USER_STACK.
const userStack = 1 << 8

// putStack writes a stack trace of at most room entries.
func (g *Output) putStack(r *Record, room int, user bool) {
	n := g.trace(r.At(16), room, user)
	g.AluI(asm.RSh, n, 3)
	g.Alu(asm.Or, n, g.Imm(int64(room)<<32))
	r.Reg(n)
	r.Reg(g.task.Tgid())
	r.off += 8 * room
}

// trace stores the addresses of a stack trace, at most room of them, in list, and gives how many bytes they take. At a
// function's entry the frame does not exist yet, so that a walk by frame pointers misses the direct caller: it is put
// in from the stack's top, unless the kernel has done so (which it does from 6.12 on where the probe is on "push
// %rbp").
func (g *Output) trace(list emit.Mem, room int, user bool) mach.Reg {
	if why := g.hook.Row().NoStack; why != "" {
		g.Refuse(&ir.Instr{Pos: g.Pos, Via: g.Via}, "bpf-stack", "%s", why)
		return g.Imm(0)
	}
	flags := int64(0)
	if user {
		flags = userStack
	}
	n := g.getStack(list, room, flags)
	if user && partition.ReturnOnTop(g.H.Sites) && room > 1 {
		s := g.Temp(8)
		done := g.Block()
		res := g.Call(asm.FnProbeReadUser, emit.OnStack(s, 0), emit.Const(8),
			emit.InReg(g.hook.RegIn(g.Ctx, g.U.P.On().SP)))
		g.UnlessI(asm.JNE, res, 0, done)
		ret := g.GetS(s, 0, asm.DWord)
		g.UnlessI(asm.JLT, n, 8, done)
		miss, have := g.Block(), g.Block()
		g.CondI(asm.JLT, n, 16, miss, have)
		g.Cond(asm.JNE, g.GetP(list, 8, asm.DWord), ret, miss, done)
		g.Set(miss)
		again := g.Call(asm.FnGetStack, emit.InReg(g.Ctx), g.ArgP(list.Plus(8)), emit.Const(int64(8*(room-1))),
			emit.Const(flags))
		g.UnlessI(asm.JSLT, again, 0, done)
		g.Mov(n, again)
		g.StoreP(list, 0, g.hook.RegIn(g.Ctx, g.U.P.On().IP), asm.DWord)
		g.StoreP(list, 8, ret, asm.DWord)
		g.AluI(asm.Add, n, 8)
		g.Here(done)
	}
	if !user && g.hook.Row().IP != nil {
		// The trace begins behind the breakpoint, or with a kprobe.multi link behind the call of the tracer.
		none := g.Block()
		g.UnlessI(asm.JLT, n, 8, none)
		g.StoreP(list, 0, g.hook.IP(), asm.DWord)
		g.Here(none)
	}
	return n
}

// getStack stores what the kernel says of a stack, at most room addresses, in list, and gives how many bytes that
// takes: 0 where it refuses.
func (g *Output) getStack(list emit.Mem, room int, flags int64) mach.Reg {
	n := g.Call(asm.FnGetStack, emit.InReg(g.Ctx), g.ArgP(list), emit.Const(int64(8*room)), emit.Const(flags))
	bad, on := g.Cold(), g.Block()
	g.CondI(asm.JSLT, n, 0, bad, on)
	g.Set(bad)
	g.MovI(n, 0)
	g.Jump(on)
	g.Set(on)
	return n
}

// StackLevel gives one address of a stack, 0 where the stack does not reach.
func (g *Output) StackLevel(in *ir.Instr, user bool) {
	if in.Dst == ir.NoReg {
		return
	}
	dst, room := g.Longs[in.Dst], g.U.P.Limits.MaxBacktrace
	list := emit.Mem{Slot: g.Temp(8 * room)}
	g.Zero(list, 8*room)
	g.trace(list, room, user)
	if v := in.Args[0]; v.Kind == ir.ValInt {
		if v.Int < 0 || v.Int >= int64(room) {
			g.MovI(dst, 0)
			return
		}
		g.LoadP(dst, list, int(8*v.Int), asm.DWord)
		return
	}
	at, done := g.Copy(g.Long(in.Args[0])), g.Block()
	g.MovI(dst, 0)
	for i := range room {
		next := g.Block()
		g.UnlessI(asm.JNE, at, int64(i), next)
		g.LoadP(dst, list, 8*i, asm.DWord)
		g.Jump(done)
		g.Set(next)
	}
	g.Here(done)
}

// addSite enters a print statement into the schema.
func (g *Output) addSite(s wire.Site) int {
	g.U.Schema.Sites = append(g.U.Schema.Sites, s)
	return len(g.U.Schema.Sites) - 1
}
