package text

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/aes"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// target is where a string function writes: dst itself if its bytes can be written one by one and the
// operands are not in it, else a string for the time being, which done copies.
func (g *Text) target(in *ir.Instr, size int, operands ...body.Str) (t *body.StrVar, done func()) {
	dst := g.Strs[in.Dst]
	direct := !dst.Small && dst.Cap >= size
	for _, o := range operands {
		direct = direct && o.V != dst
	}
	if direct {
		return dst, func() {}
	}
	t = g.TempStr(size)
	return t, func() { g.Assign(dst, t.Str()) }
}

// Cstring reads a string from memory: up to a NUL, at most n bytes if n is given; alt stands for what
// cannot be read, else that is an error.
func (g *Text) Cstring(in *ir.Instr, kernel bool, n, alt ir.Val) {
	dst := g.Strs[in.Dst]
	addr := g.Long(in.Args[0])
	// An error must leave dst as it was, and the helpers clear their buffer then.
	t := dst
	if in.OnErr != ir.NoBlock && alt.Kind == ir.ValNone || alt.IsReg() && g.StrOf(alt).V == dst {
		t = g.TempStr(dst.Cap)
	}
	none, bad, done := g.Block(), g.Cold(), g.Block()
	g.readCString(t, kernel, addr, n, none, bad)
	if t != dst {
		g.Assign(dst, t.Str())
	}
	g.Jump(done)
	if n.Kind != ir.ValNone {
		g.Set(none)
		g.Assign(dst, body.Literal(""))
		g.Jump(done)
	}
	g.Set(bad)
	if alt.Kind != ir.ValNone {
		g.Assign(dst, g.StrOf(alt))
		g.Jump(done)
	} else {
		g.Raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	}
	g.Set(done)
}

// readCString reads a string from memory into t: up to a NUL, at most n bytes if n is given, where less than one
// goes to none. What cannot be read goes to bad.
func (g *Text) readCString(t *body.StrVar, kernel bool, addr mach.Reg, n ir.Val, none, bad *mach.Block) {
	readStr := asm.FnProbeReadUserStr
	if kernel {
		readStr = asm.FnProbeReadKernelStr
	}
	have := g.Block()
	if t.Small {
		g.Zero(t.At, maps.StringSize(t.Cap))
	}
	buf := g.ArgP(t.At)
	most := emit.Const(int64(t.Cap) + 1)
	var count mach.Reg = mach.None
	if n.Kind != ir.ValNone {
		count = g.Copy(g.Long(n))
		some := g.Block()
		g.CondI(asm.JSLE, count, 0, none, some)
		g.Set(some)
		count = g.Tight(count, t.Cap)
		g.Bound(count, t.Cap)
		room := g.Tight(count, t.Cap)
		g.AluI(asm.Add, room, 1)
		most = emit.InReg(room)
	}
	r := g.Call(readStr, buf, most, emit.InReg(addr))
	// Kernels up to 6.1 at least give 0 for an empty string of a program, where they should count its NUL.
	empty := func() {
		if !kernel {
			none, on := g.Cold(), g.Block()
			g.CondI(asm.JEq, r, 0, none, on)
			g.Set(none)
			g.MovI(r, 1)
			g.Jump(on)
			g.Set(on)
		}
	}
	empty()
	if !kernel && g.MaySleep() {
		slow, failed := g.Cold(), g.Cold()
		g.CondI(asm.JSLE, r, 0, slow, have)
		g.Set(slow)
		g.FaultIn(addr, t.Cap, bad, failed, func() {
			g.Mov(r, g.Call(readStr, buf, most, emit.InReg(addr)))
			empty()
			g.UnlessI(asm.JSGT, r, 0, have)
		})
		g.Here(failed)
	}
	if count == mach.None {
		g.CondI(asm.JSLE, r, 0, bad, have)
	} else {
		// The byte behind the n bytes was asked for as well, and may not be there: try without it.
		again := g.Cold()
		g.CondI(asm.JSLE, r, 0, again, have)
		g.Set(again)
		raw := g.TempStr(t.Cap)
		g.ReadMem(kernel, g.ArgP(raw.At), emit.InReg(count), addr, bad)
		end := g.Bin(asm.Add, g.AddrP(raw.At), count)
		g.StoreI(end, 0, 0, asm.DWord)
		g.Mov(r, g.Call(asm.FnProbeReadKernelStr, buf, most, g.ArgP(raw.At)))
		g.CondI(asm.JSLE, r, 0, bad, have)
	}
	g.Set(have)
	if !t.Small {
		g.strResult(t, r)
	}
}

