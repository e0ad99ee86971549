package lower

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
	"math"
)

// lvalue is what can be assigned to, with the keys of an element computed once.
type lvalue struct {
	local ir.Reg // NoReg if it is a global
	glob  int
	keys  []ir.Val
	typ   types.Type
	cap   int
	// target is set for variables of the traced program.
	target *written
}

// lvalue translates the left side of an assignment. rest are expressions evaluated before
// the value is stored. ok is false for what sema has refused.
func (f writing) lvalue(x ast.Expr, rest ...ast.Expr) (lv lvalue, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Name:
		if l := f.in.Locs[x]; l != nil {
			r, ok := f.locals[l]
			if !ok {
				return lv, false
			}
			return lvalue{local: r, glob: -1, typ: l.Type, cap: f.b.F.Regs[r].Cap}, true
		}
		g, ok := f.globs[f.in.Globs[x]]
		if !ok {
			return lv, false
		}
		gl := f.out.Globals[g]
		return lvalue{local: ir.NoReg, glob: g, typ: gl.Type, cap: gl.Cap}, true
	case *ast.Index:
		g, ok := f.globs[f.in.Globs[x.Array]]
		if !ok {
			return lv, false
		}
		gl := f.out.Globals[g]
		var keys []ir.Val
		for i, k := range x.Keys {
			keys = append(keys, f.keep(f.expr(k), append(append([]ast.Expr(nil), x.Keys[i+1:]...), rest...)...))
		}
		return lvalue{local: ir.NoReg, glob: g, keys: keys, typ: gl.Type, cap: gl.Cap}, true
	case *ast.Target, *ast.AtOp:
		return f.written(x, rest...)
	}
	return lv, false
}

// load gives the value of lv.
func (f writing) load(lv lvalue) ir.Val {
	if lv.target != nil {
		return f.readTarget(lv.target)
	}
	if lv.local != ir.NoReg {
		return ir.R(lv.local)
	}
	r := f.b.Reg("", lv.typ, lv.cap)
	if lv.keys == nil {
		f.b.OnGlobal(ir.OpGGet, lv.glob, r)
	} else {
		f.b.OnGlobal(ir.OpMGet, lv.glob, r, lv.keys...)
	}
	return ir.R(r)
}

func (f writing) put(lv lvalue, v ir.Val) {
	switch {
	case lv.target != nil:
		f.writeTarget(lv.target, v)
	case lv.local != ir.NoReg:
		f.b.Mov(lv.local, v)
	case lv.keys == nil:
		f.b.OnGlobal(ir.OpGSet, lv.glob, ir.NoReg, v)
	default:
		f.b.OnGlobal(ir.OpMSet, lv.glob, ir.NoReg, append(append([]ir.Val(nil), lv.keys...), v)...)
	}
}

// increase adds n to lv, in one operation where that is atomic. want says which value is
// asked for: 0 none, 1 the one before, 2 the one after.
func (f writing) increase(lv lvalue, n ir.Val, want int) ir.Val {
	if lv.target != nil {
		old := f.readTarget(lv.target)
		v := f.b.Bin(ir.OpAdd, old, n)
		f.writeTarget(lv.target, v)
		if want == 2 {
			return f.stored(lv.target, v)
		}
		return old
	}
	if lv.local != ir.NoReg {
		var old ir.Val
		if want == 1 {
			r := f.b.Long("")
			f.b.Mov(r, ir.R(lv.local))
			old = ir.R(r)
		}
		f.b.Op(ir.OpAdd, lv.local, ir.R(lv.local), n)
		if want == 2 {
			return ir.R(lv.local)
		}
		return old
	}
	dst := ir.NoReg
	if want != 0 {
		dst = f.b.Long("")
	}
	if lv.keys == nil {
		f.b.OnGlobal(ir.OpGAdd, lv.glob, dst, n)
	} else {
		f.b.OnGlobal(ir.OpMAdd, lv.glob, dst, append(append([]ir.Val(nil), lv.keys...), n)...)
	}
	switch want {
	case 1:
		return ir.R(dst)
	case 2:
		return f.b.Bin(ir.OpAdd, ir.R(dst), n)
	}
	return ir.Val{}
}

