// Package irgen makes random programs that verify, for tests of everything that runs
// or rewrites programs. It is not part of the compiler.
//
// In: a source of randomness. Out: an ir.Program shaped as lowering shapes them: locals set
// at the start, loops with a budget, try blocks, loops over arrays.
package irgen

import (
	"fmt"
	"math/rand/v2"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// Program makes a program.
func Program(r *rand.Rand) *ir.Program {
	g := &gen{r: r, p: &ir.Program{Limits: layout.Default()}}
	g.p.Limits.MaxAction, g.p.Limits.MaxActionInt, g.p.Limits.MaxString = 60, 90, 32
	g.p.Limits.MaxNesting = 40 // calls that go in circles use up the budget first
	g.globals()
	g.funcs()
	sites := []*probe.Site{{Kind: probe.Begin}, {Kind: probe.Timer, Timer: probe.TimerPart{Period: 1e9}},
		{Kind: probe.Uprobe, Program: probe.ProgramPart{Path: "/a", Offset: 16}, Point: "p16", Func: "f16"},
		{Kind: probe.Uprobe, Program: probe.ProgramPart{Path: "/a", Offset: 32}, Point: "p32", Func: "f32"},
		{Kind: probe.End}}
	for i := range 1 + r.IntN(5) {
		site := sites[r.IntN(len(sites))]
		g.p.Probes = append(g.p.Probes, &ir.Probe{Name: fmt.Sprintf("p%d", i), Cond: -1, Sites: []*probe.Site{site},
			Handler: g.fn("", nil, types.Unknown)})
	}
	return g.p
}

type gen struct {
	r *rand.Rand
	p *ir.Program
	b *ir.Builder

	longs, strs []ir.Reg
	handler     bool
	result      types.Type
	depth       int
	loops       int
	inErr       bool // an error is pending here
	budget      int  // statements left to generate
	pos         source.Pos
}

func (g *gen) cap() int { return []int{0, 1, 3, 8, 15, 31, 31, 31}[g.r.IntN(8)] }

func (g *gen) globals() {
	l, s, st := types.Long, types.String, types.Stats
	add := func(name string, t types.Type, keys ...types.Type) *ir.Global {
		gl := &ir.Global{Name: name, Type: t}
		if t == s {
			gl.Cap = g.cap()
		}
		for _, k := range keys {
			key := ir.Key{Type: k}
			if k == s {
				key.Cap = 31
			}
			gl.Keys = append(gl.Keys, key)
			gl.Size = 1 + g.r.IntN(4)
			gl.Wrap = g.r.IntN(3) == 0
		}
		g.p.AddGlobal(gl)
		return gl
	}
	add("n", l).InitInt = int64(g.r.IntN(3))
	add("m", l)
	if gl := add("s", s); gl.Cap > 2 {
		gl.InitStr = "ini"[:gl.Cap%3]
	}
	add("al", l, l)
	add("as", l, s)
	add("als", s, l, s)
	add("st", st).Stat = ir.StatNeeds{Variance: true, Hists: []ir.Hist{{}, {Linear: true, Low: -5, High: 20, Width: 3}}}
	add("sa", st, l).Stat = ir.StatNeeds{Hists: []ir.Hist{{}}}
}

func (g *gen) funcs() {
	for i := range g.r.IntN(4) {
		var params []types.Type
		for range g.r.IntN(3) {
			params = append(params, g.typ())
		}
		result := []types.Type{types.Unknown, types.Long, types.String}[g.r.IntN(3)]
		g.p.Funcs = append(g.p.Funcs, g.fn(fmt.Sprintf("f%d", i), params, result))
	}
}

func (g *gen) typ() types.Type {
	if g.r.IntN(3) == 0 {
		return types.String
	}
	return types.Long
}

// fn makes a function, or a handler when name is "". It may call those made before, and itself.
func (g *gen) fn(name string, params []types.Type, result types.Type) *ir.Func {
	g.b = ir.NewBuilder(name)
	g.handler, g.result = name == "", result
	g.longs, g.strs, g.depth, g.loops, g.inErr = nil, nil, 0, 0, false
	g.budget = 3 + g.r.IntN(25)
	g.b.Result(result, 0)
	if result == types.String {
		g.b.Result(result, g.cap())
	}
	for _, t := range params {
		g.reg(g.b.Param("p", t, g.cap()), t)
	}
	for range 2 + g.r.IntN(4) {
		t := g.typ()
		r := g.b.Reg("v", t, g.cap())
		g.reg(r, t)
		if t == types.Long {
			g.b.Mov(r, ir.I(0))
		} else {
			g.b.Mov(r, ir.S(""))
		}
	}
	for g.budget > 0 && !g.b.Ended() {
		g.stmt()
	}
	if g.b.Ended() {
		return g.b.Finish()
	}
	switch {
	case g.handler:
		g.b.End()
	case result == types.Unknown:
		g.b.Return(ir.Val{})
	default:
		g.b.Return(g.val(result))
	}
	return g.b.Finish()
}

func (g *gen) reg(r ir.Reg, t types.Type) {
	if t == types.Long {
		g.longs = append(g.longs, r)
	} else {
		g.strs = append(g.strs, r)
	}
}

// val is a register or constant of type t.
func (g *gen) val(t types.Type) ir.Val {
	if t == types.String {
		if len(g.strs) > 0 && g.r.IntN(3) > 0 {
			return ir.R(g.strs[g.r.IntN(len(g.strs))])
		}
		return ir.S([]string{"", "a", "b", "abc", "12", "-7x", "\x01\xfe\"",
			"0123456789abcdef0123456789abcde"}[g.r.IntN(8)])
	}
	if len(g.longs) > 0 && g.r.IntN(3) > 0 {
		return ir.R(g.longs[g.r.IntN(len(g.longs))])
	}
	return ir.I([]int64{0, 1, 2, 3, -1, 7, 63, 64, 100, 1 << 40, -1 << 63, 1<<63 - 1}[g.r.IntN(12)])
}

// small is a Long that is often the same.
func (g *gen) small() ir.Val {
	if g.r.IntN(2) == 0 {
		return ir.I(int64(g.r.IntN(4)))
	}
	return g.val(types.Long)
}

// dst is a register to write: one that exists, or a new one.
func (g *gen) dst(t types.Type) ir.Reg {
	regs := g.longs
	if t == types.String {
		regs = g.strs
	}
	if len(regs) > 0 && g.r.IntN(3) > 0 {
		return regs[g.r.IntN(len(regs))]
	}
	return g.b.Reg("", t, g.cap())
}

// keep makes a register that dst may have made usable from now on, in this block and what it leads to.
func (g *gen) keep(r ir.Reg, t types.Type) {
	if r == ir.NoReg {
		return
	}
	for _, o := range append(append([]ir.Reg(nil), g.longs...), g.strs...) {
		if o == r {
			return
		}
	}
	g.reg(r, t)
}

func (g *gen) optional(t types.Type) ir.Reg {
	if t == types.Unknown || g.r.IntN(3) == 0 {
		return ir.NoReg
	}
	return g.dst(t)
}

// scope runs fn; registers that it makes are not usable behind it.
func (g *gen) scope(fn func()) {
	l, s := len(g.longs), len(g.strs)
	g.depth++
	fn()
	g.depth--
	g.longs, g.strs = g.longs[:l], g.strs[:s]
}

func (g *gen) stmt() {
	g.budget--
	g.pos++
	if g.r.IntN(3) == 0 {
		g.b.Budget(1 + g.r.IntN(2))
	}
	n := g.r.IntN(100)
	switch {
	case n < 28:
		g.compute()
	case n < 55:
		g.global()
	case n < 65:
		g.print()
	case n < 71:
		g.call()
	case n < 78:
		g.probed()
	case g.depth > 3:
		g.compute()
	case n < 85:
		g.branch()
	case n < 89:
		g.loop()
	case n < 93:
		g.foreach()
	case n < 97:
		g.try()
	case g.depth == 0:
		g.compute()
	case n < 98:
		g.b.Fail(ir.ErrUser, g.val(types.String))
	case g.handler && n < 99:
		g.b.Skip(ir.SkipNoEntry)
	case g.handler:
		g.b.End()
	case g.result == types.Unknown:
		g.b.Return(ir.Val{})
	default:
		g.b.Return(g.val(g.result))
	}
}

var binaryOps = []ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr, ir.OpSar,
	ir.OpEq, ir.OpNe, ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe, ir.OpULt}

