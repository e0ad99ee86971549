package emit

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
)

// Launder makes the verifier forget what it knows about r: a word of which one byte is written again has no
// known value when it is loaded. Loops that end in many places go on in one state then.
func (g *Builder) Launder(r mach.Reg) {
	s := g.Temp(8)
	g.StoreS(s, 0, r, asm.DWord)
	g.StoreS(s, 0, r, asm.Byte)
	g.LoadS(r, s, 0, asm.DWord)
}

// Index puts r into slot s as the key of a map whose keys are 4 bytes, the low ones of a machine that begins with them.
// All 8 bytes are written: what was in the slot before is part of the states that the verifier compares for as long as
// only a part of it has been written again, though nothing reads the rest. On Linux 6.1, where numbers that were
// spilled are the same only if they are equal, it walked a handler that formats three numbers 8,000 times so.
func (g *Builder) Index(s mach.Slot, r mach.Reg) { g.StoreS(s, 0, r, asm.DWord) }

// Magnitude gives v's absolute value and a register that is all ones where v is negative.
func (g *Code) Magnitude(v mach.Reg) (abs, sign mach.Reg) {
	sign = g.BinI(asm.ArSh, v, 63)
	abs = g.Bin(asm.Xor, v, sign)
	g.Alu(asm.Sub, abs, sign)
	return abs, sign
}

// AtLeast makes r the greater of r and n, unsigned.
func (g *Code) AtLeast(r mach.Reg, n int64) {
	low, on := g.Block(), g.Block()
	g.CondI(asm.JLT, r, n, low, on)
	g.Set(low)
	g.MovI(r, n)
	g.Jump(on)
	g.Set(on)
}

// Clamp makes r at most n, and lets the verifier know: by a comparison, which kernels before 6.13 forget when
// r goes to the stack and comes back, and by a mask, which may say a little less but stays.
func (g *Code) Clamp(r mach.Reg, n int) {
	over, on := g.Cold(), g.Block()
	g.CondI(asm.JGT, r, int64(n), over, on)
	g.Set(over)
	g.MovI(r, int64(n))
	g.Jump(on)
	g.Set(on)
	g.Bound(r, n)
}

// Bound tells the verifier of a number that is at most n that it is less than the next power of two. Scratch slots have
// as much room behind their end.
func (g *Code) Bound(r mach.Reg, n int) { g.AluI(asm.And, r, int64(Mask(n))) }

// Mask is the smallest number of the form 2^k-1 that is not below n.
func Mask(n int) int {
	m := 1
	for m < n {
		m = m*2 + 1
	}
	return m
}

// Tight gives a copy of r that is at most n, for memory with nothing behind it.
func (g *Code) Tight(r mach.Reg, n int) mach.Reg {
	t := g.Copy(r)
	g.F.Keep[t] = true
	over, on := g.Cold(), g.Block()
	g.CondI(asm.JGT, t, int64(n), over, on)
	g.Set(over)
	g.MovI(t, int64(n))
	g.Jump(on)
	g.Set(on)
	return t
}

// AtMost makes r the smaller of r and n.
func (g *Code) AtMost(r, n mach.Reg) {
	over, on := g.Block(), g.Block()
	g.Cond(asm.JGT, r, n, over, on)
	g.Set(over)
	g.Mov(r, n)
	g.Jump(on)
	g.Set(on)
}

// Log2 gives the logarithm of a power of two, of others what is below it.
func Log2(n int64) int64 {
	k := int64(0)
	for ; n > 1; n >>= 1 {
		k++
	}
	return k
}

// CopyWords copies n bytes, a multiple of 8.
func (g *Code) CopyWords(dst, src Mem, n int) {
	for i := 0; i < n; i += 8 {
		g.StoreP(dst, i, g.GetP(src, i, asm.DWord), asm.DWord)
	}
}
