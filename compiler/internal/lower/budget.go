package lower

import (
	"fmt"
	"math"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/sema"
	"github.com/gostap/gostap/compiler/ir"
)

// unbounded is the cost of what may run any number of statements.
const unbounded = math.MaxInt32

// The action budget counts statements. Where a handler cannot run more than its limit
// on any path, nothing is counted at run time. Functions without loops and recursion
// are paid for by their callers.
//
// Functions of the library that is built in cost nothing, as if they were parts of the
// language: what a script may do does not hang on how they are written. Each call of one
// has a number of turns of its own for its loops, so that none goes on for ever. Recursive
// ones are counted like others.

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
	if f.Builtin {
		l.costs[f] = 0
		return 0
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

// leastTurns is how many turns the loops of one call of a library function have at least: more than a string
// has bytes and a process has threads, and done in a millisecond.
const leastTurns = 16384

// free reports whether f is a function of the library that is not counted.
func (f *fn) free() bool { return f.ef != nil && f.ef.Builtin && !f.recursive[f.ef] }

// turn takes one turn off what the loops of a library function have left.
func (f *fn) turn() {
	if f.turns == ir.NoReg {
		return
	}
	f.b.Op(ir.OpSub, f.turns, ir.R(f.turns), ir.I(1))
	over, on := f.b.Block(), f.b.Block()
	f.b.Branch(f.b.Bin(ir.OpLt, ir.R(f.turns), ir.I(0)), over, on)
	f.b.SetBlock(over)
	f.b.Fail(ir.ErrUser, ir.S(fmt.Sprintf("%s takes more than %d turns of its loop", f.ef.Name, f.turnLimit())))
	f.to(on)
}

func (f *fn) turnLimit() int64 {
	l := f.p.Limits
	return int64(max(leastTurns, 8*l.MaxString, l.MaxAction, l.MaxActionInt))
}

// loops reports whether s has a loop that does not go over an array.
func loops(s ast.Node) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.While, *ast.For:
			found = true
		}
		return !found
	})
	return found
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