func (g *gen) compute() {
	l, s := types.Long, types.String
	switch g.r.IntN(13) {
	case 0, 1, 2, 3:
		a, b, d := g.val(l), g.val(l), g.dst(l)
		g.b.Op(binaryOps[g.r.IntN(len(binaryOps))], d, a, b)
		g.keep(d, l)
	case 4:
		a, b := g.val(l), g.val(l)
		bad, ok := g.b.Block(), g.b.Block()
		g.b.Branch(b, ok, bad)
		g.b.SetBlock(bad)
		g.b.Fail(ir.ErrDivZero)
		g.b.SetBlock(ok)
		d := g.dst(l)
		g.b.Op([]ir.Op{ir.OpDiv, ir.OpMod}[g.r.IntN(2)], d, a, b)
		g.keep(d, l)
	case 5:
		a, d := g.val(l), g.dst(l)
		g.b.Op([]ir.Op{ir.OpNeg, ir.OpNot}[g.r.IntN(2)], d, a)
		g.keep(d, l)
	case 6:
		a, d := g.val(l), g.dst(l)
		g.b.Mov(d, a)
		g.keep(d, l)
	case 7:
		a, d := g.val(s), g.dst(s)
		g.b.Mov(d, a)
		g.keep(d, s)
	case 8, 9:
		a, b, d := g.val(s), g.val(s), g.dst(s)
		g.b.Op(ir.OpCat, d, a, b)
		g.keep(d, s)
	case 10:
		a, b, d := g.val(s), g.val(s), g.dst(l)
		g.b.Op(ir.OpSCmp, d, a, b)
		g.keep(d, l)
	case 11:
		n, err := g.p.AddRegex(patterns[g.r.IntN(len(patterns))])
		if err != nil {
			panic(err) // one of the constants below
		}
		if v := g.b.Match(n, g.val(s)); v.IsReg() {
			g.keep(v.Reg, l)
		}
	case 12:
		f, args, d := g.format(), []ir.Val(nil), g.dst(s)
		args = g.args(f)
		g.b.Sprint(g.p.AddFormat(f), d, args...)
		g.keep(d, s)
	}
}

