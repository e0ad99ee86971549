package gosource

//lint:file-ignore SA1019 see gosource.go

import (
	"go/ast"
	"go/token"
)

// Visible gives the line that declares the variable that a name stands for where the first statement of a line begins.
// ok is false where the name is none of a variable there that a function declares, or where the line has no statement.
func (f *File) Visible(name string, line int) (decl int, ok bool) {
	at := f.first(line)
	if at == token.NoPos {
		return 0, false
	}
	var best *ast.Object
	for d, objects := range f.vars {
		if d.name != name || d.line > line {
			continue
		}
		for _, o := range objects {
			if lo, hi := f.scope(o); lo <= at && at < hi && (best == nil || best.Pos() < o.Pos()) {
				best = o
			}
		}
	}
	if best == nil {
		return 0, false
	}
	return f.line(best.Pos()), true
}

// first is where the first statement or expression of a line begins.
func (f *File) first(line int) (at token.Pos) {
	for _, d := range f.tree.Decls {
		if f.line(d.Pos()) > line || f.line(d.End()) < line {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n.(type) {
			case nil:
				return false
			case *ast.BlockStmt:
			case ast.Stmt, ast.Expr:
				if f.line(n.Pos()) == line && (at == token.NoPos || n.Pos() < at) {
					at = n.Pos()
				}
			}
			return f.line(n.Pos()) <= line && line <= f.line(n.End())
		})
	}
	return at
}

// scope is where a variable can be named: from behind the statement that declares it to the end of the innermost block.
func (f *File) scope(o *ast.Object) (lo, hi token.Pos) {
	pos := o.Pos()
	for _, d := range f.tree.Decls {
		if pos < d.Pos() || d.End() <= pos {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if n == nil || pos < n.Pos() || n.End() <= pos {
				return false
			}
			switch n := n.(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt,
				*ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.FuncLit, *ast.FuncDecl:
				lo, hi = pos, n.End()
				if r, ok := n.(*ast.RangeStmt); ok {
					lo = r.Body.Pos()
				}
			case *ast.AssignStmt, *ast.ValueSpec:
				lo = n.End()
			}
			return true
		})
	}
	return lo, hi
}

// Declares reports whether a line declares a variable with a name.
func (f *File) Declares(name string, line int) bool { return len(f.vars[declared{name, line}]) > 0 }
