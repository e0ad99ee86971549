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
	// From is the first line that may run after it: the next one, or the first of the outermost loop around it that the
	// variable outlives.
	From int
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
}

// File is a parsed file.
type File struct {
	// Written is when the file was changed last.
	Written time.Time

	fset    *token.FileSet
	tree    *ast.File
	vars    map[declared][]*ast.Object
	changes map[*ast.Object][]Assignment
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
	f := &File{fset: token.NewFileSet(), vars: map[declared][]*ast.Object{}, changes: map[*ast.Object][]Assignment{}}
	tree, err := parser.ParseFile(f.fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	f.tree = tree
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			s := &scan{File: f, sure: map[ast.Node]bool{}}
			s.jumps = jumps(fn)
			ast.Walk(s, fn)
		}
	}
	return f, nil
}

// Assignments lists those of the variable that is declared in a line. ok is false if there is none of the name.
func (f *File) Assignments(name string, line int) (as []Assignment, ok bool) {
	objects := f.vars[declared{name, line}]
	for _, o := range objects {
		for _, a := range f.changes[o] {
			for _, src := range a.value {
				a.Sources = append(a.Sources, f.line(src.Pos()))
				for _, b := range f.changes[src] {
					a.Sources = append(a.Sources, b.Line)
				}
			}
			as = append(as, a)
		}
	}
	return as, len(objects) > 0
}

// line is the line in the file itself, whatever comments (//line) say.
func (f *File) line(p token.Pos) int { return f.fset.PositionFor(p, false).Line }

// jumps reports whether a function may go back other than by loops.
func jumps(fn *ast.FuncDecl) (back bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		back = back || ok && b.Tok == token.GOTO
		return !back
	})
	return back
}

// scan walks a function. loops are those around the node, until is the last line of the innermost block,
// sure has the blocks that may always be run, by a condition that is constant.
type scan struct {
	*File
	jumps bool
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
		}
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			a := Assignment{value: variables(n.Rhs)}
			if len(n.Rhs) == len(n.Lhs) && n.Tok == token.ASSIGN {
				a.Copy, a.Constant = plain(n.Rhs[i])
			}
			s.change(l, n.Pos(), n.Tok == token.DEFINE, a)
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
	part := false
	for {
		switch y := x.(type) {
		case *ast.ParenExpr:
			x = y.X
			continue
		case *ast.SelectorExpr:
			x, part = y.X, true
			continue
		case *ast.IndexExpr:
			x, part = y.X, true
			continue
		}
		break
	}
	id, ok := x.(*ast.Ident)
	if !ok || id.Obj == nil || defines && id.Obj.Pos() == id.Pos() {
		return
	}
	a.Post = slices.ContainsFunc(s.loops, func(l ast.Node) bool {
		f, ok := l.(*ast.ForStmt)
		return ok && f.Post != nil && f.Post.Pos() <= pos && pos < f.Post.End()
	})
	a.Line, a.Part, a.Until = s.line(id.Pos()), part, s.until
	a.From = s.line(pos) + 1
	for _, l := range s.loops {
		if l.Pos() > id.Obj.Pos() || l.Pos() <= id.Obj.Pos() && header(l, id.Obj.Pos()) {
			a.From = s.line(l.Pos())
			break
		}
	}
	if s.jumps {
		a.From = 0
	}
	s.changes[id.Obj] = append(s.changes[id.Obj], a)
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

// header reports whether pos is in a loop but not in its body.
func header(l ast.Node, pos token.Pos) bool {
	switch l := l.(type) {
	case *ast.ForStmt:
		return pos < l.Body.Pos()
	case *ast.RangeStmt:
		return pos < l.Body.Pos()
	}
	return false
}
