package ftrace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
)

// filter writes the conditions of a statement as a filter of e (Documentation/trace/events.rst), "" if there are none.
// What they compare becomes arguments of e.
func (h *handler) filter(e *event) string {
	var all []string
	for _, c := range h.conds {
		if b, ok := ast.Unparen(c.x).(*ast.Binary); ok && c.not && inverse[b.Op] != "" {
			b := *b
			b.Op = inverse[b.Op]
			c = cond{&b, false}
		}
		text, atom, d := h.predicate(e, c.x)
		if d != nil {
			h.diags.Add(d)
			return ""
		}
		switch {
		case text == "true" && !c.not || text == "false" && c.not:
			continue
		case text == "true" || text == "false":
			h.diags.Add(h.refuse(c.x, "has nothing to do here: the condition never holds"))
			return ""
		case c.not:
			text, atom = "!("+text+")", true
		}
		if !atom && len(h.conds) > 1 {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " && ")
}

// flipped is a comparison with its sides exchanged.
var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// inverse is a comparison that holds where another does not.
var inverse = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}

// predicate writes one condition. atom: it needs no parentheses.
func (h *handler) predicate(e *event, x ast.Expr) (text string, atom bool, d *diag.Diagnostic) {
	x = ast.Unparen(x)
	if n, ok := h.probe.Info.Const[x]; ok {
		return strconv.FormatBool(n != 0), true, nil
	}
	switch y := x.(type) {
	case *ast.Unary:
		if y.Op == "!" {
			text, _, d := h.predicate(e, y.X)
			switch text {
			case "true":
				return "false", true, d
			case "false":
				return "true", true, d
			}
			return "!(" + text + ")", true, d
		}
	case *ast.Binary:
		switch {
		case y.Op == "&&" || y.Op == "||":
			return h.both(e, y)
		case y.Op == "&":
			return h.compare(e, x, "!=", &ast.Literal{})
		case flipped[y.Op] != "":
			if h.targetProcess(y) {
				return strconv.FormatBool(y.Op == "=="), true, nil
			}
			return h.compare(e, y.X, y.Op, y.Y)
		case y.Op == "=~" || y.Op == "!~":
			return "", false, h.refuse(x, "has no regular expressions in filters").
				Hintf("isinstr(TEXT, \"PART\") becomes a pattern with *")
		}
	case *ast.Call:
		if y.Fun.Name == "isinstr" && h.builtin(y) {
			return h.inside(e, y)
		}
	case *ast.In:
		return "", false, h.refuse(x, "cannot look into arrays")
	}
	return h.compare(e, x, "!=", &ast.Literal{})
}

// targetProcess reports whether x compares the process with that of -x, to which all events are limited.
func (h *handler) targetProcess(x *ast.Binary) bool {
	name := func(x ast.Expr) string {
		if c, ok := ast.Unparen(x).(*ast.Call); ok && h.builtin(c) {
			return c.Fun.Name
		}
		return ""
	}
	a, b := name(x.X), name(x.Y)
	return h.PID != 0 && (x.Op == "==" || x.Op == "!=") && (a == "pid" && b == "target" || a == "target" && b == "pid")
}

// both writes two conditions.
func (h *handler) both(e *event, x *ast.Binary) (string, bool, *diag.Diagnostic) {
	a, atomA, d := h.predicate(e, x.X)
	if d != nil {
		return "", false, d
	}
	b, atomB, d := h.predicate(e, x.Y)
	if d != nil {
		return "", false, d
	}
	decides := strconv.FormatBool(x.Op == "||") // what makes the other side of no matter
	switch {
	case a == decides || b == decides:
		return decides, true, nil
	case a == "true" || a == "false":
		return b, atomB, nil
	case b == "true" || b == "false":
		return a, atomA, nil
	}
	if !atomA {
		a = "(" + a + ")"
	}
	if !atomB {
		b = "(" + b + ")"
	}
	return a + " " + x.Op + " " + b, false, nil
}

