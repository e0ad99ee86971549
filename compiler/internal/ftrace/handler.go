package ftrace

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/probe"
)

// handler goes through the bodies of a probe at one of its sites.
type handler struct {
	*writer
	probe *elab.Probe
	site  *probe.Site
	// proto is an event at the site without arguments, events are those that were made.
	proto  *event
	events []*event
	// locals are what local variables stand for; nil where that depends on the way through the handler.
	locals map[*elab.Local]ast.Expr
	// conds are those under which a statement is come to.
	conds []cond
}

// cond is an expression that is true, or not.
type cond struct {
	x   ast.Expr
	not bool
}

// stmts goes through statements that follow each other.
func (h *handler) stmts(list []ast.Stmt) {
	for _, s := range list {
		h.stmt(s)
	}
}

func (h *handler) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.Empty:
	case *ast.Block:
		h.stmts(s.Stmts)
	case *ast.ExprStmt:
		h.effect(s.X)
	case *ast.If:
		h.branch(s)
	case *ast.Next:
		h.no(s, "cannot leave a handler here").Hintf("at the top of a handler, if (CONDITION) next is a filter")
	case *ast.While, *ast.For, *ast.Foreach:
		h.no(s, "has no loops")
	case *ast.Delete:
		h.no(s, "cannot delete what it has counted").
			Hintf("the trigger's file takes \"!hist:...\" and \"hist:...:clear\"")
	case *ast.Try:
		h.no(s, "has no try: what cannot be read is shown as (fault)")
	default:
		h.no(s, "cannot do this in a handler")
	}
}

// branch goes through an if.
func (h *handler) branch(s *ast.If) {
	if v, ok := h.probe.Info.Const[s.Cond]; ok {
		switch {
		case v != 0:
			h.stmt(s.Then)
		case s.Else != nil:
			h.stmt(s.Else)
		}
		return
	}
	before := h.conds
	if ends(s.Then) {
		h.conds = append(slices.Clone(before), cond{s.Cond, true})
		if s.Else != nil {
			h.stmt(s.Else)
		}
		return // what follows is under the condition too
	}
	h.forget(s.Then)
	h.conds = append(slices.Clone(before), cond{s.Cond, false})
	h.stmt(s.Then)
	h.forget(s.Then)
	if s.Else != nil {
		h.forget(s.Else)
		h.conds = append(slices.Clone(before), cond{s.Cond, true})
		h.stmt(s.Else)
		h.forget(s.Else)
	}
	h.conds = before
}

// ends reports whether s is next alone.
func ends(s ast.Stmt) bool {
	if b, ok := s.(*ast.Block); ok && len(b.Stmts) == 1 {
		return ends(b.Stmts[0])
	}
	_, ok := s.(*ast.Next)
	return ok
}

// forget drops what is known of the locals that s assigns to.
func (h *handler) forget(s ast.Stmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		var x ast.Expr
		switch n := n.(type) {
		case *ast.Assign:
			x = n.X
		case *ast.Unary:
			x = n.X
		case *ast.Postfix:
			x = n.X
		}
		if name, ok := x.(*ast.Name); ok {
			if l := h.probe.Info.Locs[name]; l != nil {
				h.locals[l] = nil
			}
		}
		return true
	})
}

// effect is a statement that does something.
func (h *handler) effect(x ast.Expr) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Call:
		h.call(x)
	case *ast.Assign:
		if name, ok := x.X.(*ast.Name); ok && h.probe.Info.Locs[name] != nil {
			l := h.probe.Info.Locs[name]
			if h.locals[l] = x.Y; x.Op != "=" {
				h.locals[l] = nil
			}
			return
		}
		h.update(x, x.X, x.Op, x.Y)
	case *ast.Postfix:
		h.update(x, x.X, x.Op, nil)
	case *ast.Unary:
		if x.Op == "++" || x.Op == "--" {
			h.update(x, x.X, x.Op, nil)
		}
	case *ast.EmbeddedExpr:
		h.no(x, "runs no C")
	}
}

// call is a call that is a statement.
func (h *handler) call(c *ast.Call) {
	name := c.Fun.Name
	switch {
	case sema.IsPrint(name):
		if !strings.HasPrefix(name, "s") {
			h.print(c)
		}
		return
	case !h.builtin(c):
		h.no(c, "cannot call functions of the script").Hintf("write what %s does into the handler", name)
		return
	}
	switch name {
	case "log", "warn":
		h.print(c)
	case "exit":
		if h.PID != 0 {
			h.no(c, "would stop at a hit of any process, not only of -x")
			return
		}
		if e := h.acting(c, false); e != nil {
			e.trigger("traceoff:1", h.filter(e))
		}
	case "print_backtrace", "print_stack":
		switch {
		case h.site.Kind.InUser():
			h.no(c, "has no stack of the kernel at this place")
			return
		case h.PID != 0:
			h.no(c, "would show the stacks of all processes, not only of -x")
			return
		}
		if e := h.acting(c, false); e != nil {
			e.trigger("stacktrace", h.filter(e))
		}
	case "print_ubacktrace", "print_ustack":
		if e := h.acting(c, true); e != nil {
			e.ustack = true
		}
	default:
		h.no(c, "has no %s()", name)
	}
}

// builtin reports whether c calls a function of the library.
func (h *handler) builtin(c *ast.Call) bool {
	f := h.probe.Info.Calls[c]
	return f != nil && f.Builtin
}

