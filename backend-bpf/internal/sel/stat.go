package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// Every field of an aggregate is updated by an atomic operation of its own, also where the
// value is per CPU: a handler of a user probe can be preempted by another on the same CPU.

// statAdd is "s <<< v".
func (g *gen) statAdd(in *ir.Instr) {
	keys, v := split(in)
	gl := &g.u.Layout.Globals[in.Glob]
	if len(keys) == 0 {
		k := g.temp(8)
		g.storeIS(k, 0, 0, asm.Word)
		elem := g.call(asm.FnMapLookupElem, aMap(gl.Map), aSlot(k, 0))
		none, done := g.cold(), g.block()
		g.unlessI(asm.JEq, elem, 0, none) // cannot be, says the verifier it can
		g.accumulate(in.Glob, elem, v)
		g.jump(done)
		g.set(none)
		g.here(done)
		return
	}
	key := g.key(in.Glob, keys)
	elem := g.lookup(in.Glob, key)
	slow, found, done := g.cold(), g.block(), g.block()
	g.condI(asm.JEq, elem, 0, slow, found)
	g.accumulate(in.Glob, elem, v)
	g.jump(done)
	// A missing element is entered with zeros, which is what an empty aggregate is, and then found.
	g.set(slow)
	entered, full := g.cold(), g.cold()
	g.insert(in, key, elem, g.zeroElem(in.Glob), found, entered)
	g.set(entered)
	g.mov(elem, g.lookup(in.Glob, key))
	g.condI(asm.JNE, elem, 0, found, full)
	g.raise(ir.ErrScratch, mach.None, mach.None, in.OnErr) // deleted in between
	g.set(done)
}

// zeroElem gives the value of a new, empty aggregate.
func (g *gen) zeroElem(i int) func() arg {
	return func() arg {
		gl := &g.u.Layout.Globals[i]
		n := gl.ValueOff + gl.ValueSize
		if gl.SeqOff < 0 {
			g.u.zeros = max(g.u.zeros, n)
			return aMapVal(plan.MapZero, 0)
		}
		p := g.room(n)
		g.zero(p, n)
		g.sequence(p.plus(gl.SeqOff))
		return g.argP(p)
	}
}

// accumulate puts v into the aggregate of elem.
func (g *gen) accumulate(i int, elem mach.Reg, v ir.Val) {
	gl := &g.u.Layout.Globals[i]
	st, off := &gl.Stat, gl.ValueOff
	add := func(field int, r mach.Reg) {
		if field >= 0 {
			g.atomic(asm.AddAtomic, elem, off+field, r, asm.DWord)
		}
	}
	if st.Sum >= 0 {
		add(st.Sum, g.long(v))
	}
	if st.Min >= 0 {
		g.greatest(elem, off+st.Min, g.flipped(v, 1<<63-1))
	}
	if st.Max >= 0 {
		g.greatest(elem, off+st.Max, g.flipped(v, -1<<63))
	}
	if st.SqLo >= 0 {
		hi, lo := g.square(g.long(v))
		old := g.copy(lo)
		g.atomic(asm.FetchAdd, elem, off+st.SqLo, old, asm.DWord)
		g.alu(asm.Add, old, lo)
		carry, on := g.block(), g.block()
		g.cond(asm.JLT, old, lo, carry, on)
		g.set(carry)
		g.aluI(asm.Add, hi, 1)
		g.jump(on)
		g.set(on)
		add(st.SqHi, hi)
	}
	for n, h := range st.Hists {
		if h < 0 {
			continue
		}
		b := g.bucket(g.u.P.Globals[i].Stat.Hists[n], v)
		g.aluI(asm.LSh, b, 3)
		g.alu(asm.Add, b, elem)
		g.atomic(asm.AddAtomic, b, off+h, g.imm(1), asm.DWord)
	}
	// Last: who sees a count finds all else in place.
	if st.Count >= 0 {
		add(st.Count, g.imm(1))
	}
}

// flipped gives v ^ mask in a new register.
func (g *gen) flipped(v ir.Val, mask int64) mach.Reg {
	if v.Kind == ir.ValInt {
		return g.imm(v.Int ^ mask)
	}
	return g.bin(asm.Xor, g.long(v), g.imm(mask))
}

// greatestTries is how often the exchange below is tried. Each failure means that another handler on the same
// word got in between two instructions.
const greatestTries = 8

