package sema

import (
	"math/big"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// Statistics of floats. "s <<< @scaled(x, 1000)" adds the whole number nearest to x * 1000; what is asked of s is
// divided by 1000 then, and a float.

const scaled = "@scaled"

// scaling types what has to do with them.
type scaling struct{ *infer }

// maxScale bounds scales: a float has 53 bits.
const maxScale = 1 << 53

// ScaledBy gives the @scaled and the scale of what e adds, nil if it is none.
func ScaledBy(e *ast.Assign) (*ast.AtOp, int64) {
	op, ok := ast.Unparen(e.Y).(*ast.AtOp)
	if !ok || op.Name != scaled || len(op.Args) != 2 {
		return nil, 0
	}
	n, _ := number(op.Args[1])
	return op, n
}

// nowScaled notes the scale of the aggregate that e adds to; true if that is new.
func (x spreading) nowScaled(e *ast.Assign) bool {
	_, n := ScaledBy(e)
	g, ok := x.slotOf(e.X).of.(*elab.Global)
	if n <= 0 || !ok || g.Scale != 0 {
		return false
	}
	g.Scale, g.Stat.Scale = n, n
	x.origin[slot{g, scaleOf}] = e.Y.Range()
	return true
}

// float reports whether e asks for a statistic that is a float.
func (x scaling) float(e *ast.AtOp) bool {
	if e.Name == "@count" || isHist(e.Name) || len(e.Args) == 0 {
		return false
	}
	g, ok := x.slotOf(e.Args[0]).of.(*elab.Global)
	return ok && g.Scale != 0
}

// add types "s <<< x".
func (x scaling) add(e *ast.Assign) {
	g := x.aggregate(e.X, "<<<", false)
	op, n := ScaledBy(e)
	switch {
	case op == nil && g != nil && g.Scale != 0:
		x.errorf(diag.TypeMismatch, e.Y.Range(), "type mismatch: %s has the scale %d, and this has none",
			g.Decl.Name.Name, g.Scale).Note(x.origin[slot{g, scaleOf}], "it has it from here").
			Hintf("add @scaled(x, %d) here as well", g.Scale)
		x.expr(e.Y, types.Unknown)
	case op == nil && x.isFloat(e.Y):
		x.errorf(diag.TypeMismatch, e.Y.Range(), "type mismatch: statistics are of whole numbers").
			Hintf("s <<< @scaled(x, 1000) keeps three digits behind the point, and @avg(s) is a float then")
		x.in.Types[e.Y] = types.Long
	case op == nil:
		x.expr(e.Y, types.Long)
	default:
		if n < 1 || n > maxScale {
			x.errorf(diag.TypeMismatch, op.Args[1].Range(), "a scale is a number from 1 to %d", int64(maxScale))
		} else if g != nil && g.Scale != n {
			x.errorf(diag.TypeMismatch, op.Args[1].Range(), "type mismatch: %s has the scale %d", g.Decl.Name.Name,
				g.Scale).Note(x.origin[slot{g, scaleOf}], "it has it from here").Hintf("an aggregate has one scale")
		}
		x.expr(op.Args[0], types.Real)
		x.in.Types[op] = types.Long
		x.in.Types[e.Y] = types.Long
	}
}

// scaledNumber is the literal e in parts of 1/scale; false where it is none or is between two.
func scaledNumber(e ast.Expr, scale int64) (int64, bool) {
	l, ok := ast.Unparen(e).(*ast.Literal)
	if scale == 0 || !ok || !l.IsFloat {
		n, ok := number(e)
		if scale == 0 || !ok {
			return n, ok
		}
		v := new(big.Int).Mul(big.NewInt(n), big.NewInt(scale))
		return v.Int64(), v.IsInt64()
	}
	r, ok := new(big.Rat).SetString(l.Text)
	if !ok {
		return 0, false
	}
	r.Mul(r, new(big.Rat).SetInt64(scale))
	return r.Num().Int64(), r.IsInt() && r.Num().IsInt64()
}
