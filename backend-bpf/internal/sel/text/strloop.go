package text

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// Search is isinstr(s, what) and strpos(s, what).
func (g *Text) Search(in *ir.Instr, only bool) {
	s, what := g.StrOf(in.Args[0]), g.StrOf(in.Args[1])
	s = g.flat(s)
	pos := g.Reg()
	found, missing, done := g.Block(), g.Block(), g.Block()
	if what.Lit && len(what.Text) > 0 && len(what.Text) <= 8 {
		g.searchWord(s, what.Text, pos, found, missing)
	} else {
		g.searchBytes(s, g.flat(what), pos, found, missing)
	}
	dst := g.Longs[in.Dst]
	g.Set(found)
	if only {
		g.MovI(dst, 1)
	} else {
		g.Mov(dst, pos)
	}
	g.Jump(done)
	g.Set(missing)
	if only {
		g.MovI(dst, 0)
	} else {
		g.MovI(dst, -1)
	}
	g.Here(done)
}

// searchWord compares 8 bytes at a time with a short constant.
func (g *Text) searchWord(s body.Str, what string, pos mach.Reg, found, missing *mach.Block) {
	n := g.Length(s)
	g.UnlessI(asm.JLT, n, int64(len(what)), missing)
	g.AluI(asm.Sub, n, int64(len(what)-1))
	key := g.Imm(words(what)[0])
	mask := g.Imm(int64(^uint64(0) >> (64 - 8*uint(len(what)))))
	g.loop(n, s.Cap, func(i mach.Reg, next *mach.Block) {
		w := g.bytes(s, i, asm.DWord)
		g.Alu(asm.And, w, mask)
		g.Mov(pos, i)
		g.Unless(asm.JEq, w, key, found)
	})
	g.Jump(missing)
}

// searchBytes looks for what at pos = 0, 1, ...: j bytes of it match so far.
func (g *Text) searchBytes(s, what body.Str, pos mach.Reg, found, missing *mach.Block) {
	n, m := g.Length(s), g.Length(what)
	g.MovI(pos, 0)
	j := g.Imm(0)
	head := g.Block()
	g.Here(head)
	g.Unless(asm.JGE, j, m, found)
	g.UnlessI(asm.JGE, j, int64(what.Cap), found)
	k := g.Bin(asm.Add, pos, j)
	g.Unless(asm.JGE, k, n, missing)
	g.UnlessI(asm.JGE, k, int64(s.Cap), missing)
	c, d := g.bytes(s, k, asm.Byte), g.bytes(what, j, asm.Byte)
	same, other := g.Block(), g.Block()
	g.Cond(asm.JEq, c, d, same, other)
	g.Set(same)
	g.AluI(asm.Add, j, 1)
	g.Jump(head)
	g.Set(other)
	g.AluI(asm.Add, pos, 1)
	g.MovI(j, 0)
	g.Jump(head)
}

// Replace is str_replace(s, old, new).
func (g *Text) Replace(in *ir.Instr) {
	s, old, with := g.flat(g.StrOf(in.Args[0])), g.flat(g.StrOf(in.Args[1])), g.flat(g.StrOf(in.Args[2]))
	size := g.Strs[in.Dst].Cap
	t, done := g.target(in, size, s, old, with)
	n, m, w := g.Length(s), g.Length(old), g.Length(with)
	i, j, o := g.Imm(0), g.Imm(0), g.Imm(0)
	end := g.Block()
	none := g.Block()
	g.UnlessI(asm.JEq, m, 0, none)
	head, whole, copyOne, same := g.Block(), g.Block(), g.Block(), g.Block()
	g.Here(head)
	g.UnlessI(asm.JGE, o, int64(size), end)
	g.Unless(asm.JGE, j, m, whole)
	g.UnlessI(asm.JGE, j, int64(old.Cap), whole)
	g.Unless(asm.JGE, i, n, end)
	g.UnlessI(asm.JGE, i, int64(s.Cap), end)
	k := g.Bin(asm.Add, i, j)
	g.Unless(asm.JGE, k, n, copyOne)
	g.UnlessI(asm.JGE, k, int64(s.Cap), copyOne)
	c, d := g.bytes(s, k, asm.Byte), g.bytes(old, j, asm.Byte)
	g.Cond(asm.JEq, c, d, same, copyOne)
	g.Set(same)
	g.AluI(asm.Add, j, 1)
	g.Jump(head)
	g.Set(copyOne)
	g.put(t, o, g.bytes(s, i, asm.Byte), asm.Byte)
	g.AluI(asm.Add, o, 1)
	g.AluI(asm.Add, i, 1)
	g.MovI(j, 0)
	g.Jump(head)
	g.Set(whole)
	left := g.Imm(int64(size))
	g.Alu(asm.Sub, left, o)
	x := g.Copy(w)
	g.AtMost(x, left)
	g.Clamp(x, min(size, with.Cap))
	g.CopyBytes(emit.InReg(g.Bin(asm.Add, g.AddrP(t.At), o)), x, g.BytesOf(with))
	g.Alu(asm.Add, o, x)
	g.Alu(asm.Add, i, m)
	g.MovI(j, 0)
	g.Jump(head)
	g.Set(end)
	g.finish(t, o)
	last := g.Block()
	g.Jump(last)
	g.Set(none)
	g.Assign(t, s)
	g.Here(last)
	done()
}

