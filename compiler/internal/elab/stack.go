package elab

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/types"
)

// NumberTypes makes numbers of all stacks and floats of a program whose types are known, and notes where they were:
// what is printed of them, and how it is computed with, is not as of numbers.
func (p *Program) NumberTypes() {
	number := func(t *types.Type) (stack, float bool) {
		stack, float = *t == types.Stack, *t == types.Real
		if stack || float {
			*t = types.Long
		}
		return stack, float
	}
	inside := func(in *Info) {
		for e, t := range in.Types {
			stack, float := number(&t)
			if stack || float {
				in.Types[e] = t
			}
			if stack {
				if in.Stacks == nil {
					in.Stacks = map[ast.Expr]bool{}
				}
				in.Stacks[e] = true
			}
			if float {
				if in.Floats == nil {
					in.Floats = map[ast.Expr]bool{}
				}
				in.Floats[e] = true
			}
		}
		for _, l := range in.Locals {
			number(&l.Type)
		}
	}
	for _, g := range p.Globals {
		g.Stack, g.Float = number(&g.Type)
		g.StackKeys = make([]bool, len(g.Keys))
		for i := range g.Keys {
			g.StackKeys[i], _ = number(&g.Keys[i])
		}
	}
	for _, f := range p.Funcs {
		number(&f.Result)
		for _, l := range f.Params {
			number(&l.Type)
		}
		inside(&f.Info)
	}
	for _, pr := range p.Probes {
		inside(&pr.Info)
	}
}
