package lower

import (
	"math"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// element reads arr[keys].
func (f arrays) element(e *ast.Index) ir.Val {
	g, ok := f.globs[f.in.Globs[e.Array]]
	if !ok {
		return zero(f.typ(e))
	}
	keys := f.keys(e.Keys)
	f.at(e.Span)
	gl := f.out.Globals[g]
	r := f.b.Reg("", gl.Type, gl.Cap)
	f.b.OnGlobal(ir.OpMGet, g, r, keys...)
	return ir.R(r)
}

// member is "[keys] in arr" and "n in @hist_log(x)".
func (f arrays) member(e *ast.In) ir.Val {
	if e.Hist != nil {
		_, _, _, h, ok := f.hist(e.Hist)
		if len(e.Keys) != 1 || e.Keys[0] == nil || !ok {
			f.refuse(e.Span, "this form of in")
			return ir.I(0)
		}
		return f.b.Bin(ir.OpULt, f.expr(e.Keys[0]), ir.I(int64(h.Buckets())))
	}
	g, ok := f.globs[f.in.Globs[e.Array]]
	if !ok {
		return ir.I(0)
	}
	keys := f.keys(e.Keys)
	f.at(e.Span)
	r := f.b.Long("")
	f.b.OnGlobal(ir.OpMHas, g, r, keys...)
	return ir.R(r)
}

var stats = map[string]ir.Stat{
	"@count": ir.StatCount, "@sum": ir.StatSum, "@min": ir.StatMin, "@max": ir.StatMax, "@avg": ir.StatAvg,
	"@variance": ir.StatVariance,
}

// statOf reports whether an operator word reads an aggregate.
func statOf(name string) bool { _, ok := stats[name]; return ok }

// aggregate gives the global of a statistics operator's operand, and its keys.
func (f arrays) aggregate(x ast.Expr) (g int, keys []ir.Val, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Name:
		g, ok = f.globs[f.in.Globs[x]]
	case *ast.Index:
		if g, ok = f.globs[f.in.Globs[x.Array]]; ok {
			keys = f.keys(x.Keys)
		}
	}
	return g, keys, ok
}

// stat translates @count(x) and its kin.
func (f arrays) stat(e *ast.AtOp) ir.Val {
	if len(e.Args) == 0 {
		return ir.I(0)
	}
	g, keys, ok := f.aggregate(e.Args[0])
	if !ok {
		return ir.I(0)
	}
	f.at(e.Span)
	s := stats[e.Name]
	if s == ir.StatVariance {
		shift := ir.I(0)
		if len(e.Args) > 1 {
			shift = f.expr(e.Args[1])
		}
		keys = append(keys, shift)
	}
	return f.statValue(g, s, keys)
}

// statValue reads a statistic; of an aggregate with a scale it is a float, but for the count.
func (f arrays) statValue(g int, s ir.Stat, keys []ir.Val) ir.Val {
	get := func(s ir.Stat) ir.Val {
		r := f.b.Long("")
		f.b.Stat(g, s, r, keys...)
		return ir.R(r)
	}
	scale := f.out.Globals[g].Stat.Scale
	if scale == 0 || s == ir.StatCount {
		return get(s)
	}
	by := ir.I(int64(math.Float64bits(float64(scale))))
	switch s {
	case ir.StatAvg:
		get(s) // the error of one that is empty
		mean := f.floats("/", f.toFloat(get(ir.StatSum)), f.toFloat(get(ir.StatCount)))
		return f.floats("/", mean, by)
	case ir.StatVariance:
		return f.floats("/", f.floats("/", f.toFloat(get(s)), by), by)
	}
	return f.floats("/", f.toFloat(get(s)), by)
}

// hist finds the histogram that an operator names among those that its aggregate keeps.
func (f arrays) hist(e *ast.AtOp) (g, n int, keys []ir.Val, h ir.Hist, ok bool) {
	if g, keys, ok = f.aggregate(e.Args[0]); !ok {
		return 0, 0, nil, h, false
	}
	if h, ok = sema.Histogram(e, f.out.Globals[g].Stat.Scale); !ok {
		return 0, 0, nil, h, false
	}
	for i, o := range f.out.Globals[g].Stat.Hists {
		if o == h {
			return g, i, keys, h, true
		}
	}
	return 0, 0, nil, h, false
}

// histIndex is @hist_log(x)[i]: the count of bucket number i.
func (f arrays) histIndex(e *ast.HistIndex) ir.Val {
	g, n, keys, _, ok := f.hist(e.Hist)
	if !ok {
		return ir.I(0)
	}
	i := f.expr(e.I)
	f.at(e.Span)
	r := f.b.Long("")
	f.b.Bucket(g, n, r, append(keys, i)...)
	return ir.R(r)
}

