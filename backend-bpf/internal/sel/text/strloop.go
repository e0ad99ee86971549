package text

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
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
