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
	typ, body := f.function(o.Pos())
	if body == nil {
		return r, false
	}
	g := &reaching{File: f, o: o, line: line, defs: map[ast.Node]Given{}}
	param := o.Pos() < body.Pos()
	g.look(body)
	if g.unclear {
		return r, false
	}
	in := state{}
	if param {
		g.defs[typ] = Given{Line: decl, End: decl}
		in[typ] = true
	}
	out := g.block(body.List, in)
	if f.line(body.Rbrace) == line {
		g.note(out)
	}
	if !g.found || g.inside {
		return r, false
	}
	r.Param, r.Selected, r.Part = param, g.selected, g.part
	for _, n := range slices.SortedFunc(maps.Keys(g.defs), func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) }) {
		if g.at[n] {
			r.From = append(r.From, g.defs[n])
		} else {
			r.Others = append(r.Others, g.defs[n])
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

// state is the set of assignments that a variable may have its value from; nil where no way leads to.
type state map[ast.Node]bool

func join(list ...state) (out state) {
	for _, s := range list {
		if s != nil && out == nil {
			out = state{}
		}
		maps.Copy(out, s)
	}
	return out
}

// reaching follows the ways through a function.
type reaching struct {
	*File
	o    *ast.Object
	line int
	defs map[ast.Node]Given

	at       state // in front of line
	found    bool
	inside   bool // line is one of a statement that assigns, or of another function
	unclear  bool
	part     bool
	selected bool

	around []*frame
	label  string // of the next statement
}

// frame is a statement that break, or continue, leads out of.
type frame struct {
	label       string
	loop        bool
	leave, next state
}

// look goes through the function for what makes a variable's value unclear.
func (g *reaching) look(body *ast.BlockStmt) {
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
				if d, ok := g.defines(s); ok {
					d.Looped = looped
					g.defs[s] = d
				}
			}
			return true
		})
	}
	walk(body, false, false)
}