// foreachHist goes over all buckets of a histogram, in ascending order if not asked otherwise. The key is the
// bucket's number, the value its count.
func (f arrays) foreachHist(s *ast.Foreach) {
	g, hn, keys, h, ok := f.hist(s.Hist)
	if !ok || len(s.Keys) != 1 {
		return
	}
	last := int64(h.Buckets() - 1)
	n, count, left := f.b.Long(""), f.b.Long(""), f.b.Long("")
	// read sets r to what bucket i has counted.
	read := func(r, i ir.Reg) {
		f.b.Bucket(g, hn, r, append(append([]ir.Val(nil), keys...), ir.R(i))...)
	}
	limit := ir.I(last + 1)
	if s.Limit != nil {
		limit = f.expr(s.Limit)
	}
	f.b.Mov(left, limit)
	head, check, in, out := f.b.Block(), f.b.Block(), f.b.Block(), f.b.Block()
	var next func() // goes on to check with the next n and count, or to out
	if s.Sort != 0 && s.SortKey == ast.SortByValue {
		next = f.bucketsByCount(n, count, last, s.Sort > 0, read, check, out)
	} else {
		step, first, more := int64(1), int64(-1), func() ir.Val { return f.b.Bin(ir.OpLe, ir.R(n), ir.I(last)) }
		if s.Sort < 0 {
			step, first, more = -1, last+1, func() ir.Val { return f.b.Bin(ir.OpGe, ir.R(n), ir.I(0)) }
		}
		f.b.Mov(n, ir.I(first))
		next = func() {
			load := f.b.Block()
			f.b.Op(ir.OpAdd, n, ir.R(n), ir.I(step))
			f.b.Branch(more(), load, out)
			f.to(load)
			read(count, n)
			f.b.Jump(check)
		}
	}
	f.b.Jump(head)
	shared := f.snapshot()
	f.to(head)
	f.at(s.Hist.Span)
	next()
	f.to(check)
	f.b.Branch(f.b.Bin(ir.OpGt, ir.R(left), ir.I(0)), in, out)
	f.to(in)
	f.b.Op(ir.OpSub, left, ir.R(left), ir.I(1))
	f.loopVar(s.Keys[0], types.Long, func(r ir.Reg) { f.b.Mov(r, ir.R(n)) })
	if s.Value != nil {
		f.loopVar(s.Value, types.Long, func(r ir.Reg) { f.b.Mov(r, ir.R(count)) })
	}
	f.inLoop(loop{out, head}, s.Body)
	f.b.Jump(head)
	f.restore(shared)
	f.to(out)
}

// bucketsByCount makes the code that sets n and count to the bucket that comes next when they are sorted by their
// counts, the lower bucket first where these are equal: the best one behind the one before, which every step looks
// for among all. It goes to found with it, to out when there is none.
func (f arrays) bucketsByCount(n, count ir.Reg, last int64, up bool, read func(r, i ir.Reg), found,
	out ir.BlockID) func() {
	before := int64(-1) // counts are above it
	behind, better := ir.OpGt, ir.OpLt
	if !up {
		before, behind, better = math.MaxInt64, ir.OpLt, ir.OpGt
	}
	f.b.Mov(n, ir.I(-1))
	f.b.Mov(count, ir.I(before))
	return func() {
		i, c, best, bestCount := f.b.Long(""), f.b.Long(""), f.b.Long(""), f.b.Long("")
		scan, look, some, equal, fits, take, done, any := f.b.Block(), f.b.Block(), f.b.Block(), f.b.Block(),
			f.b.Block(), f.b.Block(), f.b.Block(), f.b.Block()
		f.b.Mov(i, ir.I(-1))
		f.b.Mov(best, ir.I(-1))
		f.b.Mov(bestCount, ir.I(0))
		f.b.Jump(scan)
		f.to(scan)
		f.b.Op(ir.OpAdd, i, ir.R(i), ir.I(1))
		f.b.Branch(f.b.Bin(ir.OpLe, ir.R(i), ir.I(last)), look, done)
		f.to(look)
		read(c, i)
		f.b.Jump(some)
		f.to(some) // behind the one before?
		f.b.Branch(f.b.Bin(behind, ir.R(c), ir.R(count)), fits, equal)
		f.to(equal)
		same := f.b.Bin(ir.OpEq, ir.R(c), ir.R(count))
		later := f.b.Bin(ir.OpGt, ir.R(i), ir.R(n))
		f.b.Branch(f.b.Bin(ir.OpAnd, same, later), fits, scan)
		f.to(fits) // and better than what was found so far?
		none := f.b.Bin(ir.OpLt, ir.R(best), ir.I(0))
		f.b.Branch(f.b.Bin(ir.OpOr, none, f.b.Bin(better, ir.R(c), ir.R(bestCount))), take, scan)
		f.to(take)
		f.b.Mov(best, ir.R(i))
		f.b.Mov(bestCount, ir.R(c))
		f.b.Jump(scan)
		f.to(done)
		f.b.Branch(f.b.Bin(ir.OpLt, ir.R(best), ir.I(0)), out, any)
		f.to(any)
		f.b.Mov(n, ir.R(best))
		f.b.Mov(count, ir.R(bestCount))
		f.b.Jump(found)
	}
}
