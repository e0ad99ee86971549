package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// target is where a string function writes: dst itself if its bytes can be written one by one and the
// operands are not in it, else a string for the time being, which done copies.
func (g *gen) target(in *ir.Instr, size int, operands ...str) (t *strVar, done func()) {
	dst := g.strs[in.Dst]
	direct := !dst.small && dst.cap >= size
	for _, o := range operands {
		direct = direct && o.v != dst
	}
	if direct {
		return dst, func() {}
	}
	t = g.tempStr(size)
	return t, func() { g.assign(dst, t.str()) }
}

// cstring reads a string from memory: up to a NUL, at most n bytes if n is given; alt stands for what
// cannot be read, else that is an error.
func (g *gen) cstring(in *ir.Instr, kernel bool, n, alt ir.Val) {
	dst := g.strs[in.Dst]
	addr := g.long(in.Args[0])
	// An error must leave dst as it was, and the helpers clear their buffer then.
	t := dst
	if in.OnErr != ir.NoBlock && alt.Kind == ir.ValNone || alt.IsReg() && g.strOf(alt).v == dst {
		t = g.tempStr(dst.cap)
	}
	none, bad, done := g.block(), g.cold(), g.block()
	g.readCString(t, kernel, addr, n, none, bad)
	if t != dst {
		g.assign(dst, t.str())
	}
	g.jump(done)
	if n.Kind != ir.ValNone {
		g.set(none)
		g.assign(dst, literal(""))
		g.jump(done)
	}
	g.set(bad)
	if alt.Kind != ir.ValNone {
		g.assign(dst, g.strOf(alt))
		g.jump(done)
	} else {
		g.raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	}
	g.set(done)
}

// readCString reads a string from memory into t: up to a NUL, at most n bytes if n is given, where less than one
// goes to none. What cannot be read goes to bad.
func (g *gen) readCString(t *strVar, kernel bool, addr mach.Reg, n ir.Val, none, bad *mach.Block) {
	readStr := asm.FnProbeReadUserStr
	if kernel {
		readStr = asm.FnProbeReadKernelStr
	}
	have := g.block()
	if t.small {
		g.zero(t.at, maps.StringSize(t.cap))
	}
	buf := g.argP(t.at)
	most := aImm(int64(t.cap) + 1)
	var count mach.Reg = mach.None
	if n.Kind != ir.ValNone {
		count = g.copy(g.long(n))
		some := g.block()
		g.condI(asm.JSLE, count, 0, none, some)
		g.set(some)
		count = g.tight(count, t.cap)
		g.bound(count, t.cap)
		room := g.tight(count, t.cap)
		g.aluI(asm.Add, room, 1)
		most = aReg(room)
	}
	r := g.call(readStr, buf, most, aReg(addr))
	// Kernels up to 6.1 at least give 0 for an empty string of a program, where they should count its NUL.
	empty := func() {
		if !kernel {
			none, on := g.cold(), g.block()
			g.condI(asm.JEq, r, 0, none, on)
			g.set(none)
			g.movI(r, 1)
			g.jump(on)
			g.set(on)
		}
	}
	empty()
	if !kernel && g.maySleep() {
		slow, failed := g.cold(), g.cold()
		g.condI(asm.JSLE, r, 0, slow, have)
		g.set(slow)
		g.faultIn(addr, t.cap, bad, failed, func() {
			g.mov(r, g.call(readStr, buf, most, aReg(addr)))
			empty()
			g.unlessI(asm.JSGT, r, 0, have)
		})
		g.here(failed)
	}
	if count == mach.None {
		g.condI(asm.JSLE, r, 0, bad, have)
	} else {
		// The byte behind the n bytes was asked for as well, and may not be there: try without it.
		again := g.cold()
		g.condI(asm.JSLE, r, 0, again, have)
		g.set(again)
		raw := g.tempStr(t.cap)
		g.readMem(kernel, g.argP(raw.at), aReg(count), addr, bad)
		end := g.bin(asm.Add, g.addrP(raw.at), count)
		g.storeI(end, 0, 0, asm.DWord)
		g.mov(r, g.call(asm.FnProbeReadKernelStr, buf, most, g.argP(raw.at)))
		g.condI(asm.JSLE, r, 0, bad, have)
	}
	g.set(have)
	if !t.small {
		g.strResult(t, r)
	}
}

