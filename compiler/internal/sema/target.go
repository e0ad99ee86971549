package sema

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
)

// arity gives how many arguments an operator word takes; ok is false for unknown ones.
func arity(name string) (least, most int, ok bool) {
	switch name {
	case "@count", "@sum", "@min", "@max", "@avg", "@hist_log":
		return 1, 1, true
	case "@variance":
		return 1, 2, true
	case "@hist_linear":
		return 4, 4, true
	case "@defined", "@probewrite", "@entry", "@perf", "@const", "@kregister", "@uregister", "@enum":
		return 1, 1, true
	case "@kderef", "@uderef", scaled:
		return 2, 2, true
	case "@var":
		return 1, 2, true
	case "@cast":
		return 2, 3, true
	case ast.HasKey:
		return 2, 3, true
	case "@is", ast.RangeNext, ast.RangeKey, ast.RangeElem:
		return 2, 2, true
	case "@typeof":
		return 1, 2, true // see grammar: two are of @typeof($x) == "name"
	case "@enumname":
		return 1, 3, true
	}
	return 0, 0, false
}

// isStat reports whether name is an operator on aggregates.
func isStat(name string) bool {
	switch name {
	case "@count", "@sum", "@min", "@max", "@avg", "@variance", "@hist_log", "@hist_linear":
		return true
	}
	return false
}

// isHist reports whether name is a histogram operator.
func isHist(name string) bool { return name == "@hist_log" || name == "@hist_linear" }

// histogram gives the histogram that e is, nil if it is something else.
func histogram(e ast.Expr) *ast.AtOp {
	if h, ok := ast.Unparen(e).(*ast.AtOp); ok && isHist(h.Name) {
		return h
	}
	return nil
}

// stat binds the aggregate of a statistics operator.
func (b *binder) stat(s *scope, e *ast.AtOp) {
	if len(e.Args) == 0 {
		return // reported by atOp and by Infer
	}
	switch x := ast.Unparen(e.Args[0]).(type) {
	case *ast.Name:
		if b.findGlobal(s, x.Name) == nil {
			d := b.errorf(diag.NotAggregate, x.Span, "%s needs an aggregate, and no global is named %s", e.Name, x.Name)
			if near := b.nearGlobal(x.Name, s.file); near != "" {
				d.Hintf("%s", near)
			} else {
				d.Hintf("aggregates are globals that get their values with <<<")
			}
			return
		}
		b.read(s, x)
	case *ast.Index:
		b.expr(s, x, true)
	default:
		b.errorf(diag.NotAggregate, x.Range(), "%s needs an aggregate, not %s", e.Name, describe(x)).
			Hintf("aggregates are globals that get their values with <<<")
	}
	b.exprs(s, e.Args[1:])
}

func (b *binder) atOp(s *scope, e *ast.AtOp) {
	least, most, ok := arity(e.Name)
	if !ok {
		b.errorf(diag.TargetContext, e.Span, "%s is not supported", e.Name)
		return
	}
	if n := len(e.Args); n < least || n > most {
		need := count(least, "argument")
		if most > least {
			need += " or " + count(most, "argument")
		}
		b.errorf(diag.ArgumentCount, e.Span, "%s takes %s, not %d", e.Name, need, n)
		return
	}
	if isStat(e.Name) {
		if isHist(e.Name) {
			histValue(&b.ds, e)
		}
		b.stat(s, e)
		return
	}
	switch e.Name {
	case "@kderef", "@kregister":
		if !b.o.Guru && (s.file == nil || s.file.User) {
			b.errorf(diag.GuruOperator, e.Span, "%s needs guru mode",
				e.Name).Hintf("run with -g, if the script can be trusted")
		}
	}
	switch e.Name {
	case scaled:
		b.expr(s, e.Args[0], true)
	case "@defined", "@probewrite":
		b.fold(s, e)
	case "@const":
		b.constant(s, e)
	default:
		b.target(s, e)
	}
}

// target binds what is evaluated inside of a target expression and reports one that
// did not resolve.
func (b *binder) target(s *scope, e ast.Expr) {
	t := s.in.Targets[e]
	switch {
	case t == nil:
		b.unresolvable(s, e)
		return
	case t.Err != nil && b.o.SkipBadVars:
		s.in.Const[e] = 0
		return
	case t.Err != nil:
		b.ds.Add(t.Err)
		return
	}
	if t.Reply {
		b.errorf(diag.TargetContext, e.Range(),
			"$value is what the reader of the file will get; it can be set here, and not be read").
			Hintf("$value .= \"text\" adds to it")
	}
	if t.Inner != nil {
		b.entry(s, t.Inner)
	}
	if len(t.Args) > 0 {
		b.exprs(s, t.Args)
	}
}

// reply binds an assignment to $value of a procfs probe, which takes no guru mode: it is the probe's own.
func (b *binder) reply(x *ast.Target, t *elab.Target, op string, used bool) {
	switch {
	case !t.Reply:
		b.errorf(diag.NotAssignable, x.Span, "$value is what was written to the file; it cannot be changed")
	case op != "=" && op != ".=" || used:
		b.errorf(diag.TargetContext, x.Span,
			"$value is what the reader of the file will get; it can be set here, and not be read").
			Hintf("$value = \"text\" and $value .= \"text\" set it")
	}
}

// entry binds what is evaluated at the entry of a probed function, where the
// handler's locals do not exist yet.
func (b *binder) entry(s *scope, e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		name, ok := n.(*ast.Name)
		if ok && (s.names[name.Name] != nil || b.findGlobal(s, name.Name) == nil) {
			b.errorf(diag.EntryLocal, name.Span, "%s is a local variable; it has no value when the function is entered",
				name.Name).
				Hintf("@entry can look at globals and at variables of the function")
		}
		return true
	})
	b.expr(s, e, true)
}

// unresolvable reports a target expression that nothing was found out about.
func (b *binder) unresolvable(s *scope, e ast.Expr) {
	what := targetText(e)
	switch {
	case s.fn != nil && strings.HasPrefix(what, "$"):
		b.errorf(diag.TargetContext, e.Range(),
			"%s is a variable of a probed function; it cannot be used in a function of the script", what).
			Hintf("pass it as an argument")
	case strings.HasPrefix(what, "@perf"):
		b.errorf(diag.TargetContext, e.Range(), "%s: counters of the processor cannot be read by a handler", what).
			Hintf("count hits of a probe perf.type(0).config(0).sample(N), one in N events; gettimeofday_ns() at " +
				"entry and return measures one call")
	case strings.HasPrefix(what, "@"):
		b.errorf(diag.TargetContext, e.Range(), "%s is not available in this version", what)
	default:
		b.errorf(diag.TargetContext, e.Range(), "what %s points to is not known", what).
			Hintf("name its type: @cast(%s, \"type\", \"module\")", strings.TrimPrefix(what, "the result of "))
	}
}

// targetText names a target expression in messages.
func targetText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Target:
		if e.Base == nil {
			return e.Name
		}
		return targetText(e.Base)
	case *ast.AtOp:
		switch e.Name {
		case ast.HasKey:
			return "the result of in"
		case ast.RangeKey:
			return "what foreach has as index of " + targetText(e.Args[0])
		case ast.RangeElem:
			return "an element of " + targetText(e.Args[0])
		}
		return e.Name
	case *ast.Unary:
		return e.Op + targetText(e.X)
	case *ast.Paren:
		return targetText(e.X)
	}
	return describe(e)
}
