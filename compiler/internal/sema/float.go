package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// Numbers with a fraction. What is one spreads before all else is typed: from variables of the program and literals
// over arithmetic, assignments, parameters and results. A variable that gets one somewhere is one everywhere; whole
// numbers become one where they meet it.

// spreading finds what is a float before types are inferred.
type spreading struct{ *infer }

// all finds what is a float, and gives variables and functions that are that type.
func (x spreading) all() {
	x.floats = map[exprIn]bool{}
	x.anyFloat = true
	for again := true; again; {
		again = false
		clear(x.floats)
		each := func(root ast.Node) {
			ast.Inspect(root, func(n ast.Node) bool {
				again = x.node(n) || again
				return true
			})
		}
		for _, f := range x.p.Funcs {
			if f.Decl.Body != nil {
				x.in, x.fn = &f.Info, f
				each(f.Decl.Body)
			}
		}
		for _, pr := range x.p.Probes {
			x.in, x.fn = &pr.Info, nil
			for _, b := range pr.Bodies {
				if b != nil {
					each(b)
				}
			}
		}
	}
	x.anyFloat = false
	for _, is := range x.floats {
		x.anyFloat = x.anyFloat || is
	}
}

// exprIn is an expression of a handler or function: several handlers share those of one text.
type exprIn struct {
	in *elab.Info
	e  ast.Expr
}

// node says of what n gives a float to that it is one; true if that is new.
func (x spreading) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Assign:
		switch n.Op {
		case "=", "+=", "-=", "*=", "/=":
			return x.isFloat(n.Y) && x.nowFloat(x.slotOf(n.X), n.Y)
		case "<<<":
			return x.nowScaled(n)
		}
	case *ast.Call:
		changed := false
		for f := x.in.Calls[n]; f != nil; f = f.Next {
			for i, a := range n.Args {
				if f.Intrinsic == nil && i < len(f.Params) && x.isFloat(a) {
					changed = x.nowFloat(slot{f.Params[i], -1}, a) || changed
				}
			}
		}
		return changed
	case *ast.Return:
		return x.fn != nil && x.fn.Intrinsic == nil && n.X != nil && x.isFloat(n.X) && x.nowFloat(slot{x.fn, -1}, n.X)
	case *ast.Foreach:
		if n.Array == nil || n.Value == nil || n.Loop != nil {
			return false
		}
		if g := x.in.Globs[n.Array]; g == nil || g.Type != types.Real {
			return false
		}
		s := slot{x.in.Locs[n.Value], -1}
		if x.in.Locs[n.Value] == nil {
			s = slot{x.in.Globs[n.Value], -1}
			if x.in.Globs[n.Value] == nil {
				return false
			}
		}
		return x.nowFloat(s, &ast.Name{Place: n.Value.Place})
	case ast.Expr:
		x.isFloat(n) // so that it is known whether there is any
	}
	return false
}

// nowFloat makes a float of s, because of e; true if that is new.
func (x spreading) nowFloat(s slot, e ast.Expr) bool {
	if s.of == nil || s.key >= 0 {
		return false
	}
	switch of := s.of.(type) {
	case *elab.Func:
		if of.Decl.Type != ast.NoType {
			return false
		}
	case *elab.Local:
		if of.Typed {
			return false
		}
	}
	t := s.typ()
	if *t != types.Unknown && *t != types.Long {
		return false
	}
	*t = types.Real
	x.origin[s] = e.Range()
	return true
}

// isFloat reports whether e is a number with a fraction.
func (x *infer) isFloat(e ast.Expr) bool {
	if !x.anyFloat || e == nil {
		return false
	}
	key := exprIn{x.in, e}
	is, ok := x.floats[key]
	if !ok {
		is = x.float(e)
		x.floats[key] = is
	}
	return is
}

func (x *infer) float(e ast.Expr) bool {
	if _, ok := x.in.Const[e]; ok {
		return false
	}
	switch e := e.(type) {
	case *ast.Literal:
		return e.IsFloat
	case *ast.Paren:
		return x.isFloat(e.X)
	case *ast.Unary:
		if e.Op == "&" {
			break
		}
		return (e.Op == "-" || e.Op == "+") && x.isFloat(e.X)
	case *ast.Binary:
		switch e.Op {
		case "+", "-", "*", "/":
			return x.isFloat(e.X) || x.isFloat(e.Y)
		}
		return false
	case *ast.Ternary:
		return x.isFloat(e.Then) || x.isFloat(e.Else)
	case *ast.Assign:
		switch e.Op {
		case "=", "+=", "-=", "*=", "/=":
			return x.isFloat(e.X)
		}
		return false
	case *ast.Call:
		f := x.in.Calls[e]
		return f != nil && f.Result == types.Real
	case *ast.Name, *ast.Index:
		s := x.slotOf(e)
		return s.of != nil && *s.typ() == types.Real
	case *ast.AtOp:
		if isStat(e.Name) {
			return scaling{x}.float(e)
		}
	}
	if t := x.in.Targets[e]; t != nil && t.Err == nil {
		if t.Inner != nil {
			return x.isFloat(t.Inner)
		}
		return t.Type == types.Real
	}
	return false
}

// widened types e, of which a float is wanted: a whole number becomes one.
func (x *infer) widened(e ast.Expr) types.Type {
	if x.isFloat(e) {
		return x.plain(e, types.Real)
	}
	return x.becomes(e, types.Long, elab.BecomesFloat, types.Real)
}

// truth types e, which is asked for being 0 or not.
func (x *infer) truth(e ast.Expr) types.Type {
	if !x.isFloat(e) {
		return x.expr(e, types.Long)
	}
	return x.becomes(e, types.Real, elab.BecomesTruth, types.Long)
}

// becomes types e, which is of type from, and notes that its value is made one of type to.
func (x *infer) becomes(e ast.Expr, from types.Type, what elab.Becomes, to types.Type) types.Type {
	if x.plain(e, from) == bad {
		return bad
	}
	for {
		x.in.Types[e] = to
		p, ok := e.(*ast.Paren)
		if !ok {
			break
		}
		e = p.X
	}
	if x.in.Becomes == nil {
		x.in.Becomes = map[ast.Expr]elab.Becomes{}
	}
	x.in.Becomes[e] = what
	return to
}

// noFloat refuses a float where only a whole number has a meaning; true if e is one.
func (x *infer) noFloat(e ast.Expr, format string, args ...any) bool {
	if !x.isFloat(e) {
		return false
	}
	x.errorf(diag.TypeMismatch, e.Range(), "type mismatch: "+format, args...).
		Hintf("trunc(x) is the whole number that a float begins with; trunc(x * 1000) keeps three digits behind the " +
			"point")
	x.in.Types[e] = types.Long
	return true
}