// patterns are matched with texts such as val makes.
var patterns = [...]string{"a", "^a", "c$", "^$", "[0-9]+", "^-?[0-9]*x?$", "(a|b)*c", "b.*f0", "[^a-z]", "\x01",
	"(01|23|ab){2}", "0123456789abcdef0123456789abcde$"}

// keys are operands for the keys of gl.
func (g *gen) keys(gl *ir.Global, stars bool) []ir.Val {
	var ks []ir.Val
	for _, k := range gl.Keys {
		switch {
		case stars && g.r.IntN(3) == 0:
			ks = append(ks, ir.Star())
		case k.Type == types.Long && g.r.IntN(6) == 0:
			tid := g.b.Long("")
			g.b.Intr("tid", tid)
			ks = append(ks, ir.R(tid))
		case k.Type == types.Long:
			ks = append(ks, g.small())
		default:
			ks = append(ks, g.val(types.String))
		}
	}
	return ks
}

func (g *gen) global() {
	i := g.r.IntN(len(g.p.Globals))
	gl := g.p.Globals[i]
	op := func(op ir.Op, d ir.Reg, t types.Type, args ...ir.Val) {
		g.b.OnGlobal(op, i, d, args...)
		g.keep(d, t)
	}
	l := types.Long
	stars := gl.IsArray() && g.r.IntN(3) == 0
	keys := g.keys(gl, false)
	with := func(vs ...ir.Val) []ir.Val { return append(keys, vs...) }
	n := g.r.IntN(8)
	switch {
	case gl.IsArray() && n == 0:
		op(ir.OpMHas, g.dst(l), l, g.keys(gl, stars)...)
	case gl.IsArray() && n == 1:
		op(ir.OpMDel, ir.NoReg, 0, g.keys(gl, stars)...)
	case n == 2 && g.r.IntN(3) == 0:
		op(ir.OpMClear, ir.NoReg, 0)
	case gl.Type == types.Stats && n < 6:
		op(ir.OpSAdd, ir.NoReg, 0, with(g.val(l))...)
	case gl.Type == types.Stats:
		g.stat(i, gl)
	case !gl.IsArray() && n < 4:
		op(ir.OpGGet, g.dst(gl.Type), gl.Type)
	case !gl.IsArray() && gl.Type == l && n < 6:
		op(ir.OpGAdd, g.optional(l), l, g.val(l))
	case !gl.IsArray():
		op(ir.OpGSet, ir.NoReg, 0, g.val(gl.Type))
	case n < 4:
		op(ir.OpMGet, g.dst(gl.Type), gl.Type, keys...)
	case gl.Type == l && n < 6:
		op(ir.OpMAdd, g.optional(l), l, with(g.val(l))...)
	default:
		op(ir.OpMSet, ir.NoReg, 0, with(g.val(gl.Type))...)
	}
}

