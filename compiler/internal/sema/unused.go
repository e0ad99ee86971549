package sema

import (
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/load"
)

// dropUnused takes away the assignments of aliases whose values the probe never looks at. An alias offers all that its
// point knows, and most probes ask for little of it; and what a kernel does not have is only told to who asks for it.
// Of aliases that are not the library's own, whose functions may do more than give a value, that is done only where
// something did not resolve, and only to what calls nothing.
func (b *binder) dropUnused(s *scope) {
	pr := s.pr
	if pr.Decl == nil || len(pr.Bodies) < 2 || b.o.KeepUnused {
		return
	}
	failed := false
	for _, t := range s.in.Targets {
		failed = failed || t.Err != nil
	}
	own := func(body *ast.Block) bool { return body != pr.Decl.Body && b.lib.BlockFile(body).Builtin }
	if !failed && !slices.ContainsFunc(bodies(pr.Bodies), own) {
		return
	}
	offered := map[*ast.Assign]string{}
	used := map[string]bool{}
	names := func(n ast.Node) {
		InspectLive(s.in, n, func(n ast.Node) bool {
			if name, ok := n.(*ast.Name); ok {
				used[name.Name] = true
			}
			return true
		})
	}
	names(pr.Cond)
	for _, body := range bodies(pr.Bodies) {
		s.file = b.lib.BlockFile(body)
		droppable := own(body) || failed && body != pr.Decl.Body
		for _, st := range body.Stmts {
			a, name := plainSet(st)
			if a != nil && droppable && (own(body) || plain(a.Y)) && b.findGlobal(s, name) == nil {
				offered[a] = name
			} else {
				names(st)
			}
		}
	}
	for found := true; found; {
		found = false
		for a, name := range offered {
			if used[name] {
				delete(offered, a)
				names(a.Y)
				found = true
			}
		}
	}
	if len(offered) == 0 {
		return
	}
	for _, name := range offered {
		if !slices.Contains(s.in.Offered, name) {
			s.in.Offered = append(s.in.Offered, name)
		}
	}
	pr.Bodies = slices.Clone(pr.Bodies)
	s.files = map[*ast.Block]*load.File{}
	for i, body := range pr.Bodies {
		if body == nil {
			continue
		}
		kept := *body
		kept.Stmts = slices.DeleteFunc(slices.Clone(body.Stmts), func(st ast.Stmt) bool {
			a, _ := plainSet(st)
			_, drop := offered[a]
			return a != nil && drop
		})
		if len(kept.Stmts) < len(body.Stmts) {
			pr.Bodies[i] = &kept
			s.files[&kept] = b.lib.BlockFile(body)
		}
	}
}

// plainSet gives the assignment that st is, if it only gives a variable a value.
func plainSet(st ast.Stmt) (*ast.Assign, string) {
	x, ok := st.(*ast.ExprStmt)
	if !ok {
		return nil, ""
	}
	a, ok := x.X.(*ast.Assign)
	if !ok || a.Op != "=" {
		return nil, ""
	}
	n, ok := a.X.(*ast.Name)
	if !ok {
		return nil, ""
	}
	return a, n.Name
}

// plain reports whether e does nothing but give a value, as can be seen without its functions.
func plain(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call, *ast.Assign, *ast.Postfix, *ast.EmbeddedExpr:
			ok = false
		case *ast.Unary:
			ok = ok && n.Op != "++" && n.Op != "--"
		}
		return ok
	})
	return ok
}
