package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/source"
)

// Check refuses what has names and types but breaks a rule of the language: arrays
// that change under a loop over them, what is entry values but is not known at the
// entry.
func Check(p *elab.Program) diag.List {
	c := &checker{p: p, changed: map[*elab.Func]map[*elab.Global]source.Span{},
		quiet: map[*elab.Global]map[*elab.Func]bool{}}
	eachBody(p, c.loops)
	return c.ds
}

type checker struct {
	ds    diag.List
	p     *elab.Program
	graph graph // made when the first call in a loop is met
	// changed are the arrays that a function changes itself.
	changed map[*elab.Func]map[*elab.Global]source.Span
	// quiet are the functions that do not change a global, as far as that was asked.
	quiet map[*elab.Global]map[*elab.Func]bool
}

// changes calls f for each array that n itself changes: op is how, index the element
// (nil for all).
func changes(in *elab.Info, n ast.Node, f func(g *elab.Global, op string, index *ast.Index)) {
	place := func(e ast.Expr, op string) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Index:
			if g := in.Globs[e.Array]; g != nil {
				f(g, op, e)
			}
		case *ast.Name:
			if g := in.Globs[e]; g != nil && op == "delete" {
				f(g, op, nil)
			}
		}
	}
	switch n := n.(type) {
	case *ast.Assign:
		place(n.X, n.Op)
	case *ast.Postfix:
		place(n.X, n.Op)
	case *ast.Unary:
		if n.Op == "++" || n.Op == "--" {
			place(n.X, n.Op)
		}
	case *ast.Delete:
		place(n.X, "delete")
	}
}

// direct gives the arrays that f changes itself, each with a place where that happens.
func (c *checker) direct(f *elab.Func) map[*elab.Global]source.Span {
	set, ok := c.changed[f]
	if ok || f.Decl.Body == nil {
		return set
	}
	set = map[*elab.Global]source.Span{}
	c.changed[f] = set
	InspectLive(&f.Info, f.Decl.Body, func(n ast.Node) bool {
		changes(&f.Info, n, func(g *elab.Global, _ string, _ *ast.Index) {
			if _, ok := set[g]; !ok {
				set[g] = n.Range()
			}
		})
		return true
	})
	return set
}

// change finds a place where f, or what it calls, changes g; not in functions that
// are in seen, to which it adds those that it has been in.
func (c *checker) change(f *elab.Func, g *elab.Global, seen map[*elab.Func]bool) (at source.Span, ok bool) {
	if seen[f] {
		return at, false
	}
	seen[f] = true
	if at, ok = c.direct(f)[g]; ok {
		return at, true
	}
	for _, callee := range c.graph[f] {
		if at, ok = c.change(callee, g, seen); ok {
			return at, true
		}
	}
	return at, false
}

func (c *checker) loops(in *elab.Info, body *ast.Block) {
	InspectLive(in, body, func(n ast.Node) bool {
		if loop, ok := n.(*ast.Foreach); ok && loop.Array != nil {
			if g := in.Globs[loop.Array]; g != nil {
				c.loop(in, loop, g)
			}
		}
		return true
	})
}

// loop refuses changes to g inside of a loop over it, as stap does, also to elements that exist. The
// keys of a slice are worked out before the loop begins, and may change g.
func (c *checker) loop(in *elab.Info, loop *ast.Foreach, g *elab.Global) {
	name := g.Decl.Name.Name
	look := func(n ast.Node) bool {
		changes(in, n, func(v *elab.Global, op string, _ *ast.Index) {
			if v != g {
				return
			}
			d := c.ds.Errorf(diag.Semantic, diag.ForeachChange, n.Range(), "%s is changed inside of a loop over it",
				name)
			d.Note(loop.Array.Span, "the loop is over %s", name)
			if op == "delete" {
				d.Hintf("delete %s after the loop, or note the keys in another array", name)
			} else {
				d.Hintf("put the new values into another array, and go through that one behind the loop")
			}
		})
		if call, ok := n.(*ast.Call); ok {
			for f := in.Calls[call]; f != nil; f = f.Next {
				if at, ok := c.calls(f, g); ok {
					c.ds.Errorf(diag.Semantic, diag.ForeachChange, call.Span,
						"%s() changes %s inside of a loop over it", call.Fun.Name, name).
						Note(at, "it is changed here").Note(loop.Array.Span, "the loop is over %s", name)
					break
				}
			}
		}
		return true
	}
	if loop.Limit != nil {
		InspectLive(in, loop.Limit, look)
	}
	InspectLive(in, loop.Body, look)
}

// calls finds a place where a call of f changes g.
func (c *checker) calls(f *elab.Func, g *elab.Global) (source.Span, bool) {
	if c.graph == nil {
		c.graph = callGraph(c.p)
	}
	seen := c.quiet[g]
	if seen == nil {
		seen = map[*elab.Func]bool{}
	}
	at, ok := c.change(f, g, seen)
	if ok {
		// Of those that were seen on the way, some may lead here by a circle.
		seen = nil
	}
	c.quiet[g] = seen
	return at, ok
}
