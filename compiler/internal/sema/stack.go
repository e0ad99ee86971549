package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// ordered refuses an order of stacks, which have none.
func (x *infer) ordered(e *ast.Binary) {
	if t := x.in.Types[e.X]; t == types.Stack && e.Op != "==" && e.Op != "!=" {
		x.errorf(diag.TypeMismatch, e.Range(), "type mismatch: stacks have no order").
			Hintf("stacks are equal or not: ==, !=")
	}
}

// sorted refuses to go through g in an order of stacks.
func (x *infer) sorted(st *ast.Foreach, g *elab.Global) {
	t := g.Type
	switch {
	case st.Sort == 0 || st.SortAgg != "":
		return
	case st.SortKey != ast.SortByValue:
		t = g.Keys[st.SortKey]
	}
	if t == types.Real {
		x.errorf(diag.TypeMismatch, st.Array.Span, "type mismatch: foreach does not sort by floats, which %s has",
			g.Decl.Name.Name).Hintf("keep trunc(x * 1000) beside it, and sort by that")
	}
	if t == types.Stack {
		x.errorf(diag.TypeMismatch, st.Array.Span, "type mismatch: stacks of %s have no order", g.Decl.Name.Name).
			Hintf("the loop can be sorted by another key, or by numbers that are the values")
	}
}
