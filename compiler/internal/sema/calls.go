package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
)

// callees lists the functions that in calls, each once, with the overloads that they
// can pass on to.
func callees(in *elab.Info, body *ast.Block) []*elab.Func {
	var out []*elab.Func
	seen := map[*elab.Func]bool{}
	InspectLive(in, body, func(n ast.Node) bool {
		if c, ok := n.(*ast.Call); ok {
			for f := in.Calls[c]; f != nil; f = f.Next {
				if !seen[f] {
					seen[f] = true
					out = append(out, f)
				}
			}
		}
		return true
	})
	return out
}

// graph is who calls whom, or passes a call on to whom.
type graph map[*elab.Func][]*elab.Func

func callGraph(p *elab.Program) graph {
	g := graph{}
	for _, f := range p.Funcs {
		if f.Decl.Body != nil {
			g[f] = callees(&f.Info, f.Decl.Body)
			if f.Next != nil {
				g[f] = append(g[f], f.Next)
			}
		}
	}
	return g
}

// Recursive finds the functions that can reach themselves through calls.
func Recursive(p *elab.Program) map[*elab.Func]bool {
	rec := map[*elab.Func]bool{}
	g := callGraph(p)
	// Tarjan's strongly connected components.
	type state struct {
		index, low int
		open       bool
	}
	states := map[*elab.Func]*state{}
	var stack []*elab.Func
	var visit func(f *elab.Func) *state
	visit = func(f *elab.Func) *state {
		s := &state{index: len(states) + 1, low: len(states) + 1, open: true}
		states[f] = s
		stack = append(stack, f)
		for _, c := range g[f] {
			if c == f {
				rec[f] = true
			}
			if o := states[c]; o == nil {
				s.low = min(s.low, visit(c).low)
			} else if o.open {
				s.low = min(s.low, o.index)
			}
		}
		if s.low == s.index {
			i := len(stack) - 1
			for stack[i] != f {
				i--
			}
			for _, m := range stack[i:] {
				states[m].open = false
				if len(stack)-i > 1 {
					rec[m] = true
				}
			}
			stack = stack[:i]
		}
		return s
	}
	for _, f := range p.Funcs {
		if states[f] == nil {
			visit(f)
		}
	}
	return rec
}
