package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// search is isinstr(s, what) and strpos(s, what).
func (g *gen) search(in *ir.Instr, only bool) {
	s, what := g.strOf(in.Args[0]), g.strOf(in.Args[1])
	s = g.flat(s)
	pos := g.reg()
	found, missing, done := g.block(), g.block(), g.block()
	if what.lit && len(what.text) > 0 && len(what.text) <= 8 {
		g.searchWord(s, what.text, pos, found, missing)
	} else {
		g.searchBytes(s, g.flat(what), pos, found, missing)
	}
	dst := g.longs[in.Dst]
	g.set(found)
	if only {
		g.movI(dst, 1)
	} else {
		g.mov(dst, pos)
	}
	g.jump(done)
	g.set(missing)
	if only {
		g.movI(dst, 0)
	} else {
		g.movI(dst, -1)
	}
	g.here(done)
}

// searchWord compares 8 bytes at a time with a short constant.
func (g *gen) searchWord(s str, what string, pos mach.Reg, found, missing *mach.Block) {
	n := g.length(s)
	g.unlessI(asm.JLT, n, int64(len(what)), missing)
	g.aluI(asm.Sub, n, int64(len(what)-1))
	key := g.imm(words(what)[0])
	mask := g.imm(int64(^uint64(0) >> (64 - 8*uint(len(what)))))
	g.loop(n, s.cap, func(i mach.Reg, next *mach.Block) {
		w := g.bytes(s, i, asm.DWord)
		g.alu(asm.And, w, mask)
		g.mov(pos, i)
		g.unless(asm.JEq, w, key, found)
	})
	g.jump(missing)
}

// searchBytes looks for what at pos = 0, 1, ...: j bytes of it match so far.
func (g *gen) searchBytes(s, what str, pos mach.Reg, found, missing *mach.Block) {
	n, m := g.length(s), g.length(what)
	g.movI(pos, 0)
	j := g.imm(0)
	head := g.block()
	g.here(head)
	g.unless(asm.JGE, j, m, found)
	g.unlessI(asm.JGE, j, int64(what.cap), found)
	k := g.bin(asm.Add, pos, j)
	g.unless(asm.JGE, k, n, missing)
	g.unlessI(asm.JGE, k, int64(s.cap), missing)
	c, d := g.bytes(s, k, asm.Byte), g.bytes(what, j, asm.Byte)
	same, other := g.block(), g.block()
	g.cond(asm.JEq, c, d, same, other)
	g.set(same)
	g.aluI(asm.Add, j, 1)
	g.jump(head)
	g.set(other)
	g.aluI(asm.Add, pos, 1)
	g.movI(j, 0)
	g.jump(head)
}

// replace is str_replace(s, old, new).
func (g *gen) replace(in *ir.Instr) {
	s, old, with := g.flat(g.strOf(in.Args[0])), g.flat(g.strOf(in.Args[1])), g.flat(g.strOf(in.Args[2]))
	size := g.strs[in.Dst].cap
	t, done := g.target(in, size, s, old, with)
	n, m, w := g.length(s), g.length(old), g.length(with)
	i, j, o := g.imm(0), g.imm(0), g.imm(0)
	end := g.block()
	none := g.block()
	g.unlessI(asm.JEq, m, 0, none)
	head, whole, copyOne, same := g.block(), g.block(), g.block(), g.block()
	g.here(head)
	g.unlessI(asm.JGE, o, int64(size), end)
	g.unless(asm.JGE, j, m, whole)
	g.unlessI(asm.JGE, j, int64(old.cap), whole)
	g.unless(asm.JGE, i, n, end)
	g.unlessI(asm.JGE, i, int64(s.cap), end)
	k := g.bin(asm.Add, i, j)
	g.unless(asm.JGE, k, n, copyOne)
	g.unlessI(asm.JGE, k, int64(s.cap), copyOne)
	c, d := g.bytes(s, k, asm.Byte), g.bytes(old, j, asm.Byte)
	g.cond(asm.JEq, c, d, same, copyOne)
	g.set(same)
	g.aluI(asm.Add, j, 1)
	g.jump(head)
	g.set(copyOne)
	g.put(t, o, g.bytes(s, i, asm.Byte), asm.Byte)
	g.aluI(asm.Add, o, 1)
	g.aluI(asm.Add, i, 1)
	g.movI(j, 0)
	g.jump(head)
	g.set(whole)
	left := g.imm(int64(size))
	g.alu(asm.Sub, left, o)
	x := g.copy(w)
	g.atMost(x, left)
	g.clamp(x, min(size, with.cap))
	g.copyBytes(aReg(g.bin(asm.Add, g.addrP(t.at), o)), x, g.bytesOf(with))
	g.alu(asm.Add, o, x)
	g.alu(asm.Add, i, m)
	g.movI(j, 0)
	g.jump(head)
	g.set(end)
	g.finish(t, o)
	last := g.block()
	g.jump(last)
	g.set(none)
	g.assign(t, s)
	g.here(last)
	done()
}