// substr(s, start, n) gives nothing when start lies outside.
func (g *gen) substr(in *ir.Instr) {
	s := g.flat(g.strOf(in.Args[0]))
	t, done := g.target(in, min(s.cap, g.strs[in.Dst].cap), s)
	start := g.copy(g.long(in.Args[1]))
	n := g.copy(g.long(in.Args[2]))
	left := g.length(s)
	empty, end := g.block(), g.block()
	g.unless(asm.JGE, start, left, empty) // unsigned: negative ones too
	g.unlessI(asm.JSLE, n, 0, empty)
	g.alu(asm.Sub, left, start)
	g.atMost(n, left)
	g.clamp(n, t.cap)
	g.bound(start, s.cap)
	if s.lit {
		g.u.slack = max(g.u.slack, 2*mask(s.cap))
	}
	from := g.address(s)
	g.alu(asm.Add, from, start)
	g.copyBytes(g.argP(t.at), n, aReg(from))
	g.finish(t, n)
	g.jump(end)
	g.set(empty)
	g.assign(t, literal(""))
	g.here(end)
	done()
}

// flat gives s as a string whose bytes can be addressed one by one: large, or constant. Elements of maps
// and strings on the stack are copied.
func (g *gen) flat(s str) str {
	if s.lit || !s.padded {
		return s
	}
	t := g.tempStr(s.cap)
	g.assign(t, s)
	return t.str()
}

// address gives the address of the bytes of a flat string in a new register.
func (g *gen) address(s str) mach.Reg {
	a := g.bytesOf(s)
	r := g.reg()
	switch a.kind {
	case argVal:
		g.mov(r, g.mapVal(a.sym, int(a.imm)))
	default:
		g.mov(r, a.reg)
	}
	return r
}

// stringat(s, i) is a byte of s.
func (g *gen) stringat(in *ir.Instr) {
	s := g.flat(g.strOf(in.Args[0]))
	i := g.copy(g.long(in.Args[1]))
	bad := g.cold()
	g.unless(asm.JGE, i, g.length(s), bad)
	g.result(in, g.bytes(s, i, asm.Byte))
	on := g.cur
	g.set(bad)
	g.raiseText(ir.ErrArgument, literal("string index out of range"), in.OnErr)
	g.set(on)
}

// charString makes a string of one byte; that of 0 is empty.
func (g *gen) charString(in *ir.Instr) {
	dst := g.strs[in.Dst]
	if dst.cap == 0 {
		g.assign(dst, literal(""))
		return
	}
	c := g.binI(asm.And, g.long(in.Args[0]), 0xff)
	g.storeP(dst.at, 0, c, asm.DWord)
	if dst.small {
		g.zero(dst.at.plus(8), maps.StringSize(dst.cap)-8)
		return
	}
	g.storeIP(dst.at, 8, 0, asm.DWord)
	g.neg(c) // 0 stays 0, all others become negative
	g.aluI(asm.RSh, c, 63)
	g.storeP(dst.lenAt, 0, c, asm.DWord)
}

// loop runs body for i = 0, 1, ... below n, at most limit times. body ends by going to next or leaving.
func (g *gen) loop(n mach.Reg, limit int, body func(i mach.Reg, next *mach.Block)) {
	i := g.imm(0)
	head, next, done := g.block(), g.block(), g.block()
	g.here(head)
	g.unless(asm.JGE, i, n, done)
	g.unlessI(asm.JGE, i, int64(limit), done)
	body(i, next)
	g.here(next)
	g.aluI(asm.Add, i, 1)
	g.jump(head)
	g.set(done)
}

// Loops over the bytes of strings keep no addresses from turn to turn: those could not be kept in memory
// where a loop is made of steps.

// bytes loads size bytes at index i of a flat string.
func (g *gen) bytes(s str, i mach.Reg, size asm.Size) mach.Reg {
	p := g.binI(asm.And, i, int64(mask(s.cap)))
	if s.lit {
		g.alu(asm.Add, p, g.mapVal(plan.MapText, g.textOf(s.text)))
		g.u.slack = max(g.u.slack, mask(s.cap))
		return g.get(p, 0, size)
	}
	g.alu(asm.Add, p, s.at.base)
	return g.get(p, s.at.off, size)
}

// put stores the low size bytes of c at index i of a large string.
func (g *gen) put(v *strVar, i, c mach.Reg, size asm.Size) {
	p := g.binI(asm.And, i, int64(mask(v.cap)))
	g.alu(asm.Add, p, v.at.base)
	g.store(p, v.at.off, c, size)
}