// greatest makes the word at elem + off the unsigned maximum of itself and v.
func (g *gen) greatest(elem mach.Reg, off int, v mach.Reg) {
	done := g.block()
	cur := g.get(elem, off, asm.DWord)
	slow := g.block()
	g.cond(asm.JGT, v, cur, slow, done)
	g.set(slow)
	for try := range greatestTries {
		g.mov(mach.R0, cur)
		g.atomic(asm.CmpXchg, elem, off, v, asm.DWord)
		old := g.copy(mach.R0)
		if try == greatestTries-1 {
			g.jump(done)
			break
		}
		next := g.cold()
		g.cond(asm.JNE, old, cur, next, done)
		g.set(next)
		g.mov(cur, old)
		again := g.cold()
		g.cond(asm.JGT, v, cur, again, done)
		g.set(again)
	}
	g.set(done)
}

// square gives the 128-bit square of v: of its magnitude, from 32-bit halves.
func (g *gen) square(v mach.Reg) (hi, lo mach.Reg) {
	m, _ := g.magnitude(v)
	a := g.binI(asm.RSh, m, 32)
	b := g.copy(m)
	g.aluI(asm.LSh, b, 32)
	g.aluI(asm.RSh, b, 32)
	// (a*2^32 + b)^2 = a^2*2^64 + 2ab*2^32 + b^2
	hi = g.bin(asm.Mul, a, a)
	ab := g.bin(asm.Mul, a, b)
	lo = g.bin(asm.Mul, b, b)
	g.alu(asm.Add, hi, g.binI(asm.RSh, ab, 31))
	mid := g.binI(asm.LSh, ab, 33)
	g.alu(asm.Add, lo, mid)
	carry, on := g.block(), g.block()
	g.cond(asm.JLT, lo, mid, carry, on)
	g.set(carry)
	g.aluI(asm.Add, hi, 1)
	g.jump(on)
	g.set(on)
	return hi, lo
}

// bucket gives the index of the bucket that v falls into, within what the verifier can see.
func (g *gen) bucket(h ir.Hist, v ir.Val) mach.Reg {
	if v.Kind == ir.ValInt {
		if h.Linear {
			return g.imm(int64(layout.HistLinearBucket(v.Int, h.Low, h.High, h.Width)))
		}
		return g.imm(int64(layout.HistLogBucket(v.Int)))
	}
	if h.Linear {
		return g.linearBucket(h, g.long(v))
	}
	return g.logBucket(g.long(v))
}

// logBucket finds the highest bit of the magnitude by halving, without branches.
func (g *gen) logBucket(v mach.Reg) mach.Reg {
	w, sign := g.magnitude(v)
	n := g.imm(0) // 1 + index of the highest bit, 0 for zero
	for _, half := range []int64{32, 16, 8, 4, 2, 1, 0} {
		nz := g.binI(asm.RSh, w, half)
		t := g.copy(nz)
		g.neg(t)
		g.alu(asm.Or, nz, t)
		g.aluI(asm.RSh, nz, 63)
		if half == 0 {
			g.alu(asm.Add, n, nz)
			break
		}
		g.aluI(asm.LSh, nz, log2(half))
		g.alu(asm.RSh, w, nz)
		g.alu(asm.Add, n, nz)
	}
	// Positive values lie above the zero bucket, negative ones below.
	g.alu(asm.Xor, n, sign)
	g.alu(asm.Sub, n, sign)
	g.aluI(asm.Add, n, layout.HistLogZero)
	low, on := g.cold(), g.block()
	g.condI(asm.JSLT, n, 0, low, on)
	g.set(low)
	g.movI(n, 0)
	g.jump(on)
	g.set(on)
	return g.tight(n, layout.HistLogBuckets-1)
}

func (g *gen) linearBucket(h ir.Hist, v mach.Reg) mach.Reg {
	n := g.reg()
	low, high, done := g.block(), g.block(), g.block()
	g.unlessI(asm.JSLT, v, h.Low, low)
	g.mov(n, v)
	if h.Low != 0 {
		g.alu(asm.Sub, n, g.imm(h.Low))
	}
	if h.Width != 1 {
		if h.Width == int64(int32(h.Width)) {
			g.aluI(asm.Div, n, h.Width)
		} else {
			g.alu(asm.Div, n, g.imm(h.Width))
		}
	}
	g.unlessI(asm.JGE, n, int64(h.Buckets()-2), high)
	g.aluI(asm.Add, n, 1)
	g.jump(done)
	g.set(low)
	g.movI(n, 0)
	g.jump(done)
	g.set(high)
	g.movI(n, int64(h.Buckets()-1))
	g.jump(done)
	g.set(done)
	return g.tight(n, h.Buckets()-1)
}