// escaped gives c, a byte, as C source writes it between two quote, in the low bytes of word, and how many those
// are: from a table, since the verifier walks what is behind a branch once for each way.
func (g *gen) escaped(c mach.Reg, quote byte) (word, n mach.Reg) {
	var table [256 * 8]byte
	for i := range 256 {
		e := textfmt.Escape(table[8*i:8*i], byte(i), quote)
		table[8*i+7] = byte(len(e))
	}
	at := g.binI(asm.LSh, c, 3)
	g.alu(asm.Add, at, g.mapVal(plan.MapText, g.textOf(string(table[:]))))
	return g.get(at, 0, asm.Word), g.get(at, 7, asm.Byte)
}

// quote is text_str(s) and string_quoted(s).
func (g *gen) quote(in *ir.Instr, quoted bool) {
	s := g.flat(g.strOf(in.Args[0]))
	size := g.u.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	n := g.length(s)
	g.quoteInto(t, s, n, size, quoted, nil)
	done()
}

// quoteInto escapes n bytes of s into t, at most room bytes and whole escapes only. quoted puts
// quotation marks around it, and "..." behind those where something was left out: then, if cut is not
// nil, that is gone to instead of the end.
func (g *gen) quoteInto(t *strVar, s str, n mach.Reg, room int, quoted bool, cut *mach.Block) {
	base := 0
	if quoted {
		g.storeP(t.at, 0, g.imm('"'), asm.Byte)
		base, room = 1, room-2
	}
	o, keep := g.imm(int64(base)), g.imm(int64(base))
	full, end := g.block(), g.block()
	g.loop(n, s.cap, func(i mach.Reg, next *mach.Block) {
		word, k := g.escaped(g.bytes(s, i, asm.Byte), '"')
		if quoted && cut == nil {
			// keep is the last o that leaves room for the dots. Without a branch: the verifier would walk all that
			// follows twice as often.
			late := g.imm(int64(room - 3 + base))
			g.alu(asm.Sub, late, o)
			g.aluI(asm.ArSh, late, 63) // -1 where o leaves none
			g.alu(asm.And, keep, late)
			g.aluI(asm.Xor, late, -1)
			g.alu(asm.And, late, o)
			g.alu(asm.Or, keep, late)
		}
		after := g.bin(asm.Add, o, k)
		g.unlessI(asm.JSGT, after, int64(room+base), full)
		g.put(t, o, word, asm.Word)
		g.mov(o, after)
	})
	if quoted {
		g.put(t, o, g.imm('"'), asm.Byte)
		g.aluI(asm.Add, o, 1)
	}
	g.jump(end)
	g.set(full)
	switch {
	case cut != nil:
		g.jump(cut)
	case quoted:
		g.put(t, keep, g.imm(int64('"')|'.'<<8|'.'<<16|'.'<<24), asm.Word)
		g.mov(o, keep)
		g.aluI(asm.Add, o, 4)
		fallthrough
	default:
		g.jump(end)
	}
	g.set(end)
	g.finish(t, o)
}

// textStrN is text_strn(s, n, quoted): at most n bytes of s, all for n <= 0.
func (g *gen) textStrN(in *ir.Instr) {
	s := g.flat(g.strOf(in.Args[0]))
	size := g.u.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	n, quoted := g.copy(g.long(in.Args[1])), g.long(in.Args[2])
	have := g.length(s)
	whole, cut, marks, dots, plain, end := g.block(), g.block(), g.block(), g.block(), g.block(), g.block()
	wholeMarks := g.block()
	g.unlessI(asm.JSLE, n, 0, whole)
	g.unless(asm.JSGE, n, have, whole)
	g.jump(cut)
	g.set(whole)
	g.mov(n, have)
	g.condI(asm.JNE, quoted, 0, wholeMarks, plain)
	g.set(cut)
	g.condI(asm.JNE, quoted, 0, marks, plain)
	g.set(plain)
	g.quoteInto(t, s, n, size, false, nil)
	g.jump(end)
	g.set(marks)
	g.quoteInto(t, s, n, size-3, true, wholeMarks)
	g.jump(dots)
	g.set(dots)
	l := g.length(t.str())
	g.clamp(l, size-3)
	g.put(t, l, g.imm('.'|'.'<<8|'.'<<16), asm.Word)
	g.aluI(asm.Add, l, 3)
	g.finish(t, l)
	g.jump(end)
	g.set(wholeMarks)
	g.quoteInto(t, s, n, size, true, nil)
	g.here(end)
	done()
}
