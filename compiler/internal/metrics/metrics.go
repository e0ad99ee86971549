// Package metrics checks the globals that a script declares as metrics.
//
// In: a program whose names and types are known. Out: what is wrong; the text of each metric at its global, and a
// histogram for aggregates that have none.
package metrics

import (
	"strconv"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/metric"
	"github.com/gostap/gostap/compiler/types"
)

// BadMetric is the kind of its messages.
const BadMetric diag.Code = "bad-metric"

// Check looks at the declarations of p.
func Check(p *elab.Program) diag.List {
	c := &checker{named: map[string]*ast.Attribute{}}
	for _, g := range p.Globals {
		if len(g.Decl.Attributes) > 0 {
			c.global(g)
		}
	}
	if len(c.counters) > 0 {
		for _, pr := range p.Probes {
			for _, body := range pr.Bodies {
				c.changes(&pr.Info, body)
			}
		}
		for _, f := range p.Funcs {
			if f.Decl.Body != nil {
				c.changes(&f.Info, f.Decl.Body)
			}
		}
	}
	return c.ds
}

type checker struct {
	ds       diag.List
	named    map[string]*ast.Attribute // metrics by their names
	counters []*elab.Global
}

func (c *checker) errorf(n ast.Node, format string, args ...any) *diag.Diagnostic {
	return c.ds.Errorf(diag.Semantic, BadMetric, n.Range(), format, args...)
}

// global checks what is said of one.
func (c *checker) global(g *elab.Global) {
	var d metric.Decl
	said := map[string]*ast.Attribute{}
	for _, a := range g.Decl.Attributes {
		word, v := a.Name.Name, a.Value
		text := v.Str
		switch {
		case said[word] != nil:
			c.errorf(a, "%s is said twice", word).Note(said[word].Range(), "here for the first time")
			return
		case v.IsString == (word == "max"):
			kind := "a string"
			if v.IsString {
				kind = "a number"
			}
			c.errorf(v, "%s takes %s", word, kind)
			return
		case !v.IsString:
			text = strconv.FormatInt(v.Num, 10)
		}
		if err := d.Set(word, text); err != nil {
			e := c.errorf(a, "%v", err)
			if near := diag.Nearest(word, ast.Attributes, 1); len(near) > 0 && near[0] != word {
				e.Hintf("did you mean %s?", near[0])
			}
			return
		}
		said[word] = a
	}
	at := said["metric"]
	labels := ast.Node(g.Decl.Name)
	if l := said["labels"]; l != nil {
		labels = l
	}
	switch {
	case at == nil:
		c.errorf(g.Decl.Attributes[0], "%s belongs to a metric", g.Decl.Attributes[0].Name.Name).
			Hintf(`global %s metric "NAME" makes one of it`, g.Decl.Name.Name)
	case c.named[d.Name] != nil:
		c.errorf(at, "two globals are the metric %s", d.Name).Note(c.named[d.Name].Range(), "the other one")
	case g.Type == types.String || g.Stack:
		c.errorf(at, "%s is text, and a metric is a number or an aggregate", g.Decl.Name.Name).
			Hintf("a text can be a label: the key of an array")
	case len(d.Labels) != max(g.Arity, 0):
		e := c.errorf(labels, "%s has %s and %s", g.Decl.Name.Name, count(max(g.Arity, 0), "key"),
			count(len(d.Labels), "label"))
		if g.Arity > 0 {
			e.Hintf(`each key has its label: labels "a, b" are the two of x[first, second]`)
		}
	case g.Type == types.Stats && d.Counter():
		c.errorf(at, "an aggregate is a histogram, and the name of a histogram does not end in _total").
			Hintf("its count and its sum are told as %s_count and %[1]s_sum", d.Name[:len(d.Name)-len("_total")])
	default:
		for i, stack := range g.StackKeys {
			if stack {
				c.errorf(labels, "key %d of %s is a stack, which is no label", i+1, g.Decl.Name.Name)
				return
			}
		}
		c.named[d.Name] = at
		g.Metric = d.String()
		if d.Counter() {
			c.counters = append(c.counters, g)
		}
		if g.Type == types.Stats && len(g.Stat.Hists) == 0 {
			g.Stat.Hists = []ir.Hist{{Scale: g.Scale}}
		}
	}
}

// changes refuses what makes a counter smaller, or another number.
func (c *checker) changes(in *elab.Info, body ast.Node) {
	check := func(x ast.Expr, at ast.Node, op string) {
		x = ast.Unparen(x)
		var of ast.Node = x
		if ix, ok := x.(*ast.Index); ok {
			of = ix.Array
		}
		g := in.Globs[of]
		if g == nil || op == "++" || op == "+=" {
			return
		}
		for _, counter := range c.counters {
			if counter == g {
				c.errorf(at, "%s is a counter, which only grows, and %s sets it", g.Decl.Name.Name, op).
					Note(g.Decl.Attributes[0].Range(), "a metric whose name ends in _total is a counter").
					Hintf("add to it with ++ or +=, start again with delete, or give it another name")
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Assign:
			check(n.X, n, n.Op)
		case *ast.Postfix:
			check(n.X, n, n.Op)
		case *ast.Unary:
			if n.Op == "--" {
				check(n.X, n, n.Op)
			}
		}
		return true
	})
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "one " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
