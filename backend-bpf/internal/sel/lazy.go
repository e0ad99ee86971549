package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/place"
	"github.com/gostap/gostap/runtime/wire"
)

// lazy is a String register whose text is made on the host: the kernel sends what it is made of.
type lazy struct {
	wire.Arg
	val mach.Reg // the address, number or index
	// text is a Quoted's.
	text *strVar
}

// lazyIntr notes what the text of a PrintOnly intrinsic will be made of.
func (g *gen) lazyIntr(in *ir.Instr) {
	if in.Dst == ir.NoReg || g.uses[in.Dst] == 0 {
		return
	}
	arg := in.Builtin().Text
	if arg.Lazy == wire.NotLazy {
		g.fail("intrinsic %s has no form on the wire", in.Name)
		return
	}
	if !g.printed[in.Dst] || g.defs[in.Dst] != 1 {
		g.refuse(in, "bpf-lazy-text", "the text of %s() is made on the host: with eBPF it can only be printed, not compared, stored or used as a key", in.Name)
		return
	}
	l := &lazy{Arg: arg}
	if l.Lazy == wire.Decoded {
		l.Names = &wire.Names{List: [][]byte{[]byte(in.Args[1].Str)}}
	}
	if len(in.Args) > 0 {
		l.val = g.copy(g.long(in.Args[0]))
	}
	g.lazies[in.Dst] = l
}

// lazyField prepares a text that the host makes.
func (g *gen) lazyField(l *lazy) field {
	switch l.Kind {
	case wire.Stack:
		room := g.u.P.Limits.MaxBacktrace
		if !l.Lazy.OfKernel() && g.raw() {
			return field{Arg: wire.Arg{Kind: wire.RawStack, Lazy: l.Lazy}, size: g.rawSize(), put: func(r *record) { g.putRawStack(r, room) }}
		}
		return field{Arg: l.Arg, size: 16 + 8*room, fixed: true, put: func(r *record) { g.putStack(r, room, !l.Lazy.OfKernel()) }}
	case wire.Quoted:
		s := l.text.str()
		size := sentSize(s.cap)
		return field{Arg: l.Arg, size: 8 + size, put: func(r *record) {
			n := g.length(s)
			room := g.lengthWord(r, n, g.binI(asm.And, g.getP(s.lenAt, 0, asm.DWord), wire.Unread))
			g.copyBytes(g.argP(r.at(0)), n, g.bytesOf(s))
			r.grow(room, size)
		}}
	case wire.Sym:
		return field{Arg: l.Arg, size: 16, fixed: true, put: func(r *record) {
			r.reg(l.val)
			r.reg(g.tgid())
		}}
	}
	return field{Arg: l.Arg, size: 8, fixed: true, put: func(r *record) { r.reg(l.val) }}
}

// userStack is BPF_F_USER_STACK.
const userStack = 1 << 8

// putStack writes a stack trace of at most room entries.
func (g *gen) putStack(r *record, room int, user bool) {
	n := g.trace(r.at(16), room, user)
	g.aluI(asm.RSh, n, 3)
	g.alu(asm.Or, n, g.imm(int64(room)<<32))
	r.reg(n)
	r.reg(g.tgid())
	r.off += 8 * room
}

// trace stores the addresses of a stack trace, at most room of them, in list, and gives how many bytes they take. At a function's entry the frame does not exist
// yet, so that a walk by frame pointers misses the direct caller: it is put in from the stack's top,
// unless the kernel has done so (which it does from 6.12 on where the probe is on "push %rbp").
func (g *gen) trace(list mem, room int, user bool) mach.Reg {
	if why := g.hook().noStack; why != "" {
		g.refuse(&ir.Instr{Pos: g.pos, Via: g.via}, "bpf-stack", "%s", why)
		return g.imm(0)
	}
	flags := int64(0)
	if user {
		flags = userStack
	}
	n := g.getStack(list, room, flags)
	if user && place.ReturnOnTop(g.h.Sites) && room > 2 {
		s := g.temp(8)
		done := g.block()
		res := g.call(asm.FnProbeReadUser, aSlot(s, 0), aImm(8), aReg(g.get(g.ctx, ptRegs[regSP], asm.DWord)))
		g.unlessI(asm.JNE, res, 0, done)
		ret := g.getS(s, 0, asm.DWord)
		g.unlessI(asm.JLT, n, 8, done)
		miss, have := g.block(), g.block()
		g.condI(asm.JLT, n, 16, miss, have)
		g.cond(asm.JNE, g.getP(list, 8, asm.DWord), ret, miss, done)
		g.set(miss)
		again := g.call(asm.FnGetStack, aReg(g.ctx), g.argP(list.plus(8)), aImm(int64(8*(room-1))), aImm(flags))
		g.unlessI(asm.JSLT, again, 0, done)
		g.mov(n, again)
		g.storeP(list, 0, g.get(g.ctx, ptRegs[regIP], asm.DWord), asm.DWord)
		g.storeP(list, 8, ret, asm.DWord)
		g.aluI(asm.Add, n, 8)
		g.here(done)
	}
	if !user && g.hook().ip != nil {
		// The trace begins behind the breakpoint, or with a kprobe.multi link behind the call of the tracer.
		none := g.block()
		g.unlessI(asm.JLT, n, 8, none)
		g.storeP(list, 0, g.ip(), asm.DWord)
		g.here(none)
	}
	return n
}

// getStack stores what the kernel says of a stack, at most room addresses, in list, and gives how many bytes that
// takes: 0 where it refuses.
func (g *gen) getStack(list mem, room int, flags int64) mach.Reg {
	n := g.call(asm.FnGetStack, aReg(g.ctx), g.argP(list), aImm(int64(8*room)), aImm(flags))
	bad, on := g.cold(), g.block()
	g.condI(asm.JSLT, n, 0, bad, on)
	g.set(bad)
	g.movI(n, 0)
	g.jump(on)
	g.set(on)
	return n
}

// stackLevel gives one address of a stack, 0 where the stack does not reach.
func (g *gen) stackLevel(in *ir.Instr, user bool) {
	if in.Dst == ir.NoReg {
		return
	}
	dst, room := g.longs[in.Dst], g.u.P.Limits.MaxBacktrace
	list := mem{slot: g.temp(8 * room)}
	g.zero(list, 8*room)
	g.trace(list, room, user)
	if v := in.Args[0]; v.Kind == ir.ValInt {
		if v.Int < 0 || v.Int >= int64(room) {
			g.movI(dst, 0)
			return
		}
		g.loadP(dst, list, int(8*v.Int), asm.DWord)
		return
	}
	at, done := g.copy(g.long(in.Args[0])), g.block()
	g.movI(dst, 0)
	for i := range room {
		next := g.block()
		g.unlessI(asm.JNE, at, int64(i), next)
		g.loadP(dst, list, 8*i, asm.DWord)
		g.jump(done)
		g.set(next)
	}
	g.here(done)
}