// mapCase moves the 26 letters from first on by a distance.
func (g *gen) mapCase(in *ir.Instr, first int64, by int64) {
	s := g.flat(g.strOf(in.Args[0]))
	t, done := g.target(in, s.cap, s)
	n := g.length(s)
	g.loop(n, s.cap, func(i mach.Reg, next *mach.Block) {
		c := g.bytes(s, i, asm.Byte)
		k := g.binI(asm.Sub, c, first)
		// Unsigned: what lies below the first letter is large.
		other := g.block()
		g.unlessI(asm.JGT, k, 25, other)
		g.aluI(asm.Add, c, by)
		g.here(other)
		g.put(t, i, c, asm.Byte)
	})
	g.finish(t, n)
	done()
}

// digit goes to bad unless c is a digit of a base up to 36, and gives its value.
func (g *gen) digit(c mach.Reg, bad *mach.Block) mach.Reg {
	d := g.binI(asm.Sub, c, '0')
	letter, have := g.block(), g.block()
	g.condI(asm.JGT, d, 9, letter, have)
	g.set(letter)
	g.mov(d, g.binI(asm.Or, c, 0x20))
	g.aluI(asm.Sub, d, 'a')
	g.unlessI(asm.JGT, d, 25, bad)
	g.aluI(asm.Add, d, 10)
	g.here(have)
	return d
}

// strtol reads a number as the kernel's simple_strtol does.
func (g *gen) strtol(in *ir.Instr) {
	s := g.flat(g.strOf(in.Args[0]))
	n := g.length(s)
	p := g.address(s)
	base := g.copy(g.long(in.Args[1]))
	start, neg := g.imm(0), g.imm(0)
	// Reading one to three bytes behind the end is safe: zeros are there.
	minus, sign := g.block(), g.block()
	g.condI(asm.JEq, g.get(p, 0, asm.Byte), '-', minus, sign)
	g.set(minus)
	g.movI(start, 1)
	g.movI(neg, -1)
	g.jump(sign)
	g.set(sign)
	q := g.bin(asm.Add, p, start)
	// "0x" and a digit of base 16.
	prefix, noHex, ready := g.block(), g.block(), g.block()
	g.unlessI(asm.JNE, g.get(q, 0, asm.Byte), '0', noHex)
	g.unlessI(asm.JNE, g.binI(asm.Or, g.get(q, 1, asm.Byte), 0x20), 'x', noHex)
	d := g.digit(g.get(q, 2, asm.Byte), noHex)
	g.unlessI(asm.JGE, d, 16, noHex)
	g.unlessI(asm.JEq, base, 0, prefix)
	g.unlessI(asm.JEq, base, 16, prefix)
	g.jump(noHex)
	g.set(prefix)
	g.movI(base, 16)
	g.aluI(asm.Add, start, 2)
	g.jump(ready)
	g.set(noHex)
	g.unlessI(asm.JNE, base, 0, ready)
	g.movI(base, 10)
	g.unlessI(asm.JNE, g.get(q, 0, asm.Byte), '0', ready)
	g.movI(base, 8)
	g.here(ready)
	v := g.imm(0)
	stop := g.block()
	g.loop(n, s.cap, func(i mach.Reg, next *mach.Block) {
		g.unless(asm.JLT, i, start, next)
		d := g.digit(g.bytes(s, i, asm.Byte), stop)
		g.unless(asm.JSGE, d, base, stop)
		g.alu(asm.Mul, v, base)
		g.alu(asm.Add, v, d)
	})
	g.here(stop)
	g.alu(asm.Xor, v, neg)
	g.alu(asm.Sub, v, neg)
	g.result(in, v)
}

// tableText gives an entry of a constant table, which lies among the constants in slots of one size, like elements of a map.
func (g *gen) tableText(in *ir.Instr) {
	dst := g.strs[in.Dst]
	if in.Args[1].Kind != ir.ValStr {
		g.fail("the table of %s is no constant", in.Name)
		return
	}
	list := textfmt.Entries(in.Args[1].Str)
	if v := in.Args[0]; v.Kind == ir.ValInt || len(list) == 0 {
		g.assign(dst, literal(textfmt.Entry(in.Args[1].Str, v.Int)))
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
	i := g.copy(g.long(in.Args[0]))
	none, done := g.block(), g.block()
	g.unlessI(asm.JGE, i, int64(len(list)), none) // unsigned: negative ones too
	i = g.tight(i, len(list)-1)
	g.aluI(asm.Mul, i, int64(size))
	p := g.mapVal(plan.MapText, g.textOf(mark+string(slots))+len(mark))
	g.alu(asm.Add, p, i)
	g.assign(dst, padded(at(p, 0), most))
	g.jump(done)
	g.set(none)
	g.assign(dst, literal(""))
	g.here(done)
}
