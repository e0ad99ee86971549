// Package gosource reads Go source for what debug information does not say: in which lines a variable is assigned to
// after its declaration, which of the assignments may be the last one in front of a line, what a name stands for there.
//
// In: the path of a file, the name of a variable and the line that declares it. Out: the assignments. Whether the file
// is what a program was built from is for the caller to find out: where that is not known, nothing follows from the
// answer but doubt.
package gosource

//lint:file-ignore SA1019 for variables of functions objects are exact, and types would need all that is imported

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"time"

	"github.com/gostap/gostap/compiler/foreign"
)

// maxFile is the size of the greatest file that is read.
const maxFile = 8 << 20

// Assignment is a statement that changes a variable.
type Assignment struct {
	Line int
	// Reaches reports whether the variable may have its value from it in front of a line.
	Reaches func(line int) bool
	// Part: it changes a part of the variable, or what that leads to.
	Part bool
	// Copy: it assigns the value of a variable. Constant: it assigns what is written down, and not computed.
	Copy, Constant bool
	// Until is the last line of the innermost block that it is in and that may not be run.
	Until int
	// Post: it is what a loop does behind its body.
	Post bool
	// Sources are lines in which the variables in its value get theirs.
	Sources []int

	value []*ast.Object
	pos   token.Pos
}

// File is a parsed file.
type File struct {
	// Written is when the file was changed last.
	Written time.Time

	fset    *token.FileSet
	tree    *ast.File
	vars    map[declared][]*ast.Object
	changes map[*ast.Object][]Assignment
	inside  map[*ast.Object]*ast.FuncDecl
	taken   map[*ast.Object]bool // their addresses are, and may be by methods
	called  map[*ast.Object]bool
	reaches map[*ast.Object]*reach
}

type declared struct {
	name string
	line int
}

// Read parses the file at path.
func Read(path string) (*File, error) {
	fd, err := foreign.Open(path)
	if err != nil {
		return nil, err
	}
	defer fd.Close()
	st, err := fd.Stat()
	if err != nil {
		return nil, err
	}
	src, err := foreign.Read(fd, path, maxFile)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	f.Written = st.ModTime()
	return f, nil
}

// Parse is Read of a file's contents.
func Parse(path string, src []byte) (*File, error) {
	f := &File{fset: token.NewFileSet(), vars: map[declared][]*ast.Object{}, changes: map[*ast.Object][]Assignment{},
		inside: map[*ast.Object]*ast.FuncDecl{}, reaches: map[*ast.Object]*reach{},
		taken: map[*ast.Object]bool{}, called: map[*ast.Object]bool{}}
	tree, err := parser.ParseFile(f.fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	f.tree = tree
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			ast.Walk(&scan{File: f, fn: fn, sure: map[ast.Node]bool{}}, fn)
		}
	}
	return f, nil
}

// Assignments lists those of the variable that is declared in a line. ok is false if there is none of the name.
// reaches reports whether it may have the value of its declaration in front of a line.
func (f *File) Assignments(name string, line int) (as []Assignment, reaches func(line int) bool, ok bool) {
	objects := f.vars[declared{name, line}]
	for _, o := range objects {
		r := f.reaching(o)
		for k, a := range f.changes[o] {
			a.Reaches = func(line int) bool { return r.has(line, k) }
			for _, src := range a.value {
				a.Sources = append(a.Sources, f.line(src.Pos()))
				for _, b := range f.changes[src] {
					a.Sources = append(a.Sources, b.Line)
				}
			}
			as = append(as, a)
		}
	}
	return as, func(line int) bool {
		return slices.ContainsFunc(objects, func(o *ast.Object) bool { return f.reaching(o).has(line, -1) })
	}, len(objects) > 0
}

// Taken reports whether the address of the variable that is declared in a line is taken. Methods are called with it, or
// with a part of it, may take it as well.
func (f *File) Taken(name string, line int) (taken, byMethods bool) {
	for _, o := range f.vars[declared{name, line}] {
		taken, byMethods = taken || f.taken[o], byMethods || f.called[o]
	}
	return taken, byMethods
}

// line is the line in the file itself, whatever comments (//line) say.
func (f *File) line(p token.Pos) int { return f.fset.PositionFor(p, false).Line }