// compare writes "X op Y", of which one is a constant.
func (h *handler) compare(e *event, x ast.Expr, op string, y ast.Expr) (string, bool, *diag.Diagnostic) {
	mask := (*int64)(nil)
	v, d := h.masked(x, &mask)
	w, e2 := h.value(y)
	if d == nil && v.isLit && mask == nil {
		v, d = h.masked(y, &mask)
		w, e2 = h.value(x)
		op = flipped[op]
	}
	if d == nil {
		d = e2
	}
	switch {
	case d != nil:
		return "", false, d
	case !w.isLit || v.isLit || v.pretty != nil:
		return "", false, h.refuse(x, "compares with constants only")
	case v.isText != (w.str != nil):
		return "", false, h.refuse(x, "has no such comparison")
	case v.line && v.field == "":
		return "", false, h.refuse(x, "cannot compare this: it is the same in all hits of an event")
	case v.isText:
		return h.compareText(e, x, v, op, *w.str)
	}
	order := op != "==" && op != "!="
	typ := v.typ(v.address && !order && w.num >= 0)
	narrow := v.field != "" && !v.line // a word of the event may hold a narrower variable
	switch {
	case narrow && (order || w.num < 0) && !v.signed:
		return "", false, h.refuse(x, "compares %s without a sign: with == or != and positive numbers only",
			v.field)
	case mask != nil && op == "==" && w.num != 0 || mask != nil && order, mask != nil && op == "!=" && w.num != 0:
		return "", false, h.refuse(x, "tests whether bits are set, not what they are").Hintf("($x & BITS) != 0")
	case mask != nil && *mask < 0:
		return "", false, h.refuse(x, "takes no negative bits")
	case !v.signed && v.in == 0 && w.num < 0 && !v.line:
		return strconv.FormatBool(op == "!=" || op == ">" || op == ">="), true, nil
	}
	name := h.argument(e, v, typ)
	switch {
	case mask != nil && op == "!=":
		return fmt.Sprintf("%s & %d", name, *mask), true, nil
	case mask != nil:
		return fmt.Sprintf("!(%s & %d)", name, *mask), true, nil
	case v.address && !order:
		return fmt.Sprintf("%s %s %#x", name, op, uint64(w.num)), true, nil
	}
	return fmt.Sprintf("%s %s %d", name, op, w.num), true, nil
}

// masked takes "x & CONSTANT" apart.
func (h *handler) masked(x ast.Expr, mask **int64) (value, *diag.Diagnostic) {
	b, ok := ast.Unparen(x).(*ast.Binary)
	if !ok || b.Op != "&" {
		return h.value(x)
	}
	v, d := h.value(b.X)
	m, d2 := h.value(b.Y)
	if d == nil && v.isLit {
		v, m = m, v
	}
	switch {
	case d != nil:
		return v, d
	case d2 != nil:
		return v, d2
	case !m.isLit || m.str != nil || v.isLit || v.isText:
		return v, h.refuse(x, "tests bits of a variable by a constant only")
	}
	*mask = &m.num
	return v, nil
}

// compareText writes a comparison of texts.
func (h *handler) compareText(e *event, x ast.Expr, v value, op, s string) (string, bool, *diag.Diagnostic) {
	if op != "==" && op != "!=" {
		return "", false, h.refuse(x, "compares texts by == and != only")
	}
	quoted, d := h.quoted(x, s)
	if d != nil {
		return "", false, d
	}
	return fmt.Sprintf("%s %s %s", h.argument(e, v, v.typeName), op, quoted), true, nil
}

// inside writes isinstr(text, "part").
func (h *handler) inside(e *event, c *ast.Call) (string, bool, *diag.Diagnostic) {
	v, d := h.value(c.Args[0])
	w, d2 := h.value(c.Args[1])
	switch {
	case d != nil:
		return "", false, d
	case d2 != nil:
		return "", false, d2
	case !v.isText || w.str == nil:
		return "", false, h.refuse(c, "looks for a constant in a text of the program only")
	case strings.ContainsAny(*w.str, "*?[\\"):
		return "", false, h.refuse(c, "takes *, ? and [ in %q as parts of a pattern", *w.str)
	}
	quoted, d := h.quoted(c, "*"+*w.str+"*")
	if d != nil {
		return "", false, d
	}
	return fmt.Sprintf("%s ~ %s", h.argument(e, v, v.typeName), quoted), true, nil
}

// quoted writes a text as filters have it.
func (h *handler) quoted(x ast.Expr, s string) (string, *diag.Diagnostic) {
	const most = 200 // MAX_FILTER_STR_VAL less some
	for _, c := range []byte(s) {
		if c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			return "", h.refuse(x, "takes no quotes, backslashes and control characters in a filter")
		}
	}
	if len(s) > most {
		return "", h.refuse(x, "takes no text of more than %d bytes in a filter", most)
	}
	return `"` + s + `"`, nil
}
