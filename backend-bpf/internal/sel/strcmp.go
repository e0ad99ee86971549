package sel

import (
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/maps"
	"github.com/gostap/gostap/compiler/ir"
)

// Strings are compared a word at a time. Both forms have zeros behind their end up to the end of the
// word, so two words differ where the strings differ first, and equal words of which one holds a
// NUL end the comparison. Bytes order as unsigned numbers do once the word is turned around.

// wordsOf is how many words of s may have to be looked at.
func wordsOf(s str) int {
	if s.lit {
		return len(s.text)/8 + 1
	}
	return maps.StringSize(s.cap) / 8
}

// unrolled is the most words that are compared without a loop.
const unrolled = 9

// differ goes on at differs with the first words that differ in a and b, or at same.
func (g *gen) differ(x, y str, a, b mach.Reg, differs, same *mach.Block) {
	if x.lit {
		x, y, a, b = y, x, b, a
	}
	n := min(wordsOf(x), wordsOf(y))
	if n <= unrolled {
		for i := range n {
			g.loadP(a, x.at, 8*i, asm.DWord)
			if y.lit {
				g.movI(b, words(y.text)[i])
			} else {
				g.loadP(b, y.at, 8*i, asm.DWord)
			}
			g.unless(asm.JNE, a, b, differs)
			if !y.lit && i < n-1 {
				g.unlessI(asm.JEq, g.binI(asm.RSh, a, 56), 0, same)
			}
		}
		g.jump(same)
		return
	}
	// x is large, y large or a long constant.
	left, k := g.length(x), g.imm(0)
	head := g.block()
	g.here(head)
	g.short(head)
	g.unlessI(asm.JGE, k, int64(8*n), same)
	g.mov(a, g.bytes(x, k, asm.DWord))
	g.mov(b, g.bytes(y, k, asm.DWord))
	g.unless(asm.JNE, a, b, differs)
	g.aluI(asm.Add, k, 8)
	g.cond(asm.JGT, k, left, same, head)
}

// equal branches on x == y.
func (g *gen) equal(x, y str, yes, no *mach.Block) {
	if x.lit && y.lit {
		to := no
		if x.text == y.text {
			to = yes
		}
		g.jump(to)
		return
	}
	if x.lit {
		x, y = y, x
	}
	if y.lit && len(y.text) > x.cap {
		g.jump(no)
		return
	}
	if !x.padded && !(y.lit && wordsOf(y) <= 2) {
		if y.lit {
			g.unlessI(asm.JNE, g.length(x), int64(len(y.text)), no)
		} else if !y.padded {
			g.unless(asm.JNE, g.length(x), g.length(y), no)
		}
	}
	g.differ(x, y, g.reg(), g.reg(), no, yes)
}

// order sets dst to -1, 0 or 1.
func (g *gen) order(dst mach.Reg, x, y str) {
	if x.lit && y.lit {
		g.movI(dst, int64(strings.Compare(x.text, y.text)))
		return
	}
	a, b := g.reg(), g.reg()
	differs, same, done, less := g.block(), g.block(), g.block(), g.block()
	g.differ(x, y, a, b, differs, same)
	g.set(same)
	g.movI(dst, 0)
	g.jump(done)
	g.set(differs)
	g.swap(a, asm.DWord)
	g.swap(b, asm.DWord)
	g.movI(dst, 1)
	g.cond(asm.JLT, a, b, less, done)
	g.set(less)
	g.movI(dst, -1)
	g.jump(done)
	g.set(done)
}

// stringTest reports whether in and the instruction behind it are a comparison of strings for a
// condition: "t = scmp a, b; c = OP t, 0", with t used nowhere else.
func (g *gen) stringTest(b *ir.Block, i int) bool {
	if i+1 >= len(b.Instrs) {
		return false
	}
	in, next := &b.Instrs[i], &b.Instrs[i+1]
	return in.Op == ir.OpSCmp && (next.Op == ir.OpEq || next.Op == ir.OpNe) && len(next.Args) == 2 && next.Args[0].IsReg() &&
		next.Args[0].Reg == in.Dst && next.Args[1] == ir.I(0) && g.uses[in.Dst] == 1
}