// substr(s, start, n) gives nothing when start lies outside.
func (g *Text) Substr(in *ir.Instr) {
	s := g.flat(g.StrOf(in.Args[0]))
	t, done := g.target(in, min(s.Cap, g.Strs[in.Dst].Cap), s)
	start := g.Copy(g.Long(in.Args[1]))
	n := g.Copy(g.Long(in.Args[2]))
	left := g.Length(s)
	empty, end := g.Block(), g.Block()
	g.Unless(asm.JGE, start, left, empty) // unsigned: negative ones too
	g.UnlessI(asm.JSLE, n, 0, empty)
	g.Alu(asm.Sub, left, start)
	g.AtMost(n, left)
	g.Clamp(n, t.Cap)
	g.Bound(start, s.Cap)
	if s.Lit {
		g.U.Slack = max(g.U.Slack, 2*emit.Mask(s.Cap))
	}
	from := g.address(s)
	g.Alu(asm.Add, from, start)
	g.CopyBytes(g.ArgP(t.At), n, emit.InReg(from))
	g.finish(t, n)
	g.Jump(end)
	g.Set(empty)
	g.Assign(t, body.Literal(""))
	g.Here(end)
	done()
}

// flat gives s as a string whose bytes can be addressed one by one: large, or constant. Elements of maps
// and strings on the stack are copied.
func (g *Text) flat(s body.Str) body.Str {
	if s.Lit || !s.Padded {
		return s
	}
	t := g.TempStr(s.Cap)
	g.Assign(t, s)
	return t.Str()
}

// address gives the address of the bytes of a flat string in a new register.
func (g *Text) address(s body.Str) mach.Reg {
	a := g.BytesOf(s)
	r := g.Reg()
	switch a.Kind {
	case emit.ArgVal:
		g.Mov(r, g.MapVal(a.Sym, int(a.Imm)))
	default:
		g.Mov(r, a.Reg)
	}
	return r
}

// stringat(s, i) is a byte of s.
func (g *Text) Stringat(in *ir.Instr) {
	s := g.flat(g.StrOf(in.Args[0]))
	i := g.Copy(g.Long(in.Args[1]))
	bad := g.Cold()
	g.Unless(asm.JGE, i, g.Length(s), bad)
	g.Result(in, g.bytes(s, i, asm.Byte))
	on := g.Cur
	g.Set(bad)
	g.RaiseText(ir.ErrArgument, body.Literal("string index out of range"), in.OnErr)
	g.Set(on)
}

// Word is string_word(s, i): 8 bytes of s from i on, without what lies behind its end.
func (g *Text) Word(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	s := g.flat(g.StrOf(in.Args[0]))
	last := int64(maps.StringSize(s.Cap)) - 8
	i, dst, done := g.Copy(g.Long(in.Args[1])), g.Reg(), g.Block()
	g.MovI(dst, 0)
	left := g.Copy(g.Length(s))
	g.Unless(asm.JGE, i, left, done) // unsigned: negative ones too
	g.UnlessI(asm.JGT, i, last, done)
	g.Alu(asm.Sub, left, i)
	i = g.Tight(i, int(last))
	if s.Lit {
		g.Alu(asm.Add, i, g.MapVal(plan.MapText, g.TextOf(s.Text)))
		g.Load(dst, i, 0, asm.DWord)
	} else {
		g.Alu(asm.Add, i, s.At.Base)
		g.Load(dst, i, s.At.Off, asm.DWord)
	}
	g.UnlessI(asm.JGE, left, 8, done)
	g.AluI(asm.LSh, left, 3)
	past := g.Imm(64)
	g.Alu(asm.Sub, past, left)
	g.Alu(asm.LSh, dst, past)
	g.Alu(asm.RSh, dst, past)
	g.Here(done)
	g.Mov(g.Longs[in.Dst], dst)
}

