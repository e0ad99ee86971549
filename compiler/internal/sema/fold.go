package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
)

// fold gives the value of an expression that is known before the program runs: @defined, @probewrite, and what
// ast.Folder makes of them and of numbers. What folds is noted in Info.Const, but for plain numbers.
func (b *binder) fold(s *scope, e ast.Expr) (int64, bool) {
	f := ast.Folder{
		Known: func(e ast.Expr) (v int64, decided, ok bool) {
			if v, ok := s.in.Const[e]; ok {
				return v, false, true
			}
			if e, is := e.(*ast.AtOp); is && len(e.Args) == 1 && asking(e) {
				if e.Name == "@defined" {
					v = b.defined(s, e)
				} else {
					v = b.probeWrites(s, e)
				}
				s.in.Const[e] = v
				return v, true, true
			}
			return 0, false, false
		},
		Skip: func(cond ast.Expr, whole ast.Node, _ bool) bool { return b.may(s, cond, whole) },
		Note: func(e ast.Expr, v int64) { s.in.Const[e] = v },
	}
	v, _, ok := f.Value(e)
	return v, ok
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// prune decides cond, by which of whole only a part is taken, if the other part is to be left alone: see may.
func (b *binder) prune(s *scope, cond ast.Expr, whole ast.Node) (v int64, ok bool) {
	if !b.may(s, cond, whole) {
		return 0, false
	}
	if v, ok = b.fold(s, cond); ok {
		s.in.Const[cond] = v
		if s.in.Decided == nil {
			s.in.Decided = map[ast.Expr]bool{}
		}
		s.in.Decided[cond] = true
	}
	return v, ok
}

// may reports whether the part of whole that cond rules out need not make sense: where cond asks @defined or
// @probewrite, or where whole has something in it that did not resolve. What plain numbers rule out is held to the
// rules like everything else.
func (b *binder) may(s *scope, cond ast.Expr, whole ast.Node) bool {
	if s.conditional == 0 {
		s.conditional = 1
		if s.asks() {
			s.conditional = 2
		}
	}
	if s.conditional == 1 {
		return false
	}
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		found = found || asking(n)
		return !found
	})
	if found {
		return true
	}
	ast.Inspect(whole, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			t := s.in.Targets[e]
			found = found || t != nil && t.Err != nil
		}
		return !found
	})
	return found
}

// asks reports whether anything in s asks @defined or @probewrite, or did not resolve.
func (s *scope) asks() bool {
	for _, t := range s.in.Targets {
		if t.Err != nil {
			return true
		}
	}
	found := false
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			found = found || asking(n)
			return !found
		})
	}
	if s.fn != nil {
		look(s.fn.Decl.Body)
	}
	if s.pr != nil {
		for _, body := range bodies(s.pr.Bodies) {
			look(body)
		}
	}
	return found
}

func asking(n ast.Node) bool {
	e, ok := n.(*ast.AtOp)
	return ok && (e.Name == "@defined" || e.Name == "@probewrite")
}

// defined answers @defined(e): whether every target expression in e resolved.
func (b *binder) defined(s *scope, e *ast.AtOp) int64 {
	v, seen := int64(1), false
	ast.Inspect(e.Args[0], func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		t, known := s.in.Targets[x]
		if known {
			seen = true
			if t.Err != nil {
				v = 0
			}
			return false // the parts of a target are no targets of their own
		}
		switch x := x.(type) {
		case *ast.Target:
			seen, v = true, 0
			return false
		case *ast.AtOp:
			if !isStat(x.Name) {
				seen, v = true, 0
				return false
			}
		}
		return true
	})
	if !seen {
		b.errorf(diag.TargetContext, e.Span,
			"@defined asks whether a variable of the traced program exists; %s is none", describe(e.Args[0])).
			Hintf("write @defined($x), @defined($x->member) or @defined(@cast(...)->member)")
	}
	return v
}

// probeWrites answers @probewrite(x), of a variable of the script or of the traced program: whether the body of
// the probe itself assigns to it. The blocks of aliases, which ask this, do not count.
func (b *binder) probeWrites(s *scope, e *ast.AtOp) int64 {
	name := ""
	switch x := ast.Unparen(e.Args[0]).(type) {
	case *ast.Target:
		name = x.Name
	case *ast.Name:
		name = x.Name
	}
	switch {
	case name == "":
		b.errorf(diag.TargetContext, e.Span, "@probewrite asks about a variable, not about %s", describe(e.Args[0]))
		return 0
	case s.pr == nil:
		b.errorf(diag.TargetContext, e.Span, "@probewrite can only be used in probes")
		return 0
	case s.pr.Decl == nil || s.pr.Decl.Body == nil:
		return 0
	}
	writes := false
	ast.Inspect(s.pr.Decl.Body, func(n ast.Node) bool {
		ast.Assigned(n, func(x ast.Node) {
			switch x := x.(type) {
			case *ast.Target:
				writes = writes || x.Name == name
			case *ast.Name:
				writes = writes || x.Name == name
			case *ast.Ident:
				writes = writes || x.Name == name
			}
		})
		return true
	})
	return truth(writes)
}
