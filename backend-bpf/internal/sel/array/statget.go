package array

import (
	"github.com/cilium/ebpf/asm"

	"github.com/gostap/gostap/backend-bpf/internal/mach"
	"github.com/gostap/gostap/backend-bpf/internal/plan"
	"github.com/gostap/gostap/backend-bpf/internal/sel/emit"
	"github.com/gostap/gostap/compiler/ir"
)

// aggregate holds the fields of an aggregate that a read needs, added up over CPUs or elements. Min
// and max are in their stored form.
type aggregate struct{ count, sum, min, max, bucket mach.Reg }

// StatGet reads a statistic.
func (g *Arrays) StatGet(in *ir.Instr) {
	gl := &g.U.Layout.Globals[in.Glob]
	decl := g.U.P.Globals[in.Glob]
	n := len(decl.Keys)
	keys, rest := in.Args[:n], in.Args[n:]
	want := ir.Stat(in.N)
	if want == ir.StatVariance {
		g.Fail("variance is not computed in the kernel")
		return
	}
	var acc aggregate
	var idx mach.Reg
	regs := acc.wanted(want)
	for _, r := range regs {
		*r = g.Imm(0)
	}
	buckets := 0
	if want == ir.StatBucket {
		buckets = decl.Stat.Hists[in.Iter].Buckets()
		idx = g.Copy(g.Long(rest[0]))
		out, on := g.Cold(), g.Block()
		g.CondI(asm.JGE, idx, int64(buckets), out, on)
		g.Set(out)
		g.MovI(idx, 0) // read something; the error comes behind it
		g.Jump(on)
		g.Set(on)
	}
	add := func(elem mach.Reg) { g.merge(&acc, in, elem, idx) }
	switch {
	case n == 0:
		g.eachCPU(gl.Map, add)
	case stars(keys):
		g.Fail("statistics over a slice are not computed in the kernel")
		return
	default:
		elem := g.lookup(in.Glob, g.key(in.Glob, keys))
		none := g.Block()
		g.UnlessI(asm.JEq, elem, 0, none)
		add(elem)
		g.Here(none)
	}
	dst := g.Longs[in.Dst]
	if want != ir.StatCount && want != ir.StatSum && want != ir.StatBucket {
		empty := g.Cold()
		g.UnlessI(asm.JEq, acc.count, 0, empty)
		on := g.Cur
		g.Set(empty)
		g.Raise(ir.ErrEmptyStat, mach.None, mach.None, in.OnErr)
		g.Set(on)
	}
	switch want {
	case ir.StatCount:
		g.Mov(dst, acc.count)
	case ir.StatSum:
		g.Mov(dst, acc.sum)
	case ir.StatMin:
		g.Alu(asm.Xor, acc.min, g.Imm(1<<63-1))
		g.Mov(dst, acc.min)
	case ir.StatMax:
		g.Alu(asm.Xor, acc.max, g.Imm(-1<<63))
		g.Mov(dst, acc.max)
	case ir.StatAvg:
		abs, sign := g.Magnitude(acc.sum)
		g.Alu(asm.Div, abs, acc.count)
		g.Alu(asm.Xor, abs, sign)
		g.Alu(asm.Sub, abs, sign)
		g.Mov(dst, abs)
	case ir.StatBucket:
		i := g.Long(rest[0])
		bad := g.Cold()
		g.UnlessI(asm.JGE, i, int64(buckets), bad)
		g.Mov(dst, acc.bucket)
		on := g.Cur
		g.Set(bad)
		g.Raise(ir.ErrIndexRange, i, g.Imm(int64(buckets)), in.OnErr)
		g.Set(on)
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
func (g *Arrays) merge(acc *aggregate, in *ir.Instr, elem, idx mach.Reg) {
	gl := &g.U.Layout.Globals[in.Glob]
	field := func(off int) mach.Reg { return g.Get(elem, gl.ValueOff+off, asm.DWord) }
	most := func(r mach.Reg, off int) {
		v := field(off)
		up, on := g.Block(), g.Block()
		g.Cond(asm.JGT, v, r, up, on)
		g.Set(up)
		g.Mov(r, v)
		g.Jump(on)
		g.Set(on)
	}
	if acc.count != mach.None {
		g.Alu(asm.Add, acc.count, field(gl.Stat.Count))
	}
	if acc.sum != mach.None {
		g.Alu(asm.Add, acc.sum, field(gl.Stat.Sum))
	}
	if acc.min != mach.None {
		most(acc.min, gl.Stat.Min)
	}
	if acc.max != mach.None {
		most(acc.max, gl.Stat.Max)
	}
	if acc.bucket != mach.None {
		p := g.Tight(idx, g.U.P.Globals[in.Glob].Stat.Hists[in.Iter].Buckets()-1)
		g.AluI(asm.LSh, p, 3)
		g.Alu(asm.Add, p, elem)
		g.Alu(asm.Add, acc.bucket, g.Get(p, gl.ValueOff+gl.Stat.Hists[in.Iter], asm.DWord))
	}
}

// eachCPU runs body with the address of each CPU's value of a per-CPU array of one element.
func (g *Arrays) eachCPU(m string, body func(elem mach.Reg)) {
	k := g.Temp(8)
	g.StoreIS(k, 0, 0, asm.DWord) // as Index does
	cpu := g.Imm(0)
	head, next, done := g.Block(), g.Block(), g.Block()
	g.Here(head)
	g.Bounded(head)
	g.UnlessI(asm.JGE, cpu, int64(g.U.CPUs), done)
	elem := g.Call(asm.FnMapLookupPercpuElem, emit.Map(m), emit.OnStack(k, 0), emit.InReg(cpu))
	g.UnlessI(asm.JEq, elem, 0, next)
	body(elem)
	g.Here(next)
	g.AluI(asm.Add, cpu, 1)
	g.Jump(head)
	g.Set(done)
}

// Clear empties a global.
func (g *Arrays) Clear(in *ir.Instr) {
	gl := &g.U.Layout.Globals[in.Glob]
	decl := g.U.P.Globals[in.Glob]
	switch {
	case decl.IsArray():
		g.matching(in, deleteMatching)
	case gl.Map == plan.MapScalars:
		g.Zero(emit.At(g.MapVal(gl.Map, gl.ValueOff), 0), gl.ValueSize)
	default:
		g.eachCPU(gl.Map, func(elem mach.Reg) { g.Zero(emit.At(elem, gl.ValueOff), gl.ValueSize) })
	}
}
