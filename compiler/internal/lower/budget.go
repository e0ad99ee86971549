package lower

import (
	"math"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
)

// unbounded is the cost of what may run any number of statements.
const unbounded = math.MaxInt32

// The action budget counts statements. Where a handler cannot run more than its limit
// on any path, nothing is counted at run time. Functions without loops and recursion
// are paid for by their callers.

// bodyCost is the most statements that bodies can run.
func (l *lowerer) bodyCost(in *elab.Info, bodies []*ast.Block) int {
	n := 0
	for _, b := range bodies {
		if b != nil {
			n = add(n, l.stmtCost(in, b))
		}
	}
	return n
}

// cost is the most statements that a call of f can run.
func (l *lowerer) cost(f *elab.Func) int {
	if n, ok := l.costs[f]; ok {
		return n
	}
	if l.recursive[f] {
		l.costs[f] = unbounded
		return unbounded
	}
	l.costs[f] = 0
	n := 0
	if f.Decl.Body != nil {
		n = l.stmtCost(&f.Info, f.Decl.Body)
	}
	if f.Next != nil {
		n = add(n, l.cost(f.Next))
	}
	l.costs[f] = n
	return n
}

func add(a, b int) int {
	if a >= unbounded-b {
		return unbounded
	}
	return a + b
}

// callCost is what the calls in n itself cost.
func (l *lowerer) callCost(in *elab.Info, n ast.Node) int {
	sum := 0
	if n == nil {
		return 0
	}
	sema.InspectLive(in, n, func(x ast.Node) bool {
		if c, ok := x.(*ast.Call); ok {
			if f := in.Calls[c]; f != nil {
				sum = add(sum, l.cost(f))
			}
		}
		return true
	})
	return sum
}

func (l *lowerer) stmtCost(in *elab.Info, s ast.Stmt) int {
	switch s := s.(type) {
	case nil:
		return 0
	case *ast.Block:
		n := 0
		if s != nil {
			for _, x := range s.Stmts {
				n = add(n, l.stmtCost(in, x))
			}
		}
		return n
	case *ast.If:
		if v, ok := in.Const[s.Cond]; ok {
			if v != 0 {
				return add(1, l.stmtCost(in, s.Then))
			}
			return add(1, l.stmtCost(in, s.Else))
		}
		return add(add(1, l.callCost(in, s.Cond)), max(l.stmtCost(in, s.Then), l.stmtCost(in, s.Else)))
	case *ast.While, *ast.For, *ast.Foreach:
		return unbounded
	case *ast.Try:
		return add(1, add(l.stmtCost(in, s.Body), l.stmtCost(in, s.Catch)))
	}
	return add(1, l.callCost(in, s))
}