// escaped gives c, a byte, as C source writes it between two quote, in the low bytes of word, and how many those
// are: from a table, since the verifier walks what is behind a branch once for each way.
func (g *Text) escaped(c mach.Reg, quote byte) (word, n mach.Reg) {
	var table [256 * 8]byte
	for i := range 256 {
		e := textfmt.Escape(table[8*i:8*i], byte(i), quote)
		table[8*i+7] = byte(len(e))
	}
	at := g.BinI(asm.LSh, c, 3)
	g.Alu(asm.Add, at, g.MapVal(plan.MapText, g.TextOf(string(table[:]))))
	return g.Get(at, 0, asm.Word), g.Get(at, 7, asm.Byte)
}

// Quote is text_str(s) and string_quoted(s).
func (g *Text) Quote(in *ir.Instr, quoted bool) {
	s := g.flat(g.StrOf(in.Args[0]))
	size := g.U.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	n := g.Length(s)
	g.quoteInto(t, s, n, size, quoted, nil)
	done()
}

// quoteInto escapes n bytes of s into t, at most room bytes and whole escapes only. quoted puts
// quotation marks around it, and "..." behind those where something was left out: then, if cut is not
// nil, that is gone to instead of the end.
func (g *Text) quoteInto(t *body.StrVar, s body.Str, n mach.Reg, room int, quoted bool, cut *mach.Block) {
	base := 0
	if quoted {
		g.StoreP(t.At, 0, g.Imm('"'), asm.Byte)
		base, room = 1, room-2
	}
	o, keep := g.Imm(int64(base)), g.Imm(int64(base))
	full, end := g.Block(), g.Block()
	g.loop(n, s.Cap, func(i mach.Reg, next *mach.Block) {
		word, k := g.escaped(g.bytes(s, i, asm.Byte), '"')
		if quoted && cut == nil {
			// keep is the last o that leaves room for the dots. Without a branch: the verifier would walk all that
			// follows twice as often.
			late := g.Imm(int64(room - 3 + base))
			g.Alu(asm.Sub, late, o)
			g.AluI(asm.ArSh, late, 63) // -1 where o leaves none
			g.Alu(asm.And, keep, late)
			g.AluI(asm.Xor, late, -1)
			g.Alu(asm.And, late, o)
			g.Alu(asm.Or, keep, late)
		}
		after := g.Bin(asm.Add, o, k)
		g.UnlessI(asm.JSGT, after, int64(room+base), full)
		g.put(t, o, word, asm.Word)
		g.Mov(o, after)
	})
	if quoted {
		g.put(t, o, g.Imm('"'), asm.Byte)
		g.AluI(asm.Add, o, 1)
	}
	g.Jump(end)
	g.Set(full)
	switch {
	case cut != nil:
		g.Jump(cut)
	case quoted:
		g.put(t, keep, g.Imm(int64('"')|'.'<<8|'.'<<16|'.'<<24), asm.Word)
		g.Mov(o, keep)
		g.AluI(asm.Add, o, 4)
		fallthrough
	default:
		g.Jump(end)
	}
	g.Set(end)
	g.finish(t, o)
}

// TextStrN is text_strn(s, n, quoted): at most n bytes of s, all for n <= 0.
func (g *Text) TextStrN(in *ir.Instr) {
	s := g.flat(g.StrOf(in.Args[0]))
	size := g.U.P.Limits.MaxString - 1
	t, done := g.target(in, size, s)
	n, quoted := g.Copy(g.Long(in.Args[1])), g.Long(in.Args[2])
	have := g.Length(s)
	whole, cut, marks, dots, plain, end := g.Block(), g.Block(), g.Block(), g.Block(), g.Block(), g.Block()
	wholeMarks := g.Block()
	g.UnlessI(asm.JSLE, n, 0, whole)
	g.Unless(asm.JSGE, n, have, whole)
	g.Jump(cut)
	g.Set(whole)
	g.Mov(n, have)
	g.CondI(asm.JNE, quoted, 0, wholeMarks, plain)
	g.Set(cut)
	g.CondI(asm.JNE, quoted, 0, marks, plain)
	g.Set(plain)
	g.quoteInto(t, s, n, size, false, nil)
	g.Jump(end)
	g.Set(marks)
	g.quoteInto(t, s, n, size-3, true, wholeMarks)
	g.Jump(dots)
	g.Set(dots)
	l := g.Length(t.Str())
	g.Clamp(l, size-3)
	g.put(t, l, g.Imm('.'|'.'<<8|'.'<<16), asm.Word)
	g.AluI(asm.Add, l, 3)
	g.finish(t, l)
	g.Jump(end)
	g.Set(wholeMarks)
	g.quoteInto(t, s, n, size, true, nil)
	g.Here(end)
	done()
}