func (g *gen) stat(i int, gl *ir.Global) {
	keys := g.keys(gl, true)
	if g.r.IntN(6) == 0 {
		g.b.PrintHist(i, g.r.IntN(len(gl.Stat.Hists)), keys...)
		return
	}
	d := g.dst(types.Long)
	switch s := ir.Stat(g.r.IntN(7)); {
	case s == ir.StatVariance && !gl.Stat.Variance:
		g.b.Stat(i, ir.StatCount, d, keys...)
	case s == ir.StatVariance:
		g.b.Stat(i, s, d, append(keys, g.small())...)
	case s == ir.StatBucket:
		g.b.Bucket(i, g.r.IntN(len(gl.Stat.Hists)), d, append(keys, g.small())...)
	default:
		g.b.Stat(i, s, d, keys...)
	}
	g.keep(d, types.Long)
}

func (g *gen) format() *ir.Format {
	f, err := textfmt.ParseFormat([]string{"x\n", "%d ", "%s|", "%d %s\n", "%5x", "%-4s%c", "%.*s", "%*d%%", "%b",
		""}[g.r.IntN(10)])
	if err != nil {
		panic(err) // the list above is ours
	}
	return f
}

func (g *gen) args(f *ir.Format) []ir.Val {
	var args []ir.Val
	for i, t := range f.ArgTypes() {
		if f.Args() > 1 && i == 0 && t == types.Long {
			args = append(args, g.small()) // a width
		} else {
			args = append(args, g.val(t))
		}
	}
	return args
}

func (g *gen) print() {
	f := g.format()
	g.b.Print(g.p.AddFormat(f), g.args(f)...)
	if g.inErr && g.handler && g.r.IntN(3) == 0 {
		g.b.Op(ir.OpReport, ir.NoReg)
	}
}

func (g *gen) call() {
	fs := g.p.Funcs
	if !g.handler && g.r.IntN(3) == 0 {
		fs = append(append([]*ir.Func(nil), fs...), g.b.F)
	}
	if len(fs) == 0 {
		g.intrinsic()
		return
	}
	f := fs[g.r.IntN(len(fs))]
	if f == g.b.F {
		g.b.Budget(5)
		f.Recursive = true
	}
	var args []ir.Val
	for _, p := range f.Params {
		args = append(args, g.val(f.Regs[p].Type))
	}
	d := g.optional(f.Result)
	g.b.Call(f.Name, d, args...)
	g.keep(d, f.Result)
}

func (g *gen) intrinsic() {
	l, s := types.Long, types.String
	var d ir.Reg
	var t types.Type
	switch g.r.IntN(8) {
	case 0:
		d, t = g.dst(l), l
		g.b.Intr("strlen", d, g.val(s))
	case 1:
		d, t = g.dst(s), s
		g.b.Intr("substr", d, g.val(s), g.small(), g.small())
	case 2:
		d, t = g.dst(l), l
		g.b.Intr("strtol", d, g.val(s), ir.I(10))
	case 3:
		d, t = g.dst(l), l
		g.b.Intr("stringat", d, g.val(s), g.small())
	case 4:
		d, t = g.dst(l), l
		g.b.Intr("pid", d)
	case 5:
		d, t = g.dst(s), s
		g.b.Intr("execname", d)
	case 6:
		g.b.Intr("log", ir.NoReg, g.val(s))
		return
	default:
		d, t = g.optional(l), l
		g.b.Intr("gettimeofday_ns", d)
	}
	g.keep(d, t)
}

