package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/compiler/ir"
)

// line is user_line: memory is read once, and words of eight bytes get the character in place of NULs without a look at each.
func (g *gen) line(in *ir.Instr) {
	dst := g.strs[in.Dst]
	t := dst
	if in.OnErr != ir.NoBlock || dst.small {
		t = g.tempStr(dst.cap) // an error must leave dst as it was
	}
	addr, n := g.copy(g.long(in.Args[0])), g.copy(g.long(in.Args[1]))
	none, some, bad, done := g.block(), g.block(), g.cold(), g.block()
	g.condI(asm.JSLE, n, 0, none, some)
	g.set(none)
	g.assign(dst, literal(""))
	g.jump(done)
	g.set(some)
	if dst.cap == 0 {
		g.assign(dst, literal(""))
		g.jump(done)
		g.set(done)
		return
	}
	m := g.tight(n, dst.cap)
	g.readMem(false, g.argP(t.at), aReg(m), addr, bad)
	whole := g.block()
	g.unlessI(asm.JGT, n, int64(dst.cap), whole)
	last := g.binI(asm.Sub, m, 1)
	g.unlessI(asm.JNE, g.bytes(t.str(), last, asm.Byte), 0, whole)
	g.mov(m, last)
	g.here(whole)
	c := g.fill(in.Args[2])
	words := g.binI(asm.Add, m, 7)
	g.aluI(asm.RSh, words, 3)
	const low = 0x7f7f7f7f7f7f7f7f
	g.loop(words, (dst.cap+7)/8, func(i mach.Reg, next *mach.Block) {
		at := g.binI(asm.LSh, i, 3)
		w := g.bytes(t.str(), at, asm.DWord)
		nul := g.bin(asm.And, w, g.imm(low))
		g.alu(asm.Add, nul, g.imm(low))
		g.alu(asm.Or, nul, w)
		g.alu(asm.Or, nul, g.imm(low))
		g.aluI(asm.Xor, nul, -1) // 0x80 in each byte that is 0
		g.aluI(asm.RSh, nul, 7)
		g.alu(asm.Mul, nul, c)
		g.alu(asm.Or, w, nul)
		g.put(t, at, w, asm.DWord)
	})
	g.finish(t, m)
	if t != dst {
		g.assign(dst, t.str())
	}
	g.jump(done)
	g.set(bad)
	g.raise(ir.ErrMemory, addr, mach.None, in.OnErr)
	g.set(done)
}

// fill is the low byte of a number, that of a space for 0.
func (g *gen) fill(v ir.Val) mach.Reg {
	if v.Kind == ir.ValInt {
		if v.Int&0xff == 0 {
			return g.imm(' ')
		}
		return g.imm(v.Int & 0xff)
	}
	c := g.binI(asm.And, g.long(v), 0xff)
	zero, on := g.cold(), g.block()
	g.condI(asm.JEq, c, 0, zero, on)
	g.set(zero)
	g.movI(c, ' ')
	g.jump(on)
	g.set(on)
	return c
}