// scan walks a function. loops are those around the node, until is the last line of the innermost block,
// sure has the blocks that may always be run, by a condition that is constant.
type scan struct {
	*File
	fn    *ast.FuncDecl
	loops []ast.Node
	until int
	sure  map[ast.Node]bool
}

// Visit implements ast.Visitor.
func (s *scan) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.Ident:
		if o := n.Obj; o != nil && o.Kind == ast.Var && o.Pos() == n.Pos() {
			d := declared{n.Name, s.line(n.Pos())}
			s.vars[d] = append(s.vars[d], o)
			s.inside[o] = s.fn
		}
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			a := Assignment{value: variables(n.Rhs)}
			if len(n.Rhs) == len(n.Lhs) && n.Tok == token.ASSIGN {
				a.Copy, a.Constant = plain(n.Rhs[i])
			}
			s.change(l, n.Pos(), n.Tok == token.DEFINE, a)
		}
	case *ast.UnaryExpr:
		if id, _ := named(n.X); n.Op == token.AND && id != nil && id.Obj != nil {
			s.taken[id.Obj] = true
		}
	case *ast.SliceExpr: // of an array
		if id, _ := named(n.X); id != nil && id.Obj != nil {
			s.called[id.Obj] = true
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
			if id, _ := named(sel.X); id != nil && id.Obj != nil {
				s.called[id.Obj] = true
			}
		}
	case *ast.IncDecStmt:
		s.change(n.X, n.Pos(), false, Assignment{})
	case *ast.IfStmt:
		if _, always := plain(n.Cond); always || len(variables([]ast.Expr{n.Cond})) == 0 && !calls(n.Cond) {
			s.sure[n.Body] = true
		}
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
		if !s.sure[n] {
			t := *s
			t.until = s.line(n.End())
			return &t
		}
	case *ast.ForStmt:
		return s.in(n)
	case *ast.RangeStmt:
		in := s.in(n)
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil {
				in.change(x, n.Pos(), false, Assignment{}) // each time anew, also where it is declared
			}
		}
		return in
	}
	return s
}

func (s *scan) in(loop ast.Node) *scan {
	t := *s
	t.loops = append(t.loops[:len(t.loops):len(t.loops)], loop)
	return &t
}

// change notes that the statement at pos assigns to x.
func (s *scan) change(x ast.Expr, pos token.Pos, defines bool, a Assignment) {
	id, part := named(x)
	if id == nil || id.Obj == nil || defines && id.Obj.Pos() == id.Pos() {
		return
	}
	a.Post = slices.ContainsFunc(s.loops, func(l ast.Node) bool {
		f, ok := l.(*ast.ForStmt)
		return ok && f.Post != nil && f.Post.Pos() <= pos && pos < f.Post.End()
	})
	a.Line, a.pos, a.Part, a.Until = s.line(id.Pos()), id.Pos(), part, s.until
	s.changes[id.Obj] = append(s.changes[id.Obj], a)
}

// named finds the variable that an assignment to x changes, and whether it does so in part. It is nil if there is none.
func named(x ast.Expr) (id *ast.Ident, part bool) {
	for {
		switch y := x.(type) {
		case *ast.ParenExpr:
			x = y.X
		case *ast.SelectorExpr:
			x, part = y.X, true
		case *ast.IndexExpr:
			x, part = y.X, true
		case *ast.Ident:
			return y, part
		default:
			return nil, false
		}
	}
}

// plain says whether an expression is a variable, or something that needs no computing.
func plain(x ast.Expr) (variable, constant bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return plain(x.X)
	case *ast.Ident:
		constant = x.Name == "nil" || x.Name == "true" || x.Name == "false" || x.Obj != nil && x.Obj.Kind == ast.Con
		return !constant, constant
	case *ast.BasicLit, *ast.FuncLit:
		return false, true
	}
	return false, false
}

// variables lists those in expressions.
func variables(list []ast.Expr) (out []*ast.Object) {
	for _, x := range list {
		ast.Inspect(x, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Obj != nil && id.Obj.Kind == ast.Var {
				out = append(out, id.Obj)
			}
			return true
		})
	}
	return out
}

// calls reports whether something is called in an expression.
func calls(x ast.Expr) (yes bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.CallExpr)
		yes = yes || ok
		return !yes
	})
	return yes
}
