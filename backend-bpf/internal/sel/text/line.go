package text

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/sel/body"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// Line is user_line: memory is read once, and words of eight bytes get the character in place of NULs without a look at
// each.
func (g *Text) Line(in *ir.Instr) {
	dst := g.Strs[in.Dst]
	t := dst
	if in.OnErr != ir.NoBlock || dst.Small {
		t = g.TempStr(dst.Cap) // an error must leave dst as it was
	}
	addr, n := g.Copy(g.Long(in.Args[0])), g.Copy(g.Long(in.Args[1]))
	none, some, bad, done := g.Block(), g.Block(), g.Cold(), g.Block()
	g.CondI(asm.JSLE, n, 0, none, some)
	g.Set(none)
	g.Assign(dst, body.Literal(""))
	g.Jump(done)
	g.Set(some)
	if dst.Cap == 0 {
		g.Assign(dst, body.Literal(""))
		g.Jump(done)
		g.Set(done)
		return
	}
	m := g.Tight(n, dst.Cap)
	g.ReadMem(false, g.ArgP(t.At), emit.InReg(m), addr, bad)
	whole := g.Block()
	g.UnlessI(asm.JGT, n, int64(dst.Cap), whole)
	last := g.BinI(asm.Sub, m, 1)
	g.UnlessI(asm.JNE, g.bytes(t.Str(), last, asm.Byte), 0, whole)
	g.Mov(m, last)
	g.Here(whole)
	c := g.fill(in.Args[2])
	words := g.BinI(asm.Add, m, 7)
	g.AluI(asm.RSh, words, 3)
	const low = 0x7f7f7f7f7f7f7f7f
	g.loop(words, (dst.Cap+7)/8, func(i mach.Reg, next *mach.Block) {
		at := g.BinI(asm.LSh, i, 3)
		w := g.bytes(t.Str(), at, asm.DWord)
		nul := g.Bin(asm.And, w, g.Imm(low))
		g.Alu(asm.Add, nul, g.Imm(low))
		g.Alu(asm.Or, nul, w)
		g.Alu(asm.Or, nul, g.Imm(low))
		g.AluI(asm.Xor, nul, -1) // 0x80 in each byte that is 0
		g.AluI(asm.RSh, nul, 7)
		g.Alu(asm.Mul, nul, c)
		g.Alu(asm.Or, w, nul)
		g.put(t, at, w, asm.DWord)
	})
	g.finish(t, m)
	if t != dst {
		g.Assign(dst, t.Str())
	}
	g.Jump(done)
	g.Set(bad)
	g.Raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	g.Set(done)
}

// fill is the low byte of a number, that of a space for 0.
func (g *Text) fill(v ir.Val) mach.Reg {
	if v.Kind == ir.ValInt {
		if v.Int&0xff == 0 {
			return g.Imm(' ')
		}
		return g.Imm(v.Int & 0xff)
	}
	c := g.BinI(asm.And, g.Long(v), 0xff)
	zero, on := g.Cold(), g.Block()
	g.CondI(asm.JEq, c, 0, zero, on)
	g.Set(zero)
	g.MovI(c, ' ')
	g.Jump(on)
	g.Set(on)
	return c
}