// step translates ++ and --. pre says that the operator stands before its operand.
func (f writing) step(x ast.Expr, op string, pre, value bool) ir.Val {
	lv, ok := f.lvalue(x)
	if !ok {
		return ir.I(0)
	}
	n := ir.I(1)
	if op == "--" {
		n = ir.I(-1)
	}
	f.at(x.Range())
	switch {
	case !value:
		return f.increase(lv, n, 0)
	case pre:
		return f.increase(lv, n, 2)
	}
	return f.increase(lv, n, 1)
}

// reply sets what the reader of a procfs file gets, or adds to it.
func (f writing) reply(e *ast.Assign) ir.Val {
	v := f.expr(e.Y)
	f.at(e.X.Range())
	in := f.b.Make(ir.OpReply, ir.NoReg, v)
	if e.Op == ".=" {
		in.N = 1
	}
	f.b.Emit(in)
	return v
}

// added is the value that e, "s <<< x", adds.
func (f writing) added(e *ast.Assign) ir.Val {
	op, scale := sema.ScaledBy(e)
	if op == nil {
		return f.expr(e.Y)
	}
	x := f.expr(op.Args[0])
	f.at(e.Y.Range())
	return f.soft("round", f.floats("*", x, ir.I(int64(math.Float64bits(float64(scale))))))
}

// assign translates an assignment of any kind and gives the value assigned if it is wanted.
func (f writing) assign(e *ast.Assign, value bool) ir.Val {
	if t := f.in.Targets[ast.Unparen(e.X)]; t != nil && t.Procfs {
		return f.reply(e)
	}
	lv, ok := f.lvalue(e.X, e.Y)
	if !ok {
		return ir.I(0)
	}
	if e.Op == "<<<" && lv.target != nil {
		f.ds.Errorf(diag.Semantic, diag.NotAggregate, e.X.Range(),
			"<<< adds to an aggregate, which variables of the traced program are not")
		return ir.I(0)
	}
	if e.Op == "<<<" {
		v := f.added(e)
		f.at(e.X.Range())
		f.b.OnGlobal(ir.OpSAdd, lv.glob, ir.NoReg, append(append([]ir.Val(nil), lv.keys...), v)...)
		return v
	}
	want := 0
	if value {
		want = 2
	}
	var v ir.Val
	float := f.in.Floats[e.X]
	switch op := e.Op; {
	case op == "=":
		v = f.expr(e.Y)
	case op == "+=" && !float:
		n := f.expr(e.Y)
		f.at(e.X.Range())
		return f.increase(lv, n, want)
	case op == "-=" && !float:
		n := f.expr(e.Y)
		f.at(e.X.Range())
		if n.Kind == ir.ValInt {
			return f.increase(lv, ir.I(-n.Int), want)
		}
		return f.increase(lv, f.b.Un(ir.OpNeg, n), want)
	default:
		old := f.keep(f.load(lv), e.Y)
		y := f.expr(e.Y)
		f.b.Pos = f.opPos(&ast.Binary{Place: e.Place, Op: e.Op, X: e.X, Y: e.Y})
		switch {
		case float:
			v = f.floats(e.Op[:len(e.Op)-1], old, y)
		case e.Op == ".=":
			v = f.cat(old, y)
		default:
			v = f.arith(e.Op[:len(e.Op)-1], old, y)
		}
	}
	f.at(e.X.Range())
	f.put(lv, v)
	if lv.target != nil {
		if value {
			return f.stored(lv.target, v)
		}
		return ir.Val{}
	}
	if lv.local != ir.NoReg {
		return ir.R(lv.local)
	}
	return v
}
