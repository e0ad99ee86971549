package lower

import (
	"math"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/softfloat"
)

// become makes of v, the value of e, what it stands for.
func (f *fn) become(e ast.Expr, v ir.Val) ir.Val {
	switch f.in.Becomes[e] {
	case elab.BecomesFloat:
		return f.toFloat(v)
	case elab.BecomesTruth:
		if v.Kind == ir.ValInt {
			return known(v.Int<<1 != 0)
		}
		return f.b.Bin(ir.OpNe, f.b.Bin(ir.OpShl, v, ir.I(1)), ir.I(0)) // -0 is 0 too
	case elab.BecomesText:
		return f.printing().stackText(v)
	}
	return v
}

// toFloat makes a float of a whole number.
func (f *fn) toFloat(v ir.Val) ir.Val {
	if v.Kind == ir.ValInt {
		return ir.I(int64(math.Float64bits(float64(v.Int))))
	}
	all := f.b.Bin(ir.OpSar, v, ir.I(63))
	abs := f.b.Bin(ir.OpSub, f.b.Bin(ir.OpXor, v, all), all)
	return f.soft("norm", f.b.Bin(ir.OpShr, v, ir.I(63)), ir.I(softfloat.Whole), abs)
}

// soft calls a function of package softfloat.
func (f *fn) soft(what string, args ...ir.Val) ir.Val {
	r := f.b.Long("")
	f.b.Call(softfloat.Add(f.out, what), r, args...)
	return ir.R(r)
}

const signBit = math.MinInt64

// negative is -v of a float.
func (f *fn) negative(v ir.Val) ir.Val {
	if v.Kind == ir.ValInt {
		return ir.I(v.Int ^ signBit)
	}
	return f.b.Bin(ir.OpXor, v, ir.I(signBit))
}

// floats computes with two floats.
func (f *fn) floats(op string, x, y ir.Val) ir.Val {
	if x.Kind == ir.ValInt && y.Kind == ir.ValInt {
		if v, ok := constant(op, math.Float64frombits(uint64(x.Int)), math.Float64frombits(uint64(y.Int))); ok {
			return v
		}
	}
	switch op {
	case "+":
		return f.soft("add", x, y)
	case "-":
		return f.soft("add", x, f.negative(y))
	case "*":
		return f.soft("mul", x, y)
	case "/":
		return f.soft("div", x, y)
	}
	// By bits of the result, -1, 0, 1 or 2, without a branch (see float.stp).
	c := f.soft("cmp", x, y)
	less := f.b.Bin(ir.OpShr, c, ir.I(63))
	other := f.b.Bin(ir.OpShr, f.b.Bin(ir.OpOr, c, f.b.Un(ir.OpNeg, c)), ir.I(63))
	switch op {
	case "<":
		return less
	case "!=":
		return other
	}
	equal := f.b.Bin(ir.OpXor, other, ir.I(1))
	switch op {
	case "==":
		return equal
	case "<=":
		return f.b.Bin(ir.OpOr, less, equal)
	}
	greater := f.b.Bin(ir.OpAnd, f.b.Bin(ir.OpXor, less, ir.I(1)), c) // the 2 keeps its bit
	greater = f.b.Bin(ir.OpAnd, greater, ir.I(1))
	if op == ">=" {
		return f.b.Bin(ir.OpOr, greater, equal)
	}
	return greater
}

// constant computes what is known.
func constant(op string, x, y float64) (ir.Val, bool) {
	var v float64
	switch op {
	case "+":
		v = x + y
	case "-":
		v = x - y
	case "*":
		v = x * y
	case "/":
		v = x / y
	default:
		return ir.Val{}, false
	}
	return ir.I(int64(math.Float64bits(v))), v == v
}
