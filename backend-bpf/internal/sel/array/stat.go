package array

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// Every field of an aggregate is updated by an atomic operation of its own, also where the
// value is per CPU: a handler of a user probe can be preempted by another on the same CPU.

// StatAdd is "s <<< v".
func (g *Arrays) StatAdd(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.U.Layout.Globals[in.Glob]
	if len(keys) == 0 {
		k := g.Temp(8)
		g.StoreIS(k, 0, 0, asm.DWord) // as Index does
		elem := g.Call(asm.FnMapLookupElem, emit.Map(gl.Map), emit.OnStack(k, 0))
		none, done := g.Cold(), g.Block()
		g.UnlessI(asm.JEq, elem, 0, none) // cannot be, says the verifier it can
		g.accumulate(in.Glob, elem, v)
		g.Jump(done)
		g.Set(none)
		g.Here(done)
		return
	}
	key := g.key(in.Glob, keys)
	elem := g.lookup(in.Glob, key)
	slow, found, done := g.Cold(), g.Block(), g.Block()
	g.CondI(asm.JEq, elem, 0, slow, found)
	g.accumulate(in.Glob, elem, v)
	g.Jump(done)
	// A missing element is entered with zeros, which is what an empty aggregate is, and then found.
	g.Set(slow)
	entered, full := g.Cold(), g.Cold()
	g.insert(in, key, elem, g.zeroElem(in.Glob), found, entered)
	g.Set(entered)
	g.Mov(elem, g.lookup(in.Glob, key))
	g.CondI(asm.JNE, elem, 0, found, full)
	g.Raise(ir.ErrScratch, mach.None, mach.None, in.OnErr) // deleted in between
	g.Set(done)
}

// zeroElem gives the value of a new, empty aggregate.
func (g *Arrays) zeroElem(i int) func() emit.Arg {
	return func() emit.Arg {
		gl := &g.U.Layout.Globals[i]
		n := gl.ValueOff + gl.ValueSize
		if gl.SeqOff < 0 {
			g.U.Zeros = max(g.U.Zeros, n)
			return emit.MapVal(plan.MapZero, 0)
		}
		p := g.Room(n)
		g.Zero(p, n)
		g.sequence(p.Plus(gl.SeqOff))
		return g.ArgP(p)
	}
}

// accumulate puts v into the aggregate of elem.
func (g *Arrays) accumulate(i int, elem mach.Reg, v ir.Val) {
	gl := &g.U.Layout.Globals[i]
	st, off := &gl.Stat, gl.ValueOff
	add := func(field int, r mach.Reg) {
		if field >= 0 {
			g.Atomic(asm.AddAtomic, elem, off+field, r, asm.DWord)
		}
	}
	if st.Sum >= 0 {
		add(st.Sum, g.Long(v))
	}
	if st.Min >= 0 {
		g.greatest(elem, off+st.Min, g.flipped(v, 1<<63-1))
	}
	if st.Max >= 0 {
		g.greatest(elem, off+st.Max, g.flipped(v, -1<<63))
	}
	if st.SqLo >= 0 {
		hi, lo := g.square(g.Long(v))
		old := g.Copy(lo)
		g.Atomic(asm.FetchAdd, elem, off+st.SqLo, old, asm.DWord)
		g.Alu(asm.Add, old, lo)
		carry, on := g.Block(), g.Block()
		g.Cond(asm.JLT, old, lo, carry, on)
		g.Set(carry)
		g.AluI(asm.Add, hi, 1)
		g.Jump(on)
		g.Set(on)
		add(st.SqHi, hi)
	}
	for n, h := range st.Hists {
		if h < 0 {
			continue
		}
		b := g.bucket(g.U.P.Globals[i].Stat.Hists[n], v)
		g.AluI(asm.LSh, b, 3)
		g.Alu(asm.Add, b, elem)
		g.Atomic(asm.AddAtomic, b, off+h, g.Imm(1), asm.DWord)
	}
	// Last: who sees a count finds all else in place.
	if st.Count >= 0 {
		add(st.Count, g.Imm(1))
	}
}

// flipped gives v ^ mask in a new register.
func (g *Arrays) flipped(v ir.Val, mask int64) mach.Reg {
	if v.Kind == ir.ValInt {
		return g.Imm(v.Int ^ mask)
	}
	return g.Bin(asm.Xor, g.Long(v), g.Imm(mask))
}

// greatestTries is how often the exchange below is tried. Each failure means that another handler on the same
// word got in between two instructions.
const greatestTries = 8

