package gosource

//lint:file-ignore SA1019 as in gosource.go

import (
	"go/ast"
	"go/token"
)

// reach is what a variable may have in the lines of a function: by line, which of its assignments may have been the
// last one, in front of the statements of the line. Bit 0 is the declaration, bit k the assignment k-1.
type reach struct {
	at    map[int]uint64
	in    map[int]bool         // lines of function literals that have the variable from outside; false: first ones
	bits  map[token.Pos]uint64 // of assignments, by where they name the variable
	wild  uint64               // those of function literals around which the variable is: they may be run at any time
	known bool                 // false: there are too many, any may
}

// has reports whether the value in front of a line may be that of assignment k, -1 for the declaration.
func (r *reach) has(line, k int) bool {
	s, ok := r.at[line]
	_, lit := r.in[line]
	return !r.known || !ok || s == 0 || lit || (s|r.wild)>>(k+1)&1 != 0
}

// front is the state in front of a line; ok is false where it is not known: no way leads to the line, or it is one of a
// function literal.
func (r *reach) front(line int) (s uint64, ok bool) {
	s = r.at[line]
	return s, r.known && s != 0 && !r.in[line]
}

// bit is that of the assignment, or the declaration, which names o at p.
func (r *reach) bit(p token.Pos, o *ast.Object) uint64 {
	if b := r.bits[p]; b != 0 || p != o.Pos() {
		return b
	}
	return 1
}

// flow follows a function for one variable. States are sets of assignments; 0 is what no way leads to, or where the
// variable is not yet.
type flow struct {
	*File
	reach
	of    *ast.Object
	part  map[token.Pos]bool
	gotos map[string]uint64
	heads map[ast.Node]uint64 // of loops
	grown bool                // something in gotos or heads is, so that the function is to be followed again
}

// around is a statement that break or continue may leave, nil for none.
type around struct {
	out        *around
	label      string
	loop       bool
	block      bool // left by a label only
	brk, again uint64
}

// reaching follows the function that has o.
func (f *File) reaching(o *ast.Object) *reach {
	if r := f.reaches[o]; r != nil {
		return r
	}
	w := &flow{File: f, of: o, part: map[token.Pos]bool{}, gotos: map[string]uint64{},
		heads: map[ast.Node]uint64{}}
	w.at, w.in, w.bits = map[int]uint64{}, map[int]bool{}, map[token.Pos]uint64{}
	as := f.changes[o]
	if w.known = len(as) < 63; w.known {
		for k, a := range as {
			w.bits[a.pos] = 2 << k
			w.part[a.pos] = a.Part
		}
		for w.grown = true; w.grown; {
			w.grown = false
			w.function(f.inside[o].Type, f.inside[o].Recv, f.inside[o].Body)
		}
	}
	if f.reaches == nil {
		f.reaches = map[*ast.Object]*reach{}
	}
	f.reaches[o] = &w.reach
	return &w.reach
}

// function follows a function from its beginning.
func (w *flow) function(t *ast.FuncType, recv *ast.FieldList, body *ast.BlockStmt) {
	s := uint64(0)
	if recv != nil && within(recv, w.of.Pos()) || within(t, w.of.Pos()) {
		s = 1
	}
	w.note(t, s)
	w.block(body, s, nil)
}

func within(n ast.Node, p token.Pos) bool { return n.Pos() <= p && p < n.End() }

// line adds a state in front of the line of p.
func (w *flow) line(p token.Pos, s uint64) { w.at[w.File.line(p)] |= s }

// note adds a state in front of all lines of n, and follows the function literals in it.
func (w *flow) note(n ast.Node, s uint64) {
	for l, end := w.File.line(n.Pos()), w.File.line(n.End()-1); l <= end; l++ {
		w.at[l] |= s
	}
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		if within(lit, w.of.Pos()) {
			w.function(lit.Type, nil, lit.Body)
			return false
		}
		for p, b := range w.bits {
			if within(lit, p) {
				w.wild |= b
			}
		}
		first := w.File.line(lit.Pos())
		for l, end := first, w.File.line(lit.End()-1); l <= end; l++ {
			w.in[l] = w.in[l] || l > first
		}
		return false
	})
}

// simple notes a statement that leads from s to t.
func (w *flow) simple(n ast.Node, s, t uint64) uint64 {
	w.note(n, s)
	if s != t {
		for l, end := w.File.line(n.Pos())+1, w.File.line(n.End()-1); l <= end; l++ {
			w.at[l] |= t
		}
	}
	return t
}

// assign is s behind assignments.
func (w *flow) assign(s uint64, to ...ast.Expr) uint64 {
	for _, x := range to {
		if x == nil {
			continue
		}
		id, _ := named(x)
		b := uint64(0)
		if id != nil {
			b = w.bits[id.Pos()]
		}
		switch {
		case id == nil:
		case b == 0 && id.Pos() == w.of.Pos():
			s = 1
		case b != 0 && w.part[id.Pos()]:
			s |= b
		case b != 0:
			s = b
		}
	}
	return s
}

func (w *flow) list(all []ast.Stmt, s uint64, in *around) uint64 {
	for _, n := range all {
		s = w.stmt(n, s, in, "")
	}
	return s
}

