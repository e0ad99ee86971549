package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/load"
	"github.com/gostap/gostap/compiler/internal/near"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/source"
)

// Warn points at what is right but hardly meant: values that nobody reads, variables
// that nobody sets, functions that nobody calls, statements that do nothing. Only the
// user's script is looked at.
func Warn(p *elab.Program, lib *load.Library) diag.List {
	w := &warner{p: p}
	w.unused(lib)
	for _, g := range p.Globals {
		if g.Init != nil && w.user(g.Init.Span) {
			w.text(g.Init)
		}
	}
	for _, pr := range p.Probes {
		if pr.Decl == nil || !w.user(pr.Decl.Span) {
			continue
		}
		in := &pr.Info
		w.locals(in, pr.Sites, func(l *elab.Local) bool {
			// What an alias sets, its users may ignore.
			return within(l.Span, pr.Decl.Body.Span)
		})
		w.idle(in, pr.Decl.Body)
		w.texts(in, pr.Decl.Body)
	}
	for _, f := range p.Funcs {
		if f.Decl.Body == nil || !w.user(f.Decl.Span) {
			continue
		}
		w.locals(&f.Info, nil, func(*elab.Local) bool { return true })
		w.idle(&f.Info, f.Decl.Body)
		w.texts(&f.Info, f.Decl.Body)
		w.params(f)
	}
	return w.ds
}

type warner struct {
	p  *elab.Program
	ds diag.List
}

func (w *warner) warnf(code diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	return w.ds.Warnf(diag.Semantic, code, sp, format, args...)
}

// user reports whether sp lies in the user's script.
func (w *warner) user(sp source.Span) bool {
	if w.p.Files == nil {
		return true
	}
	f := w.p.Files.File(sp.From)
	return f == nil || !f.Library
}

func within(in, of source.Span) bool { return of.From <= in.From && in.From < of.To }

func (w *warner) unused(lib *load.Library) {
	there := map[*ast.Global]*elab.Global{}
	for _, g := range w.p.Globals {
		there[g.Decl] = g
	}
	for _, g := range lib.UserGlobals() {
		name := g.Decl.Name
		if eg := there[g.Decl]; eg == nil {
			w.warnf(diag.UnusedGlobal, name.Span, "the global %s is never used", name.Name)
		} else if !eg.Written && eg.Init == nil {
			d := w.warnf(diag.NeverAssigned, name.Span, "the global %s is never assigned", name.Name)
			d.Hintf("it always reads as 0, \"\" or empty")
		}
	}
	called := map[*ast.Function]bool{}
	for _, f := range w.p.Funcs {
		called[f.Decl] = true
	}
	for _, f := range lib.UserFunctions() {
		if called[f.Decl] {
			continue
		}
		name := f.Decl.Name
		if before := shadowing(f, lib.UserFunctions()); before != nil {
			w.warnf(diag.UnreachedOverload, name.Span,
				"this %s is never reached: the one before it takes as many arguments and never says next", name.Name).
				Note(before.Decl.Name.Span, "the one before it")
			continue
		}
		w.warnf(diag.UnusedFunction, name.Span, "the function %s is never called", name.Name)
	}
}

// shadowing finds the overload that keeps f from being tried.
func shadowing(f *load.Function, all []*load.Function) *load.Function {
	for _, o := range all {
		if o != f && o.Decl.Name.Name == f.Decl.Name.Name && len(o.Decl.Params) == len(f.Decl.Params) &&
			o.Priority <= f.Priority && !saysNext(o.Decl) &&
			(o.Decl.Span.From < f.Decl.Span.From || o.Priority < f.Priority) {
			return o
		}
	}
	return nil
}

func (w *warner) locals(in *elab.Info, at []*probe.Site, mind func(*elab.Local) bool) {
	for _, l := range in.Locals {
		if l.Param || !w.user(l.Span) || !mind(l) {
			continue
		}
		switch {
		case !l.Written:
			d := w.warnf(diag.NeverAssigned, l.Span, "the local variable %s is never assigned", l.Name)
			if d.Hint = near.Variable(w.p, in, at, l.Name); d.Hint == "" {
				d.Hintf("it always reads as 0 or \"\"")
			}
		case !l.Read:
			w.warnf(diag.NeverRead, l.Span, "the local variable %s is assigned but never read", l.Name)
		}
	}
}

// params warns about parameters without use. Overloads that pass calls on, and those
// they are passed to, must take what the others do.
func (w *warner) params(f *elab.Func) {
	if saysNext(f.Decl) {
		return
	}
	for _, o := range w.p.Funcs {
		if o.Next == f {
			return
		}
	}
	for _, p := range f.Params {
		if !p.Read {
			w.warnf(diag.UnusedParameter, p.Span, "the parameter %s of %s is never used", p.Name, f.Decl.Name.Name)
		}
	}
}

// text warns about a text that is cut because strings hold no more. Formats are not strings.
func (w *warner) text(l *ast.Literal) {
	most := w.p.Limits.MaxString - 1
	if l.IsString && most >= 0 && len(l.Str) > most {
		w.warnf(diag.LongText, l.Span, "this text has %d bytes, and a string holds %d: the rest is cut off", len(l.Str),
			most).
			Hintf("-D MAXSTRINGLEN=%d makes room for it", len(l.Str)+1)
	}
}

// texts warns about texts of body that are cut.
func (w *warner) texts(in *elab.Info, body *ast.Block) {
	other := map[ast.Expr]bool{} // texts that do not become strings
	InspectLive(in, body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call:
			if k, ok := printFunc(n.Fun.Name); ok && k.format && len(n.Args) > 0 {
				other[ast.Unparen(n.Args[0])] = true
			} else if n.Fun.Name == "value_text" && len(n.Args) == 2 {
				other[ast.Unparen(n.Args[1])] = true // a table, which is not kept as a string
			}
		case *ast.AtOp:
			for _, a := range n.Args {
				if l, ok := ast.Unparen(a).(*ast.Literal); ok {
					other[l] = true // a type, a program, a name
				}
			}
		case *ast.Binary:
			if n.Op == "=~" || n.Op == "!~" {
				other[ast.Unparen(n.Y)] = true
			}
		case *ast.Literal:
			if !other[n] {
				w.text(n)
			}
		}
		return true
	})
}

// idle warns about expressions that stand as statements and do nothing.
func (w *warner) idle(in *elab.Info, body *ast.Block) {
	InspectLive(in, body, func(n ast.Node) bool {
		st, ok := n.(*ast.ExprStmt)
		if !ok || !w.user(st.Span) {
			return true
		}
		quiet := true
		InspectLive(in, st.X, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Assign, *ast.Postfix, *ast.Call, *ast.EmbeddedExpr, *ast.Target, *ast.AtOp:
				quiet = false
			case *ast.Unary:
				if n.Op == "++" || n.Op == "--" {
					quiet = false
				}
			}
			return quiet
		})
		if quiet {
			d := w.warnf(diag.NoEffect, st.Span, "this statement does nothing")
			if b, ok := ast.Unparen(st.X).(*ast.Binary); ok && b.Op == "==" {
				d.Hintf("= assigns")
			}
		}
		return true
	})
}
