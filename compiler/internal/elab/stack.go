package elab

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/types"
)

// NumberStacks makes numbers of all stacks of a program whose types are known, and notes where they were: what is
// printed of them is no number.
func (p *Program) NumberStacks() {
	number := func(t *types.Type) bool {
		if *t != types.Stack {
			return false
		}
		*t = types.Long
		return true
	}
	inside := func(in *Info) {
		for e, t := range in.Types {
			if number(&t) {
				if in.Stacks == nil {
					in.Stacks = map[ast.Expr]bool{}
				}
				in.Types[e], in.Stacks[e] = t, true
			}
		}
		for _, l := range in.Locals {
			number(&l.Type)
		}
	}
	for _, g := range p.Globals {
		g.Stack = number(&g.Type)
		g.StackKeys = make([]bool, len(g.Keys))
		for i := range g.Keys {
			g.StackKeys[i] = number(&g.Keys[i])
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