func (w *flow) block(b *ast.BlockStmt, s uint64, in *around) uint64 {
	s = w.list(b.List, s, in)
	w.line(b.End()-1, s)
	return s
}

// stmt follows a statement, which may have a label, and gives what is behind it.
func (w *flow) stmt(n ast.Stmt, s uint64, in *around, label string) uint64 {
	switch n := n.(type) {
	case nil:
		return s
	case *ast.BlockStmt:
		a := &around{out: in, label: label, block: true}
		t := w.block(n, s, a)
		return t | a.brk
	case *ast.LabeledStmt:
		w.line(n.Pos(), s|w.gotos[n.Label.Name])
		return w.stmt(n.Stmt, s|w.gotos[n.Label.Name], in, n.Label.Name)
	case *ast.AssignStmt:
		return w.simple(n, s, w.assign(s, n.Lhs...))
	case *ast.IncDecStmt:
		return w.simple(n, s, w.assign(s, n.X))
	case *ast.DeclStmt:
		t := s
		ast.Inspect(n, func(x ast.Node) bool {
			if v, ok := x.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					t = w.assign(t, id)
				}
			}
			_, lit := x.(*ast.FuncLit)
			return !lit
		})
		return w.simple(n, s, t)
	case *ast.ReturnStmt:
		w.note(n, s)
		return 0
	case *ast.BranchStmt:
		w.note(n, s)
		return w.branch(n, s, in)
	case *ast.IfStmt:
		s = w.stmt(n.Init, s, in, "")
		w.note(n.Cond, s)
		a := &around{out: in, label: label, block: true}
		t := w.block(n.Body, s, a)
		t |= w.stmt(n.Else, s, a, "")
		return t | a.brk
	case *ast.ForStmt:
		return w.loop(n, s, in, label)
	case *ast.RangeStmt:
		a := &around{out: in, label: label, loop: true}
		w.note(n.X, s)
		head := s | w.heads[n]
		w.line(n.Pos(), head)
		t := w.block(n.Body, w.assign(head, n.Key, n.Value), a)
		w.head(n, head|t|a.again)
		return head | a.brk
	case *ast.SwitchStmt:
		s = w.stmt(n.Init, s, in, "")
		w.line(n.Pos(), s)
		if n.Tag != nil {
			w.note(n.Tag, s)
		}
		return w.clauses(n.Body, s, in, label)
	case *ast.TypeSwitchStmt:
		s = w.stmt(n.Init, s, in, "")
		return w.clauses(n.Body, w.stmt(n.Assign, s, in, ""), in, label)
	case *ast.SelectStmt:
		w.line(n.Pos(), s)
		return w.clauses(n.Body, s, in, label)
	}
	w.note(n, s)
	return s
}

// clauses follows those of a switch or select.
func (w *flow) clauses(b *ast.BlockStmt, s uint64, in *around, label string) uint64 {
	a := &around{out: in, label: label}
	out, all, fall := uint64(0), false, uint64(0)
	for _, c := range b.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, x := range c.List {
				w.note(x, s)
			}
			w.line(c.Pos(), s)
			all = all || c.List == nil
			t := w.list(c.Body, s|fall, a)
			if fall = 0; len(c.Body) > 0 {
				if f, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt); ok && f.Tok == token.FALLTHROUGH {
					fall, t = a.again, 0
					a.again = 0
				}
			}
			out |= t
		case *ast.CommClause:
			w.line(c.Pos(), s)
			out |= w.list(c.Body, w.stmt(c.Comm, s, a, ""), a)
			all = true
		}
	}
	if !all {
		out |= s
	}
	out |= a.brk
	w.line(b.End()-1, out)
	return out
}

// loop follows a for statement.
func (w *flow) loop(n *ast.ForStmt, s uint64, in *around, label string) uint64 {
	w.line(n.Pos(), s)
	s = w.stmt(n.Init, s, in, "")
	a := &around{out: in, label: label, loop: true}
	head := s | w.heads[n]
	if w.line(n.Pos(), head); n.Cond != nil {
		w.note(n.Cond, head)
	}
	t := w.block(n.Body, head, a)
	w.head(n, head|w.stmt(n.Post, t|a.again, a, ""))
	if n.Cond == nil {
		return a.brk
	}
	return head | a.brk
}

// head sets what leads to the head of a loop.
func (w *flow) head(n ast.Node, s uint64) {
	if w.heads[n] != s {
		w.heads[n], w.grown = s, true
	}
}

// branch follows a jump; nothing goes on behind it.
func (w *flow) branch(n *ast.BranchStmt, s uint64, in *around) uint64 {
	label := ""
	if n.Label != nil {
		label = n.Label.Name
	}
	switch n.Tok {
	case token.GOTO:
		if w.gotos[label]|s != w.gotos[label] {
			w.gotos[label] |= s
			w.grown = true
		}
		return 0
	case token.FALLTHROUGH:
		in.again |= s // see clauses: only loops are continued
		return 0
	}
	for a := in; a != nil; a = a.out {
		switch {
		case label != "" && a.label != label:
		case n.Tok == token.CONTINUE && a.loop:
			a.again |= s
			return 0
		case n.Tok == token.BREAK && (label != "" || !a.block):
			a.brk |= s
			return 0
		}
	}
	return 0
}
