package text

import (
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Strings are compared a word at a time. Both forms have zeros behind their end up to the end of the
// word, so two words differ where the strings differ first, and equal words of which one holds a
// NUL end the comparison. Bytes order as unsigned numbers do once the word is turned around.

// wordsOf is how many words of s may have to be looked at.
func wordsOf(s body.Str) int {
	if s.Lit {
		return len(s.Text)/8 + 1
	}
	return maps.StringSize(s.Cap) / 8
}

// unrolled is the most words that are compared without a loop.
const unrolled = 9

// differ goes on at differs with the first words that differ in a and b, or at same.
func (g *Text) differ(x, y body.Str, a, b mach.Reg, differs, same *mach.Block) {
	if x.Lit {
		x, y, a, b = y, x, b, a
	}
	n := min(wordsOf(x), wordsOf(y))
	if n <= unrolled {
		for i := range n {
			g.LoadP(a, x.At, 8*i, asm.DWord)
			if y.Lit {
				g.MovI(b, words(y.Text)[i])
			} else {
				g.LoadP(b, y.At, 8*i, asm.DWord)
			}
			g.Unless(asm.JNE, a, b, differs)
			if !y.Lit && i < n-1 {
				g.UnlessI(asm.JEq, g.BinI(asm.RSh, a, 56), 0, same)
			}
		}
		g.Jump(same)
		return
	}
	// x is large, y large or a long constant.
	left, k := g.Length(x), g.Imm(0)
	head := g.Block()
	g.Here(head)
	g.Short(head)
	g.UnlessI(asm.JGE, k, int64(8*n), same)
	g.Mov(a, g.bytes(x, k, asm.DWord))
	g.Mov(b, g.bytes(y, k, asm.DWord))
	g.Unless(asm.JNE, a, b, differs)
	g.AluI(asm.Add, k, 8)
	g.Cond(asm.JGT, k, left, same, head)
}

// Equal branches on x == y.
func (g *Text) Equal(x, y body.Str, yes, no *mach.Block) {
	if x.Lit && y.Lit {
		to := no
		if x.Text == y.Text {
			to = yes
		}
		g.Jump(to)
		return
	}
	if x.Lit {
		x, y = y, x
	}
	if y.Lit && len(y.Text) > x.Cap {
		g.Jump(no)
		return
	}
	if !x.Padded && !(y.Lit && wordsOf(y) <= 2) {
		if y.Lit {
			g.UnlessI(asm.JNE, g.Length(x), int64(len(y.Text)), no)
		} else if !y.Padded {
			g.Unless(asm.JNE, g.Length(x), g.Length(y), no)
		}
	}
	g.differ(x, y, g.Reg(), g.Reg(), no, yes)
}

// Is is user_is(addr, s): whether the bytes at addr are those of s.
func (g *Text) Is(in *ir.Instr) {
	if in.Dst == ir.NoReg {
		return
	}
	s := g.flat(g.StrOf(in.Args[1]))
	addr, dst := g.Long(in.Args[0]), g.Reg()
	yes, no, done := g.Block(), g.Block(), g.Block()
	n := g.Tight(g.Length(s), s.Cap)
	g.UnlessI(asm.JEq, n, 0, yes)
	t, bad := g.TempStr(s.Cap), g.Cold()
	g.ReadMem(false, g.ArgP(t.At), emit.InReg(n), addr, bad)
	// The bytes may be others that strings here have, so the length is not looked for.
	g.StoreP(t.LenAt, 0, n, asm.DWord)
	end := g.Bin(asm.Add, g.AddrP(t.At), n)
	g.StoreI(end, 0, 0, asm.DWord)
	g.differ(t.Str(), s, g.Reg(), g.Reg(), no, yes)
	g.Set(yes)
	g.MovI(dst, 1)
	g.Jump(done)
	g.Set(no)
	g.MovI(dst, 0)
	g.Jump(done)
	g.Set(bad)
	g.Raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	g.Set(done)
	g.Mov(g.Longs[in.Dst], dst)
}

// Order sets dst to -1, 0 or 1.
func (g *Text) Order(dst mach.Reg, x, y body.Str) {
	if x.Lit && y.Lit {
		g.MovI(dst, int64(strings.Compare(x.Text, y.Text)))
		return
	}
	a, b := g.Reg(), g.Reg()
	differs, same, done, less := g.Block(), g.Block(), g.Block(), g.Block()
	g.differ(x, y, a, b, differs, same)
	g.Set(same)
	g.MovI(dst, 0)
	g.Jump(done)
	g.Set(differs)
	g.Swap(a, asm.DWord)
	g.Swap(b, asm.DWord)
	g.MovI(dst, 1)
	g.Cond(asm.JLT, a, b, less, done)
	g.Set(less)
	g.MovI(dst, -1)
	g.Jump(done)
	g.Set(done)
}