func (g *reaching) is(x ast.Expr) bool {
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

// defines tells whether a statement, without those in it, gives the variable a value.
func (g *reaching) defines(s ast.Stmt) (d Given, ok bool) {
	d = Given{Line: g.File.line(s.Pos()), End: g.File.line(s.End() - 1)}
	names, values := targets(s), []ast.Expr(nil)
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.ASSIGN || s.Tok == token.DEFINE {
			values = s.Rhs
		}
	case *ast.DeclStmt:
		decl, _ := s.Decl.(*ast.GenDecl)
		if decl == nil || decl.Tok != token.VAR {
			return d, false
		}
		for _, spec := range decl.Specs {
			v, _ := spec.(*ast.ValueSpec)
			if v == nil {
				continue
			}
			for i, n := range v.Names {
				if n.Obj == g.o {
					d.give(v.Values, i, len(v.Names))
					return d, true
				}
			}
		}
		return d, false
	}
	for i, l := range names {
		if l != nil && g.is(paren(l)) {
			d.give(values, i, len(names))
			ok = true
		}
	}
	return d, ok
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

// note adds a state that the variable may be in when the line begins.
func (g *reaching) note(s state) {
	if s != nil {
		g.at, g.found = join(g.at, s), true
	}
}

// here notes the state in front of n, if that has the line.
func (g *reaching) here(n ast.Node, s state) {
	if n == nil || s == nil || g.File.line(n.Pos()) > g.line || g.File.line(n.End()-1) < g.line {
		return
	}
	g.note(s)
	ast.Inspect(n, func(x ast.Node) bool {
		if l, ok := x.(*ast.FuncLit); ok && g.File.line(l.Pos()) != g.File.line(l.End()-1) {
			g.inside = g.inside || g.File.line(l.Pos()) < g.line && g.line <= g.File.line(l.End()-1)
		}
		return true
	})
	if st, ok := n.(ast.Stmt); ok && g.File.line(n.Pos()) < g.line {
		if _, ok := g.defines(st); ok {
			g.inside = true
		}
	}
}

func (g *reaching) block(list []ast.Stmt, s state) state {
	for _, st := range list {
		s = g.stmt(st, s)
	}
	return s
}

// simple is a statement without others in it.
func (g *reaching) simple(st ast.Stmt, s state) state {
	if st == nil {
		return s
	}
	g.here(st, s)
	if _, ok := g.defs[st]; ok && s != nil {
		return state{st: true}
	}
	return s
}

// enter begins a statement that break leads out of.
func (g *reaching) enter(loop bool) *frame {
	fr := &frame{label: g.label, loop: loop}
	g.label, g.around = "", append(g.around, fr)
	return fr
}

func (g *reaching) leave() { g.around = g.around[:len(g.around)-1] }

// stmt gives the state behind a statement.
func (g *reaching) stmt(st ast.Stmt, s state) state {
	switch st := st.(type) {
	case *ast.LabeledStmt:
		g.label = st.Label.Name
		return g.stmt(st.Stmt, s)
	case *ast.ForStmt:
		return g.loop(st, g.simple(st.Init, s))
	case *ast.RangeStmt:
		return g.ranged(st, s)
	case *ast.SwitchStmt:
		fr := g.enter(false)
		s = g.simple(st.Init, s)
		g.here(st.Tag, s)
		return g.clauses(fr, st.Body, s)
	case *ast.TypeSwitchStmt:
		fr := g.enter(false)
		s = g.simple(st.Init, s)
		return g.clauses(fr, st.Body, g.simple(st.Assign, s))
	case *ast.SelectStmt:
		return g.clauses(g.enter(false), st.Body, s)
	}
	g.label = ""
	switch st := st.(type) {
	case *ast.BlockStmt:
		return g.block(st.List, s)
	case *ast.IfStmt:
		s = g.simple(st.Init, s)
		g.here(st.Cond, s)
		then := g.block(st.Body.List, s)
		if st.Else == nil {
			return join(then, s)
		}
		return join(then, g.stmt(st.Else, s))
	case *ast.ReturnStmt:
		g.here(st, s)
		return nil
	case *ast.BranchStmt:
		g.here(st, s)
		return g.branch(st, s)
	}
	return g.simple(st, s)
}

// branch is break or continue; fallthrough is seen to by clauses.
func (g *reaching) branch(st *ast.BranchStmt, s state) state {
	if st.Tok == token.FALLTHROUGH {
		return s
	}
	for _, fr := range slices.Backward(g.around) {
		if st.Label != nil && fr.label != st.Label.Name || st.Tok == token.CONTINUE && !fr.loop {
			continue
		}
		if st.Tok == token.BREAK {
			fr.leave = join(fr.leave, s)
		} else {
			fr.next = join(fr.next, s)
		}
		return nil
	}
	g.inside = true // where it leads to is not known
	return nil
}

func (g *reaching) loop(st *ast.ForStmt, head state) state {
	fr := g.enter(true)
	defer g.leave()
	for {
		if st.Cond != nil {
			g.here(st.Cond, head)
		}
		out := g.block(st.Body.List, head)
		next := join(head, g.simple(st.Post, join(out, fr.next)))
		if len(next) == len(head) && (next == nil) == (head == nil) {
			break
		}
		head = next
	}
	if st.Cond == nil {
		return fr.leave
	}
	return join(head, fr.leave)
}

func (g *reaching) ranged(st *ast.RangeStmt, head state) state {
	fr := g.enter(true)
	defer g.leave()
	for {
		g.here(st.X, head)
		in := head
		if _, ok := g.defs[st]; ok && head != nil {
			in = state{st: true}
		}
		out := g.block(st.Body.List, in)
		next := join(head, out, fr.next)
		if len(next) == len(head) && (next == nil) == (head == nil) {
			return join(head, fr.leave)
		}
		head = next
	}
}

// clauses are those of a switch or a select.
func (g *reaching) clauses(fr *frame, body *ast.BlockStmt, s state) state {
	defer g.leave()
	var out, carried state
	always := false
	for _, c := range body.List {
		in, list := s, []ast.Stmt(nil)
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, x := range c.List {
				g.here(x, s)
			}
			list, always = c.Body, always || c.List == nil
		case *ast.CommClause:
			in, list, always = g.simple(c.Comm, s), c.Body, true
		}
		end := g.block(list, join(in, carried))
		carried = nil
		if n := len(list); n > 0 {
			if b, ok := list[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
				carried, end = end, nil
			}
		}
		out = join(out, end)
	}
	if !always {
		out = join(out, s)
	}
	return join(out, fr.leave)
}
