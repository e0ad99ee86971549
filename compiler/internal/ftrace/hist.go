package ftrace

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
)

// update is "a[k] <<< v", "a[k]++" and the like, which become triggers that count (Documentation/trace/histogram.rst).
func (h *handler) update(n ast.Node, x ast.Expr, op string, y ast.Expr) {
	g, keys := h.global(x)
	if g == nil {
		if t, ok := ast.Unparen(x).(*ast.Target); ok {
			h.no(t, "changes nothing in what is traced")
			return
		}
		h.no(n, "keeps no values for later").Hintf("it counts: a[KEY]++ and a[KEY] <<< VALUE become triggers")
		return
	}
	sum := ast.Expr(nil)
	switch op {
	case "++":
	case "<<<", "+=":
		sum = y
	default:
		h.no(n, "only adds to variables of the script, it has no %s", op).
			Hintf("it counts: a[KEY]++ and a[KEY] <<< VALUE become triggers")
		return
	}
	if h.Perf {
		h.no(n, "does not count by keys").Hintf("--emit=ftrace makes triggers; perf stat -e counts events")
		return
	}
	e := h.acting(n, false)
	var names []string
	for _, k := range keys {
		name := h.key(e, k)
		if name == "" {
			return
		}
		names = append(names, name)
	}
	vals := []string{"hitcount"}
	if sum != nil {
		v, d := h.value(sum)
		switch {
		case d != nil:
			h.diags.Add(d)
			return
		case v.isLit && v.str == nil && v.num == 1:
		case v.isLit || v.isText || v.line || v.pretty != nil:
			h.no(sum, "adds up numbers of the program and the kernel only")
			return
		default:
			field := h.argument(e, v, v.typ(false))
			if b := h.buckets[g]; b != "" && len(keys) == 0 {
				names = append(names, field+b)
			} else {
				vals = append(vals, field)
			}
		}
	}
	if len(names) == 0 {
		names = []string{"common_type"} // the same in all hits: one row
	}
	filter := h.filter(e)
	e.trigger(fmt.Sprintf("hist:keys=%s:vals=%s:size=4096", strings.Join(names, ","), strings.Join(vals, ",")), filter)
}

// global gives the variable of the script that x is, or an element of.
func (h *handler) global(x ast.Expr) (*elab.Global, []ast.Expr) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Name:
		return h.probe.Info.Globs[x], nil
	case *ast.Index:
		return h.probe.Info.Globs[x.Array], x.Keys
	}
	return nil, nil
}

// key is the field by which is counted, "" after an error.
func (h *handler) key(e *event, k ast.Expr) string {
	if c, ok := ast.Unparen(k).(*ast.Call); ok && h.builtin(c) {
		switch c.Fun.Name {
		case "execname":
			return "common_pid.execname"
		case "kstack", "stack", "backtrace":
			return "common_stacktrace"
		}
	}
	v, d := h.value(k)
	switch {
	case d != nil:
		h.diags.Add(d)
	case v.field == "comm":
		return "common_pid.execname"
	case v.field == "cpu":
		return "common_cpu"
	case v.line && v.field == "":
		return "common_type" // one event, one function
	case v.isLit || v.pretty != nil:
		h.no(k, "counts by values of the program and the kernel only")
	default:
		return h.argument(e, v, v.typ(v.address))
	}
	return ""
}

// end looks at an end probe. What it prints of statistics is in the triggers' files.
func (w *writer) end(p *elab.Probe) {
	if w.Perf {
		w.no(p.Decl, "runs nothing at the end")
		return
	}
	ok := true
	no := func(n ast.Node, format string, args ...any) {
		if ok {
			w.no(n, format, args...).Hintf("the files \"hist\" of the events have counts and sums; an end probe may " +
				"print those, and @hist_log of a scalar")
		}
		ok = false
	}
	for _, b := range p.Bodies {
		ast.Inspect(b, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AtOp:
				w.statistic(p, n, no)
			case *ast.Call:
				if !sema.IsPrint(n.Fun.Name) || strings.HasPrefix(n.Fun.Name, "s") {
					no(n, "runs nothing at the end, so that there is no %s()", n.Fun.Name)
				}
			case *ast.Assign, *ast.Delete, *ast.While, *ast.For, *ast.EmbeddedExpr, *ast.Try:
				no(n, "runs nothing at the end")
			}
			return ok
		})
	}
	w.notes = append(w.notes, "what end probes print is in the files events/"+group+"/*/hist")
}

// statistic notes what an end probe shows of a global.
func (w *writer) statistic(p *elab.Probe, x *ast.AtOp, no func(ast.Node, string, ...any)) {
	switch x.Name {
	case "@count", "@sum", "@avg", "@entry", "@defined":
		return
	case "@hist_log", "@hist_linear":
	default:
		no(x, "has no %s: it counts and adds up", x.Name)
		return
	}
	name, ok := ast.Unparen(x.Args[0]).(*ast.Name)
	if !ok {
		no(x, "has no histograms of single elements")
		return
	}
	g := p.Info.Globs[name]
	b := ".log2"
	if x.Name == "@hist_linear" {
		width, ok := ast.Unparen(x.Args[3]).(*ast.Literal)
		if !ok || width.Num <= 0 {
			no(x, "has no such histogram")
			return
		}
		b = fmt.Sprintf(".buckets=%d", width.Num)
	}
	if g == nil || w.buckets[g] != "" && w.buckets[g] != b {
		no(x, "shows one kind of histogram of a variable")
		return
	}
	w.buckets[g] = b
}
