package gosource

//lint:file-ignore SA1019 see gosource.go

import (
	"go/ast"
	"go/token"
	"slices"
)

// Origin is a variable that another one may have its value from.
type Origin struct {
	Name string
	Line int // that declares it
}

// Handed lists the arguments that the variable declared in a line may be, or be a part of, without anything computed:
// by copies, selections, slices, conversions and calls, which may be inlined, also by way of other variables. outside
// says that it may be a variable of the function around a function literal. ok is false if no variable of that name is
// declared there.
func (f *File) Handed(name string, line int) (from []Origin, outside, ok bool) {
	h := &handed{File: f, seen: map[*ast.Object]bool{}}
	for _, o := range f.vars[declared{name, line}] {
		_, h.body = f.function(o.Pos())
		h.variable(o)
		ok = true
	}
	return h.from, h.outside, ok
}

// handed goes from a variable to what gives it its values.
type handed struct {
	*File
	body    *ast.BlockStmt // of the function that has the variable
	seen    map[*ast.Object]bool
	from    []Origin
	outside bool
}

func (h *handed) variable(o *ast.Object) {
	if o == nil || o.Kind != ast.Var || h.seen[o] || h.inside[o] == nil {
		return
	}
	h.seen[o] = true
	if _, body := h.function(o.Pos()); body != h.body {
		h.outside = true
		return
	}
	switch d := o.Decl.(type) {
	case *ast.Field:
		h.from = append(h.from, Origin{o.Name, h.line(o.Pos())})
	case *ast.AssignStmt:
		i := slices.IndexFunc(d.Lhs, func(x ast.Expr) bool { return x.Pos() == o.Pos() })
		h.values(d.Rhs, i, len(d.Lhs))
	case *ast.ValueSpec:
		i := slices.IndexFunc(d.Names, func(x *ast.Ident) bool { return x.Pos() == o.Pos() })
		h.values(d.Values, i, len(d.Names))
	}
	for _, a := range h.changes[o] {
		for _, v := range a.value {
			h.variable(v)
		}
	}
}

// values goes on with value i of n.
func (h *handed) values(list []ast.Expr, i, n int) {
	if len(list) == n && i >= 0 {
		list = list[i : i+1]
	}
	for _, x := range list {
		h.value(x)
	}
}

func (h *handed) value(x ast.Expr) {
	switch x := x.(type) {
	case *ast.Ident:
		h.variable(x.Obj)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			h.value(x.X)
			h.value(x.Y)
		}
	case *ast.UnaryExpr:
		if x.Op == token.AND || x.Op == token.ADD || x.Op == token.RANGE {
			h.value(x.X)
		}
	case *ast.ParenExpr:
		h.value(x.X)
	default:
		for _, o := range variables([]ast.Expr{x}) {
			h.variable(o)
		}
	}
}
