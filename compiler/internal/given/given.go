// Package given finds out what type a local variable has that is only ever given values of one type: "f = $file" makes
// f->f_flags a member of what $file points to.
//
// In: the blocks that share the variables, and what an expression of the traced program resolves to. Out: for a name,
// one of those that it is given, all of which have the same type; nil where something else is given to it, too.
package given

import (
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// Names are the variables of a handler or a function.
type Names struct {
	// global says that a name is that of a global variable, which other handlers give values.
	global func(name string) bool
	blocks []*ast.Block

	given map[string][]ast.Expr
	other map[string]bool // something gives them values that have no type
	asked map[string]bool // whose type is being found
	found map[string]*elab.Target
}

// Of collects what the blocks give to variables. Parameters, and variables that are global in one of the blocks, are
// given values elsewhere.
func Of(blocks []*ast.Block, params []*ast.Param, global func(name string, in *ast.Block) bool) *Names {
	n := &Names{blocks: blocks, other: map[string]bool{}, asked: map[string]bool{}, found: map[string]*elab.Target{}}
	n.global = func(name string) bool {
		return global == nil || slices.ContainsFunc(blocks, func(b *ast.Block) bool { return global(name, b) })
	}
	for _, p := range params {
		n.other[p.Name.Name] = true
	}
	return n
}

// collect goes through the blocks when the first variable is asked for.
func (n *Names) collect() {
	n.given = map[string][]ast.Expr{}
	for _, b := range n.blocks {
		ast.Inspect(b, func(x ast.Node) bool {
			if a, ok := x.(*ast.Assign); ok && a.Op == "=" {
				if v, ok := ast.Unparen(a.X).(*ast.Name); ok {
					n.given[v.Name] = append(n.given[v.Name], ast.Unparen(a.Y))
					return true
				}
			}
			ast.Assigned(x, func(v ast.Node) {
				switch v := v.(type) {
				case *ast.Name:
					n.other[v.Name] = true
				case *ast.Ident:
					n.other[v.Name] = true
				}
			})
			return true
		})
	}
}

// Find gives what a variable stands for: an expression of the traced program that is a pointer, nil if it is not known
// to be one. resolve says what such an expression is.
func (n *Names) Find(name string, resolve func(ast.Expr) *elab.Target) *elab.Target {
	if n.given == nil {
		n.collect()
	}
	if t, ok := n.found[name]; ok || n.other[name] || n.asked[name] || n.global(name) {
		return t
	}
	n.asked[name] = true
	defer delete(n.asked, name)
	// "p = $list" says what p is, "p = p->next" then has to say the same.
	var later []ast.Expr
	for _, e := range n.given[name] {
		t := n.Expr(e, resolve)
		switch first := n.found[name]; {
		case t == nil && !isZero(e):
			later = append(later, e)
		case t != nil && first == nil:
			n.found[name] = t
		case t != nil && !same(t, first):
			n.found[name] = nil
			return nil
		}
	}
	for _, e := range later {
		if t := n.Expr(e, resolve); t == nil || !same(t, n.found[name]) {
			n.found[name] = nil
			break
		}
	}
	return n.found[name]
}

// Expr is Find for a variable, what the program has, or a choice of both.
func (n *Names) Expr(e ast.Expr, resolve func(ast.Expr) *elab.Target) *elab.Target {
	switch e := ast.Unparen(e).(type) {
	case *ast.Name:
		return n.Find(e.Name, resolve)
	case *ast.Ternary:
		// Of what @choose_defined chooses from, one may be something that is not there.
		a, b := n.Expr(e.Then, resolve), n.Expr(e.Else, resolve)
		switch {
		case a != nil && (b != nil && same(a, b) || b == nil && missing(e.Else, resolve)):
			return a
		case a == nil && missing(e.Then, resolve):
			return b
		}
	case *ast.Target, *ast.AtOp, *ast.Unary:
		t := resolve(e)
		if t != nil && t.Err == nil && t.Type == types.Long && t.Ctype != nil && t.Ctype.Kind == types.Pointer {
			return t
		}
	}
	return nil
}

// missing reports whether e is something of the program that it does not have.
func missing(e ast.Expr, resolve func(ast.Expr) *elab.Target) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Target, *ast.AtOp:
		t := resolve(e)
		return t == nil || t.Err != nil
	}
	return false
}

// isZero reports whether e is 0, a pointer of each type.
func isZero(e ast.Expr) bool {
	l, ok := e.(*ast.Literal)
	return ok && ast.LiteralText(l) == "0"
}

// same reports whether two pointers lead to the same type in the same memory.
func same(a, b *elab.Target) bool {
	return b != nil && a.Place.Kernel == b.Place.Kernel && a.Ctype.Name == b.Ctype.Name && a.Ctype.Pkg == b.Ctype.Pkg &&
		a.Ctype.User == b.Ctype.User && a.Ctype.Size == b.Ctype.Size
}