// AESColumn is aes_column(i).
func (g *Text) AESColumn(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	i := g.BinI(asm.And, g.Long(in.Args[0]), 255)
	g.AluI(asm.LSh, i, 3)
	g.Alu(asm.Add, i, g.Numbers(aes.Text()))
	g.Load(g.Longs[in.Dst], i, 0, asm.DWord)
}

// CharString makes a string of one byte; that of 0 is empty.
func (g *Text) CharString(in *ir.Instr) {
	dst := g.Strs[in.Dst]
	if dst.Cap == 0 {
		g.Assign(dst, body.Literal(""))
		return
	}
	c := g.BinI(asm.And, g.Long(in.Args[0]), 0xff)
	g.StoreP(dst.At, 0, c, asm.DWord)
	if dst.Small {
		g.Zero(dst.At.Plus(8), maps.StringSize(dst.Cap)-8)
		return
	}
	g.StoreIP(dst.At, 8, 0, asm.DWord)
	g.Neg(c) // 0 stays 0, all others become negative
	g.AluI(asm.RSh, c, 63)
	g.StoreP(dst.LenAt, 0, c, asm.DWord)
}

// loop runs body for i = 0, 1, ... below n, at most limit times. body ends by going to next or leaving.
func (g *Text) loop(n mach.Reg, limit int, body func(i mach.Reg, next *mach.Block)) {
	g.loopFrom(g.Imm(0), n, limit, body)
}

// loopFrom is loop from the number that i has, which it changes.
func (g *Text) loopFrom(i, n mach.Reg, limit int, body func(i mach.Reg, next *mach.Block)) {
	head, next, done := g.Block(), g.Block(), g.Block()
	g.Here(head)
	g.Unless(asm.JGE, i, n, done)
	g.UnlessI(asm.JGE, i, int64(limit), done)
	body(i, next)
	g.Here(next)
	g.AluI(asm.Add, i, 1)
	g.Jump(head)
	g.Set(done)
}

// Loops over the bytes of strings keep no addresses from turn to turn: those could not be kept in memory
// where a loop is made of steps.

// bytes loads size bytes at index i of a flat string.
func (g *Text) bytes(s body.Str, i mach.Reg, size asm.Size) mach.Reg {
	p := g.BinI(asm.And, i, int64(emit.Mask(s.Cap)))
	if s.Lit {
		g.Alu(asm.Add, p, g.MapVal(plan.MapText, g.TextOf(s.Text)))
		g.U.Slack = max(g.U.Slack, emit.Mask(s.Cap))
		return g.Get(p, 0, size)
	}
	g.Alu(asm.Add, p, s.At.Base)
	return g.Get(p, s.At.Off, size)
}

// put stores the low size bytes of c at index i of a large string.
func (g *Text) put(v *body.StrVar, i, c mach.Reg, size asm.Size) {
	p := g.BinI(asm.And, i, int64(emit.Mask(v.Cap)))
	g.Alu(asm.Add, p, v.At.Base)
	g.Store(p, v.At.Off, c, size)
}

// MapCase moves the 26 letters from first on by a distance.
func (g *Text) MapCase(in *ir.Instr, first int64, by int64) {
	s := g.flat(g.StrOf(in.Args[0]))
	t, done := g.target(in, s.Cap, s)
	n := g.Length(s)
	g.loop(n, s.Cap, func(i mach.Reg, next *mach.Block) {
		c := g.bytes(s, i, asm.Byte)
		k := g.BinI(asm.Sub, c, first)
		// Unsigned: what lies below the first letter is large.
		other := g.Block()
		g.UnlessI(asm.JGT, k, 25, other)
		g.AluI(asm.Add, c, by)
		g.Here(other)
		g.put(t, i, c, asm.Byte)
	})
	g.finish(t, n)
	done()
}

// digit goes to bad unless c is a digit of a base up to 36, and gives its value.
func (g *Text) digit(c mach.Reg, bad *mach.Block) mach.Reg {
	d := g.BinI(asm.Sub, c, '0')
	letter, have := g.Block(), g.Block()
	g.CondI(asm.JGT, d, 9, letter, have)
	g.Set(letter)
	g.Mov(d, g.BinI(asm.Or, c, 0x20))
	g.AluI(asm.Sub, d, 'a')
	g.UnlessI(asm.JGT, d, 25, bad)
	g.AluI(asm.Add, d, 10)
	g.Here(have)
	return d
}

