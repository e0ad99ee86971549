package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
)

// Known gives the value of a condition that was decided at compile time, with the arm that is never taken left alone.
func Known(in *elab.Info, e ast.Expr) (v int64, ok bool) { return in.Const[e], in.Decided[e] }

// Number gives the value of a condition that is a number, whatever was made of the arms.
func Number(in *elab.Info, e ast.Expr) (v int64, ok bool) {
	if v, ok := in.Const[e]; ok {
		return v, true
	}
	if l, isLit := e.(*ast.Literal); isLit && !l.IsString && !l.IsFloat {
		return l.Num, true
	}
	return 0, false
}

// InspectLive is ast.Inspect without the arms that Info.Decided says are never taken,
// and without what a folded expression was made of.
func InspectLive(in *elab.Info, n ast.Node, f func(ast.Node) bool) {
	if n == nil {
		return
	}
	if e, ok := n.(ast.Expr); ok {
		if _, folded := in.Const[e]; folded {
			f(n)
			return
		}
	}
	if !f(n) {
		return
	}
	switch n := n.(type) {
	case *ast.If:
		if v, ok := Known(in, n.Cond); ok {
			switch {
			case v != 0:
				InspectLive(in, n.Then, f)
			case n.Else != nil:
				InspectLive(in, n.Else, f)
			}
			return
		}
	case *ast.Ternary:
		if v, ok := Known(in, n.Cond); ok {
			if v != 0 {
				InspectLive(in, n.Then, f)
			} else {
				InspectLive(in, n.Else, f)
			}
			return
		}
	}
	if b, ok := n.(*ast.Binary); ok && (b.Op == "&&" || b.Op == "||") {
		// The whole is not known, so a left side that is leaves the right one to decide.
		if _, ok := Known(in, b.X); ok {
			InspectLive(in, b.Y, f)
			return
		}
	}
	for _, c := range ast.Children(n) {
		InspectLive(in, c, f)
	}
}

// bodies lists what runs in a probe or function.
func bodies(list []*ast.Block) []*ast.Block {
	var out []*ast.Block
	for _, b := range list {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// eachBody calls f for every body of p with its side tables.
func eachBody(p *elab.Program, f func(in *elab.Info, body *ast.Block)) {
	for _, pr := range p.Probes {
		for _, b := range bodies(pr.Bodies) {
			f(&pr.Info, b)
		}
	}
	for _, fn := range p.Funcs {
		if fn.Decl.Body != nil {
			f(&fn.Info, fn.Decl.Body)
		}
	}
}
