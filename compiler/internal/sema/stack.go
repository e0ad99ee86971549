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

// ofStacks are the functions of the library that take the addresses of a stack as text. Called with a stack they do
// what print and sprint do.
var ofStacks = map[string]bool{"print_ustack": true, "sprint_ustack": true, "print_usyms": true, "sprint_usyms": true,
	"print_stack": true, "sprint_stack": true, "print_syms": true, "sprint_syms": true}

// argument types an argument of f, of which a type is wanted.
func argument(x *infer, a ast.Expr, f *elab.Func, want types.Type) types.Type {
	if want != types.String || f.User || !ofStacks[f.Decl.Name.Name] {
		return x.expr(a, want)
	}
	inner := ast.Unparen(a)
	switch inner.(type) {
	case *ast.Name, *ast.Index, *ast.Call:
	default:
		return x.expr(a, want)
	}
	switch {
	case x.open: // it is a string only if nothing else says what it is
		x.expr(a, types.Unknown)
		return types.String
	case x.in.Types[a] == types.Stack || x.in.Becomes[inner] == elab.BecomesText:
		return x.becomes(a, types.Stack, elab.BecomesText, types.String)
	}
	return x.expr(a, want)
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