func (e *event) trigger(what, filter string) {
	if filter != "" {
		what += " if " + filter
	}
	if !slices.Contains(e.triggers, what) {
		e.triggers = append(e.triggers, what)
	}
}

// acting gives the event that acts under h's conditions: one that is shown under the same, or another. shown wants
// one that is.
func (h *handler) acting(c ast.Node, shown bool) *event {
	if h.Perf {
		h.no(c, "does this for all events of a recording only").Hintf("perf record -g records stacks")
		return nil
	}
	if shown {
		return h.printing()
	}
	if len(h.events) == 0 {
		h.event().shown = false
	}
	return h.events[0]
}

// printing gives the event that is shown under h's conditions.
func (h *handler) printing() *event {
	for _, e := range h.events {
		if n := len(h.diags); e.shown {
			try := *e // what the conditions compare would become arguments
			try.args = slices.Clone(e.args)
			if h.filter(&try) == e.when && len(h.diags) == n {
				return e
			}
		}
	}
	var e *event
	for _, o := range h.events {
		if !o.shown {
			e = o
			e.shown = true
			break
		}
	}
	switch {
	case e == nil && h.proto.kind == 'e' && len(h.events) > 0:
		h.no(pointOf(h.probe), "has one filter for an event of the kernel's, and this handler has several").
			Hintf("print under one condition only")
		return h.events[0]
	case e == nil:
		e = h.event()
	}
	e.when = h.filter(e)
	return e
}

// print adds what a call prints.
func (h *handler) print(c *ast.Call) {
	args := c.Args
	var hex []bool
	if c.Fun.Name == "printf" && len(args) > 0 {
		lit, ok := ast.Unparen(args[0]).(*ast.Literal)
		if !ok {
			return // sema has said so
		}
		args = args[1:]
		if f, err := ir.ParseFormat(lit.Str); err == nil {
			for _, p := range f.Pieces {
				if p.WidthArg {
					hex = append(hex, false)
				}
				if p.PrecArg {
					hex = append(hex, false)
				}
				if p.Conv != 0 {
					hex = append(hex, strings.IndexByte("xXpo", p.Conv) >= 0)
				}
			}
		}
	}
	e := h.printing()
	for i, a := range args {
		h.shown(e, a, i < len(hex) && hex[i])
	}
}

// shown adds what is printed of x to the arguments of e.
func (h *handler) shown(e *event, x ast.Expr, hex bool) {
	v, d := h.value(x)
	switch {
	case d != nil:
		h.diags.Add(d)
	case v.pretty != nil:
		h.pretty(e, x, v.pretty)
	case v.isLit || v.line:
	default:
		h.argument(e, v, v.typ(hex || v.address))
	}
}

// argument adds an argument to e unless it has that, and gives its name.
func (h *handler) argument(e *event, v value, typ string) string {
	if v.field != "" {
		return v.field
	}
	for _, a := range e.args {
		if a.fetch == v.fetch && a.typ == typ {
			return a.name
		}
	}
	name := identifier(v.name, maxArg-3)
	switch name {
	case "cpu", "CPU", "comm", "COMM", "stacktrace", "hitcount", "common_pid", "common_type", "common_flags",
		"common_preempt_count":
		name += "_"
	}
	base := name
	for n := 2; slices.ContainsFunc(e.args, func(a arg) bool { return a.name == name }); n++ {
		name = base + "_" + string(rune('0'+n%10))
		if n >= 10 {
			name = base + "_" + string(rune('0'+n/10)) + string(rune('0'+n%10))
		}
	}
	e.args = append(e.args, arg{name, v.fetch, typ})
	return name
}

// pretty adds the values of $$parms and its like.
func (h *handler) pretty(e *event, x ast.Expr, parts []elab.PrettyPart) {
	name := ""
	for _, p := range parts {
		switch {
		case p.Conv == 0:
			name = p.Lit
			continue
		case p.AtEntry:
			h.no(x, "has the values of the entry at the entry only").Hintf("print them in a probe without .return")
			return
		case p.CString && (p.Conv == 's' || p.Conv == 'C'):
			fetch, why := h.text(p.Value, p.Kernel)
			if why != "" {
				h.no(x, "cannot read %s: it %s", strings.Trim(name, " ={},"), why)
				return
			}
			h.argument(e, value{name: name, fetched: fetched{fetch: fetch}, isText: true}, h.textType(p.Kernel))
			continue
		}
		if strings.IndexByte("dupx", p.Conv) < 0 || !p.Len.Empty() {
			h.no(x, "cannot show %s: it is no number", strings.Trim(name, " ={},")).
				Hintf("name the members that are wanted")
			return
		}
		f, why := h.number(p.Value)
		if why != "" {
			h.no(x, "cannot read %s: it %s", strings.Trim(name, " ={},"), why)
			return
		}
		h.argument(e, value{name: name, fetched: f}, f.typ(p.Conv != 'd' && p.Conv != 'u'))
	}
}

// textType is the type of an argument that is text of C.
func (h *handler) textType(kernel bool) string {
	if !kernel && h.site.Kind.InKernel() || h.proto.kind == 't' && !kernel {
		return "ustring"
	}
	return "string"
}

// refuse makes an error without adding it.
func (h *handler) refuse(n ast.Node, format string, args ...any) *diag.Diagnostic {
	var l diag.List
	w := writer{Options: h.Options, diags: l}
	return w.no(n, format, args...)
}