// greatest makes the word at elem + off the unsigned maximum of itself and v.
func (g *Arrays) greatest(elem mach.Reg, off int, v mach.Reg) {
	done := g.Block()
	cur := g.Get(elem, off, asm.DWord)
	slow := g.Block()
	g.Cond(asm.JGT, v, cur, slow, done)
	g.Set(slow)
	for try := range greatestTries {
		g.Mov(mach.R0, cur)
		g.Atomic(asm.CmpXchg, elem, off, v, asm.DWord)
		old := g.Copy(mach.R0)
		if try == greatestTries-1 {
			g.Jump(done)
			break
		}
		next := g.Cold()
		g.Cond(asm.JNE, old, cur, next, done)
		g.Set(next)
		g.Mov(cur, old)
		again := g.Cold()
		g.Cond(asm.JGT, v, cur, again, done)
		g.Set(again)
	}
	g.Set(done)
}

// square gives the 128-bit square of v: of its magnitude, from 32-bit halves.
func (g *Arrays) square(v mach.Reg) (hi, lo mach.Reg) {
	m, _ := g.Magnitude(v)
	a := g.BinI(asm.RSh, m, 32)
	b := g.Copy(m)
	g.AluI(asm.LSh, b, 32)
	g.AluI(asm.RSh, b, 32)
	// (a*2^32 + b)^2 = a^2*2^64 + 2ab*2^32 + b^2
	hi = g.Bin(asm.Mul, a, a)
	ab := g.Bin(asm.Mul, a, b)
	lo = g.Bin(asm.Mul, b, b)
	g.Alu(asm.Add, hi, g.BinI(asm.RSh, ab, 31))
	mid := g.BinI(asm.LSh, ab, 33)
	g.Alu(asm.Add, lo, mid)
	carry, on := g.Block(), g.Block()
	g.Cond(asm.JLT, lo, mid, carry, on)
	g.Set(carry)
	g.AluI(asm.Add, hi, 1)
	g.Jump(on)
	g.Set(on)
	return hi, lo
}

// bucket gives the index of the bucket that v falls into, within what the verifier can see.
func (g *Arrays) bucket(h ir.Hist, v ir.Val) mach.Reg {
	if v.Kind == ir.ValInt {
		if h.Linear {
			return g.Imm(int64(layout.HistLinearBucket(v.Int, h.Low, h.High, h.Width)))
		}
		return g.Imm(int64(layout.HistLogBucket(v.Int)))
	}
	if h.Linear {
		return g.linearBucket(h, g.Long(v))
	}
	return g.logBucket(g.Long(v))
}

// logBucket finds the highest bit of the magnitude by halving, without branches.
func (g *Arrays) logBucket(v mach.Reg) mach.Reg {
	w, sign := g.Magnitude(v)
	n := g.Imm(0) // 1 + index of the highest bit, 0 for zero
	for _, half := range []int64{32, 16, 8, 4, 2, 1, 0} {
		nz := g.BinI(asm.RSh, w, half)
		t := g.Copy(nz)
		g.Neg(t)
		g.Alu(asm.Or, nz, t)
		g.AluI(asm.RSh, nz, 63)
		if half == 0 {
			g.Alu(asm.Add, n, nz)
			break
		}
		g.AluI(asm.LSh, nz, emit.Log2(half))
		g.Alu(asm.RSh, w, nz)
		g.Alu(asm.Add, n, nz)
	}
	// Positive values lie above the zero bucket, negative ones below.
	g.Alu(asm.Xor, n, sign)
	g.Alu(asm.Sub, n, sign)
	g.AluI(asm.Add, n, layout.HistLogZero)
	low, on := g.Cold(), g.Block()
	g.CondI(asm.JSLT, n, 0, low, on)
	g.Set(low)
	g.MovI(n, 0)
	g.Jump(on)
	g.Set(on)
	return g.Tight(n, layout.HistLogBuckets-1)
}

func (g *Arrays) linearBucket(h ir.Hist, v mach.Reg) mach.Reg {
	n := g.Reg()
	low, high, done := g.Block(), g.Block(), g.Block()
	g.UnlessI(asm.JSLT, v, h.Low, low)
	g.Mov(n, v)
	if h.Low != 0 {
		g.Alu(asm.Sub, n, g.Imm(h.Low))
	}
	if h.Width != 1 {
		if h.Width == int64(int32(h.Width)) {
			g.AluI(asm.Div, n, h.Width)
		} else {
			g.Alu(asm.Div, n, g.Imm(h.Width))
		}
	}
	g.UnlessI(asm.JGE, n, int64(h.Buckets()-2), high)
	g.AluI(asm.Add, n, 1)
	g.Jump(done)
	g.Set(low)
	g.MovI(n, 0)
	g.Jump(done)
	g.Set(high)
	g.MovI(n, int64(h.Buckets()-1))
	g.Jump(done)
	g.Set(done)
	return g.Tight(n, h.Buckets()-1)
}
