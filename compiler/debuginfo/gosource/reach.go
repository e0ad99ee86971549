package gosource

//lint:file-ignore SA1019 see gosource.go

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// Given is an assignment that may be the last one that a variable has had in front of a line.
type Given struct {
	// Line and End are the first and the last line of the statement.
	Line, End int
	// Callee is the name behind the last dot of the function that is called, where the statement is
	// "a, b := F(...)", and Result which of its Results the variable gets. "" for any other assignment.
	Callee          string
	Result, Results int
	// Looped: the statement is in a loop.
	Looped bool
}

// Reach is what is known of a variable in a line, when the line begins.
type Reach struct {
	// From are the assignments that it may have its value from, "var x T" and the function's call among them, with no
	// Callee.
	From []Given
	// Others are those that it cannot have its value from there.
	Others []Given
	// Once: the variable gets a value in one place only, in which it is declared, and that is in no loop.
	Once bool
	// Selected: it stands in front of a dot somewhere, which takes the address of a variable that is neither a pointer
	// nor an interface if a method of it wants that.
	Selected bool
	// Part: a part of it is assigned to.
	Part bool
	// Param: it is an argument or a result of the function.
	Param bool
}

// Reaching tells which assignments the variable that is declared in line decl may have its value from when the first
// statement of a line begins. ok is false where that is not known: several variables with that name are declared there,
// its address is taken, a function literal assigns to it, or the line is in another function.
func (f *File) Reaching(name string, decl, line int) (r Reach, ok bool) {
	objects := f.vars[declared{name, decl}]
	if len(objects) != 1 {
		return r, false
	}
	o := objects[0]
	_, body := f.function(o.Pos())
	if body == nil {
		return r, false
	}
	g := &given{File: f, o: o, defs: map[token.Pos]Given{}}
	g.look(body)
	at, ok := f.reaching(o).front(line)
	if !ok || g.unclear || g.inside(line) {
		return r, false
	}
	r.Param, r.Selected, r.Part = o.Pos() < body.Pos(), g.selected, g.part
	if r.Param {
		g.defs[o.Pos()] = Given{Line: decl, End: decl}
	}
	for _, p := range slices.Sorted(maps.Keys(g.defs)) {
		if at&f.reaching(o).bit(p, o) != 0 {
			r.From = append(r.From, g.defs[p])
		} else {
			r.Others = append(r.Others, g.defs[p])
		}
	}
	r.Once = len(g.defs) == 1 && len(r.From) == 1 && !r.From[0].Looped
	return r, true
}

// function finds the innermost function around pos.
func (f *File) function(pos token.Pos) (typ *ast.FuncType, body *ast.BlockStmt) {
	for _, d := range f.tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || pos < fn.Pos() || pos >= fn.End() {
			continue
		}
		typ, body = fn.Type, fn.Body
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok && l.Pos() <= pos && pos < l.End() {
				typ, body = l.Type, l.Body
			}
			return true
		})
	}
	return typ, body
}

// given finds the statements that give a variable its values.
type given struct {
	*File
	o    *ast.Object
	defs map[token.Pos]Given // by where they name it
	long []Given             // those of more than one line

	unclear  bool
	part     bool
	selected bool
}

// inside reports whether a line is one of a statement that assigns, but not its first.
func (g *given) inside(line int) bool {
	return slices.ContainsFunc(g.long, func(d Given) bool { return d.Line < line && line <= d.End })
}

// look goes through the function for what makes a variable's value unclear.
func (g *given) look(body *ast.BlockStmt) {
	var walk func(n ast.Node, lit, looped bool)
	walk = func(n ast.Node, lit, looped bool) {
		ast.Inspect(n, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.FuncLit:
				if x != n {
					walk(x, true, looped)
					return false
				}
			case *ast.ForStmt, *ast.RangeStmt:
				if x != n {
					walk(x, lit, true)
					return false
				}
			case *ast.BranchStmt:
				g.unclear = g.unclear || x.Tok == token.GOTO
			case *ast.UnaryExpr:
				if x.Op == token.AND && g.is(base(x.X)) {
					g.unclear = true
				}
			case *ast.SelectorExpr:
				g.selected = g.selected || g.is(base(x.X))
			case *ast.SliceExpr:
				g.selected = g.selected || g.is(base(x.X)) // an array
			}
			if s, ok := x.(ast.Stmt); ok {
				for _, l := range targets(s) {
					if g.is(base(l)) {
						g.unclear = g.unclear || lit
						g.part = g.part || !g.is(paren(l))
					}
				}
				d, at := g.defines(s)
				d.Looped = looped
				for _, p := range at {
					g.defs[p] = d
				}
				if _, loop := s.(*ast.RangeStmt); !loop && len(at) > 0 {
					g.long = append(g.long, d)
				}
			}
			return true
		})
	}
	walk(body, false, false)
}

func (g *given) is(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Obj == g.o
}

func paren(x ast.Expr) ast.Expr {
	if p, ok := x.(*ast.ParenExpr); ok {
		return paren(p.X)
	}
	return x
}

// base is what a part is one of.
func base(x ast.Expr) ast.Expr {
	switch y := x.(type) {
	case *ast.ParenExpr:
		return base(y.X)
	case *ast.SelectorExpr:
		return base(y.X)
	case *ast.IndexExpr:
		return base(y.X)
	}
	return x
}

// targets lists what a statement assigns to.
func targets(s ast.Stmt) []ast.Expr {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return s.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	case *ast.RangeStmt:
		return []ast.Expr{s.Key, s.Value}
	}
	return nil
}

// defines tells where a statement, without those in it, gives the variable a value.
func (g *given) defines(s ast.Stmt) (d Given, at []token.Pos) {
	d = Given{Line: g.line(s.Pos()), End: g.line(s.End() - 1)}
	names, values := targets(s), []ast.Expr(nil)
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.ASSIGN || s.Tok == token.DEFINE {
			values = s.Rhs
		}
	case *ast.DeclStmt:
		decl, _ := s.Decl.(*ast.GenDecl)
		if decl == nil || decl.Tok != token.VAR {
			return d, nil
		}
		for _, spec := range decl.Specs {
			v, _ := spec.(*ast.ValueSpec)
			if v == nil {
				continue
			}
			for i, n := range v.Names {
				if n.Obj == g.o {
					d.give(v.Values, i, len(v.Names))
					return d, []token.Pos{n.Pos()}
				}
			}
		}
		return d, nil
	}
	for i, l := range names {
		if l != nil && g.is(paren(l)) {
			d.give(values, i, len(names))
			at = append(at, paren(l).Pos())
		}
	}
	return d, at
}

// give notes the call that makes value i of n.
func (d *Given) give(values []ast.Expr, i, n int) {
	if len(values) != 1 {
		return
	}
	c, ok := paren(values[0]).(*ast.CallExpr)
	if !ok {
		return
	}
	switch f := paren(c.Fun).(type) {
	case *ast.Ident:
		d.Callee = f.Name
	case *ast.SelectorExpr:
		d.Callee = f.Sel.Name
	case *ast.IndexExpr: // type arguments
		d.Callee = last(f.X)
	case *ast.IndexListExpr:
		d.Callee = last(f.X)
	}
	d.Result, d.Results = i, n
	same := 0
	ast.Inspect(c, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == d.Callee {
			same++
		}
		return true
	})
	if same != 1 {
		d.Callee = "" // which call is which is not told by the name
	}
}

func last(x ast.Expr) string {
	switch x := paren(x).(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