// Strtol reads a number as the kernel's simple_strtol does.
func (g *Text) Strtol(in *ir.Instr) {
	s := g.flat(g.StrOf(in.Args[0]))
	n := g.Length(s)
	p := g.address(s)
	base := g.Copy(g.Long(in.Args[1]))
	start, neg := g.Imm(0), g.Imm(0)
	// Reading one to three bytes behind the end is safe: zeros are there.
	minus, sign := g.Block(), g.Block()
	g.CondI(asm.JEq, g.Get(p, 0, asm.Byte), '-', minus, sign)
	g.Set(minus)
	g.MovI(start, 1)
	g.MovI(neg, -1)
	g.Jump(sign)
	g.Set(sign)
	q := g.Bin(asm.Add, p, start)
	// "0x" and a digit of base 16.
	prefix, noHex, ready := g.Block(), g.Block(), g.Block()
	g.UnlessI(asm.JNE, g.Get(q, 0, asm.Byte), '0', noHex)
	g.UnlessI(asm.JNE, g.BinI(asm.Or, g.Get(q, 1, asm.Byte), 0x20), 'x', noHex)
	d := g.digit(g.Get(q, 2, asm.Byte), noHex)
	g.UnlessI(asm.JGE, d, 16, noHex)
	g.UnlessI(asm.JEq, base, 0, prefix)
	g.UnlessI(asm.JEq, base, 16, prefix)
	g.Jump(noHex)
	g.Set(prefix)
	g.MovI(base, 16)
	g.AluI(asm.Add, start, 2)
	g.Jump(ready)
	g.Set(noHex)
	g.UnlessI(asm.JNE, base, 0, ready)
	g.MovI(base, 10)
	g.UnlessI(asm.JNE, g.Get(q, 0, asm.Byte), '0', ready)
	g.MovI(base, 8)
	g.Here(ready)
	v := g.Imm(0)
	stop := g.Block()
	g.loop(n, s.Cap, func(i mach.Reg, next *mach.Block) {
		g.Unless(asm.JLT, i, start, next)
		d := g.digit(g.bytes(s, i, asm.Byte), stop)
		g.Unless(asm.JSGE, d, base, stop)
		g.Alu(asm.Mul, v, base)
		g.Alu(asm.Add, v, d)
	})
	g.Here(stop)
	g.Alu(asm.Xor, v, neg)
	g.Alu(asm.Sub, v, neg)
	g.Result(in, v)
}

// TableText gives an entry of a constant table, which lies among the constants in slots of one size, like elements of a
// map.
func (g *Text) TableText(in *ir.Instr) {
	dst := g.Strs[in.Dst]
	if in.Args[1].Kind != ir.ValStr {
		g.Fail("the table of %s is no constant", in.Name)
		return
	}
	list := textfmt.Entries(in.Args[1].Str)
	if v := in.Args[0]; v.Kind == ir.ValInt || len(list) == 0 {
		g.Assign(dst, body.Literal(textfmt.Entry(in.Args[1].Str, v.Int)))
		return
	}
	most := 0
	for _, e := range list {
		most = max(most, len(e))
	}
	size := maps.StringSize(most)
	slots := make([]byte, size*len(list))
	for i, e := range list {
		copy(slots[i*size:], e)
	}
	const mark = "\x00table\x00\x00"
	i := g.Copy(g.Long(in.Args[0]))
	none, done := g.Block(), g.Block()
	g.UnlessI(asm.JGE, i, int64(len(list)), none) // unsigned: negative ones too
	i = g.Tight(i, len(list)-1)
	g.AluI(asm.Mul, i, int64(size))
	p := g.MapVal(plan.MapText, g.TextOf(mark+string(slots))+len(mark))
	g.Alu(asm.Add, p, i)
	g.Assign(dst, body.Padded(emit.At(p, 0), most))
	g.Jump(done)
	g.Set(none)
	g.Assign(dst, body.Literal(""))
	g.Here(done)
}
