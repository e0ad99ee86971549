package sema

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// maxBuckets bounds a linear histogram; each bucket is a counter per element and CPU.
const maxBuckets = 1 << 14

// aggregate types the operand of <<< and of statistics operators, and gives its
// variable; nil after an error.
func (x *infer) aggregate(e ast.Expr, op string, slice bool) *elab.Global {
	switch e := ast.Unparen(e).(type) {
	case *ast.Name:
		if l := x.in.Locs[e]; l != nil {
			d := x.errorf(diag.NotAggregate, e.Span, "%s needs an aggregate, and %s is a local variable", op, e.Name)
			d.Hintf("aggregates are globals: global %s", e.Name)
			x.poison(slot{l, -1})
			return nil
		}
		g := x.in.Globs[e]
		if g == nil || !x.arity(g, 0, e.Span) || x.unify(slot{g, -1}, types.Stats, e.Span) == bad {
			return nil
		}
		x.in.Types[e] = types.Stats
		return g
	case *ast.Index:
		if !slice {
			for _, k := range e.Keys {
				if k == nil {
					x.errorf(diag.StarUse, e.Span, "* stands for many elements of %s, but <<< adds to one",
						e.Array.Name)
					return nil
				}
			}
		}
		g := x.in.Globs[e.Array]
		if x.element(e, types.Stats, true) == bad || g == nil {
			return nil
		}
		x.in.Types[e] = types.Stats
		return g
	default:
		if op == "<<<" {
			x.expr(e, types.Unknown)
		}
	}
	return nil
}

// statOp types @count and the like.
func (x *infer) statOp(e *ast.AtOp, want types.Type) types.Type {
	if isHist(e.Name) {
		x.hist(e)
		return bad // a histogram is no value, Bind has said so
	}
	if len(e.Args) == 0 {
		return bad
	}
	g := x.aggregate(e.Args[0], e.Name, true)
	if len(e.Args) > 1 {
		x.expr(e.Args[1], types.Long)
		shift, ok := number(e.Args[1])
		if !ok || shift < 0 || shift > 62 {
			x.errorf(diag.HistogramParameters, e.Args[1].Range(),
				"the bit shift of @variance must be a number from 0 to 62")
		}
	}
	if g != nil && e.Name == "@variance" {
		g.Stat.Variance = true
	}
	if x.isFloat(e) {
		return x.expect(e, types.Real, want)
	}
	return x.expect(e, types.Long, want)
}

// hist types a histogram operator and notes that its aggregate must keep it.
func (x *infer) hist(e *ast.AtOp) {
	if least, most, _ := arity(e.Name); len(e.Args) < least || len(e.Args) > most {
		x.errorf(diag.ArgumentCount, e.Span, "%s takes %s, not %d", e.Name, count(least, "argument"), len(e.Args))
		return
	}
	scale := int64(0)
	if g, ok := x.slotOf(e.Args[0]).of.(*elab.Global); ok {
		scale = g.Scale
	}
	h, ok := Histogram(e, scale)
	if e.Name == "@hist_linear" {
		var bad []string
		for _, a := range e.Args[1:] {
			x.in.Types[a] = types.Long
		}
		switch {
		case !ok:
			bad = append(bad, "its bounds and width must be numbers")
			if scale > 1 {
				bad[0] = fmt.Sprintf("its bounds and width must be multiples of 1/%d", scale)
			}
		case h.Low >= h.High:
			bad = append(bad, "the upper bound must be above the lower one")
		}
		if ok && h.Width < 1 {
			bad = append(bad, "the width must be at least 1")
		}
		// Unsigned, since the bounds can be further apart than a long holds.
		if len(bad) == 0 && uint64(h.High-h.Low)/uint64(h.Width) > maxBuckets {
			bad = append(bad, "it has too many buckets")
		}
		if len(bad) > 0 {
			x.errorf(diag.HistogramParameters, e.Span, "@hist_linear: %s", strings.Join(bad, ", ")).
				Hintf("@hist_linear(s, low, high, width)")
			x.aggregate(e.Args[0], e.Name, true)
			return
		}
	}
	g := x.aggregate(e.Args[0], e.Name, true)
	if g == nil {
		return
	}
	if len(g.Stat.Hists) == 0 {
		g.Stat.Hists = append(g.Stat.Hists, h)
		x.origin[slot{g, histOf}] = e.Span
		return
	}
	if g.Stat.Hists[0] != h {
		d := x.errorf(diag.HistogramParameters, e.Span, "%s has a histogram of another kind already", g.Decl.Name.Name)
		d.Note(x.origin[slot{g, histOf}], "it is asked for here")
		d.Hintf("an aggregate keeps one histogram: add the numbers to a second aggregate too")
	}
}

// Histogram gives the parameters of @hist_log(s) or @hist_linear(s, low, high, width), s having a scale (see Global);
// ok is false when those are no numbers.
func Histogram(e *ast.AtOp, scale int64) (h ir.Hist, ok bool) {
	h.Scale = scale
	if e.Name != "@hist_linear" {
		return h, true
	}
	if len(e.Args) != 4 {
		return h, false
	}
	h.Linear = true
	for i, p := range []*int64{&h.Low, &h.High, &h.Width} {
		if *p, ok = scaledNumber(e.Args[i+1], scale); !ok {
			return ir.Hist{}, false
		}
	}
	return h, true
}

// number gives the value of a literal with an optional sign.
func number(e ast.Expr) (int64, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Literal:
		return e.Num, !e.IsString && !e.IsFloat
	case *ast.Unary:
		v, ok := number(e.X)
		switch e.Op {
		case "-":
			return -v, ok
		case "+":
			return v, ok
		}
	}
	return 0, false
}
