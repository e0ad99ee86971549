package sel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/compiler/ir"
)

// aggregate holds the fields of an aggregate that a read needs, added up over CPUs or elements. Min
// and max are in their stored form.
type aggregate struct{ count, sum, min, max, bucket mach.Reg }

// statGet reads a statistic.
func (g *gen) statGet(in *ir.Instr) {
	gl := &g.u.Layout.Globals[in.Glob]
	decl := g.u.P.Globals[in.Glob]
	n := len(decl.Keys)
	keys, rest := in.Args[:n], in.Args[n:]
	want := ir.Stat(in.N)
	if want == ir.StatVariance {
		g.fail("variance is not computed in the kernel")
		return
	}
	var acc aggregate
	var idx mach.Reg
	regs := acc.wanted(want)
	for _, r := range regs {
		*r = g.imm(0)
	}
	buckets := 0
	if want == ir.StatBucket {
		buckets = decl.Stat.Hists[in.Iter].Buckets()
		idx = g.copy(g.long(rest[0]))
		out, on := g.cold(), g.block()
		g.condI(asm.JGE, idx, int64(buckets), out, on)
		g.set(out)
		g.movI(idx, 0) // read something; the error comes behind it
		g.jump(on)
		g.set(on)
	}
	add := func(elem mach.Reg) { g.merge(&acc, in, elem, idx) }
	switch {
	case n == 0:
		g.eachCPU(gl.Map, add)
	case stars(keys):
		g.fail("statistics over a slice are not computed in the kernel")
		return
	default:
		elem := g.lookup(in.Glob, g.key(in.Glob, keys))
		none := g.block()
		g.unlessI(asm.JEq, elem, 0, none)
		add(elem)
		g.here(none)
	}
	dst := g.longs[in.Dst]
	if want != ir.StatCount && want != ir.StatSum && want != ir.StatBucket {
		empty := g.cold()
		g.unlessI(asm.JEq, acc.count, 0, empty)
		on := g.cur
		g.set(empty)
		g.raise(ir.ErrEmptyStat, mach.None, mach.None, in.OnErr)
		g.set(on)
	}
	switch want {
	case ir.StatCount:
		g.mov(dst, acc.count)
	case ir.StatSum:
		g.mov(dst, acc.sum)
	case ir.StatMin:
		g.alu(asm.Xor, acc.min, g.imm(1<<63-1))
		g.mov(dst, acc.min)
	case ir.StatMax:
		g.alu(asm.Xor, acc.max, g.imm(-1<<63))
		g.mov(dst, acc.max)
	case ir.StatAvg:
		abs, sign := g.magnitude(acc.sum)
		g.alu(asm.Div, abs, acc.count)
		g.alu(asm.Xor, abs, sign)
		g.alu(asm.Sub, abs, sign)
		g.mov(dst, abs)
	case ir.StatBucket:
		i := g.long(rest[0])
		bad := g.cold()
		g.unlessI(asm.JGE, i, int64(buckets), bad)
		g.mov(dst, acc.bucket)
		on := g.cur
		g.set(bad)
		g.raise(ir.ErrIndexRange, i, g.imm(int64(buckets)), in.OnErr)
		g.set(on)
	}
}

// wanted gives the fields that a statistic is made of.
func (a *aggregate) wanted(s ir.Stat) []*mach.Reg {
	a.count, a.sum, a.min, a.max, a.bucket = mach.None, mach.None, mach.None, mach.None, mach.None
	switch s {
	case ir.StatSum:
		return []*mach.Reg{&a.sum}
	case ir.StatMin:
		return []*mach.Reg{&a.count, &a.min}
	case ir.StatMax:
		return []*mach.Reg{&a.count, &a.max}
	case ir.StatAvg:
		return []*mach.Reg{&a.count, &a.sum}
	case ir.StatBucket:
		return []*mach.Reg{&a.bucket}
	}
	return []*mach.Reg{&a.count}
}

// merge adds the aggregate at elem to acc.
func (g *gen) merge(acc *aggregate, in *ir.Instr, elem, idx mach.Reg) {
	gl := &g.u.Layout.Globals[in.Glob]
	field := func(off int) mach.Reg { return g.get(elem, gl.ValueOff+off, asm.DWord) }
	most := func(r mach.Reg, off int) {
		v := field(off)
		up, on := g.block(), g.block()
		g.cond(asm.JGT, v, r, up, on)
		g.set(up)
		g.mov(r, v)
		g.jump(on)
		g.set(on)
	}
	if acc.count != mach.None {
		g.alu(asm.Add, acc.count, field(gl.Stat.Count))
	}
	if acc.sum != mach.None {
		g.alu(asm.Add, acc.sum, field(gl.Stat.Sum))
	}
	if acc.min != mach.None {
		most(acc.min, gl.Stat.Min)
	}
	if acc.max != mach.None {
		most(acc.max, gl.Stat.Max)
	}
	if acc.bucket != mach.None {
		p := g.tight(idx, g.u.P.Globals[in.Glob].Stat.Hists[in.Iter].Buckets()-1)
		g.aluI(asm.LSh, p, 3)
		g.alu(asm.Add, p, elem)
		g.alu(asm.Add, acc.bucket, g.get(p, gl.ValueOff+gl.Stat.Hists[in.Iter], asm.DWord))
	}
}

// eachCPU runs body with the address of each CPU's value of a per-CPU array of one element.
func (g *gen) eachCPU(m string, body func(elem mach.Reg)) {
	k := g.temp(8)
	g.storeIS(k, 0, 0, asm.Word)
	cpu := g.imm(0)
	head, next, done := g.block(), g.block(), g.block()
	g.here(head)
	g.bounded(head)
	g.unlessI(asm.JGE, cpu, int64(g.u.CPUs), done)
	elem := g.call(asm.FnMapLookupPercpuElem, aMap(m), aSlot(k, 0), aReg(cpu))
	g.unlessI(asm.JEq, elem, 0, next)
	body(elem)
	g.here(next)
	g.aluI(asm.Add, cpu, 1)
	g.jump(head)
	g.set(done)
}

// clear empties a global.
func (g *gen) clear(in *ir.Instr) {
	gl := &g.u.Layout.Globals[in.Glob]
	decl := g.u.P.Globals[in.Glob]
	switch {
	case decl.IsArray():
		g.sweep(in, sweepDelete)
	case gl.Map == plan.MapScalars:
		g.zero(at(g.mapVal(gl.Map, gl.ValueOff), 0), gl.ValueSize)
	default:
		g.eachCPU(gl.Map, func(elem mach.Reg) { g.zero(at(elem, gl.ValueOff), gl.ValueSize) })
	}
}