func (g *gen) probed() {
	l := types.Long
	switch g.r.IntN(4) {
	case 0:
		d := g.dst(l)
		in := g.b.Make(ir.OpReg, d)
		in.N = int64(g.r.IntN(8))
		g.b.Emit(in)
		g.keep(d, l)
	case 1:
		v := g.b.Load(g.val(l), []int{1, 2, 4, 8}[g.r.IntN(4)], g.r.IntN(2) == 0, false)
		g.keep(v.Reg, l)
	case 2:
		d := g.dst(types.String)
		g.b.Named(ir.OpSite, "ppfunc", d)
		g.keep(d, types.String)
	default:
		g.intrinsic()
	}
}

func (g *gen) block(n int) {
	g.scope(func() {
		for range n {
			if g.b.Ended() {
				return
			}
			g.stmt()
		}
	})
}

func (g *gen) branch() {
	then, els, join := g.b.Block(), g.b.Block(), g.b.Block()
	g.b.Branch(g.val(types.Long), then, els)
	g.b.SetBlock(then)
	g.block(1 + g.r.IntN(3))
	g.b.Jump(join)
	g.b.SetBlock(els)
	if g.r.IntN(2) == 0 {
		g.block(1 + g.r.IntN(2))
	}
	g.b.Jump(join)
	g.b.SetBlock(join)
}

func (g *gen) loop() {
	i := g.b.Long("i")
	g.b.Mov(i, ir.I(0))
	head, body, out := g.b.Block(), g.b.Block(), g.b.Block()
	g.b.Jump(head)
	g.b.SetBlock(head)
	g.b.Budget(1)
	g.b.Branch(g.b.Bin(ir.OpLt, ir.R(i), ir.I(int64(g.r.IntN(5)))), body, out)
	g.b.SetBlock(body)
	g.block(1 + g.r.IntN(3))
	g.b.Op(ir.OpAdd, i, ir.R(i), ir.I(1))
	g.b.Jump(head)
	g.b.SetBlock(out)
}

func (g *gen) foreach() {
	var arrays []int
	for i, gl := range g.p.Globals {
		if gl.IsArray() {
			arrays = append(arrays, i)
		}
	}
	i := arrays[g.r.IntN(len(arrays))]
	gl := g.p.Globals[i]
	orders := []string{"", "v+", "v-", "k0+", "k0-"}
	if gl.Type == types.Stats {
		orders = append(orders, "@sum-", "@avg+", "@min-", "@max+", "@count-")
	}
	var slice []ir.Val
	if g.r.IntN(3) == 0 {
		slice = g.keys(gl, true)
	}
	limit := ir.I(-1)
	if g.r.IntN(3) == 0 {
		limit = g.small()
	}
	g.loops++
	if g.loops > ir.MaxIters {
		return
	}
	it := g.b.IterOpen(i, orders[g.r.IntN(len(orders))], slice, limit)
	head, body, out := g.b.Block(), g.b.Block(), g.b.Block()
	g.b.Jump(head)
	g.b.SetBlock(head)
	g.b.Budget(1)
	g.b.Branch(g.b.IterNext(i, it), body, out)
	g.b.SetBlock(body)
	g.scope(func() {
		for k, key := range gl.Keys {
			r := g.b.Reg("k", key.Type, g.cap())
			g.b.IterKey(i, it, k, r)
			g.reg(r, key.Type)
		}
		if gl.Type != types.Stats {
			r := g.b.Reg("val", gl.Type, g.cap())
			g.b.IterVal(i, it, r)
			g.reg(r, gl.Type)
		}
		g.print()
		g.block(g.r.IntN(2))
	})
	g.b.Jump(head)
	g.b.SetBlock(out)
}

func (g *gen) try() {
	catch, join := g.b.Block(), g.b.Block()
	save := g.b.OnErr
	g.b.OnErr = catch
	g.block(1 + g.r.IntN(4))
	g.b.OnErr = save
	g.b.Jump(join)
	g.b.SetBlock(catch)
	was := g.inErr
	g.inErr = true
	g.scope(func() {
		msg := g.b.Str("msg", 31)
		g.b.Op(ir.OpErrMsg, msg)
		g.reg(msg, types.String)
		g.print()
		g.block(g.r.IntN(2))
	})
	g.inErr = was
	g.b.Jump(join)
	g.b.SetBlock(join)
}
