package target

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/types"
)

// words reports whether values of t are several words of which the first is 0 for nil, and only for nil: a slice's
// address, an interface's type or table of methods.
func words(t *types.Ctype) bool {
	return t != nil && (t.Kind == types.GoInterface || t.Kind == types.GoSlice)
}

// asked notes that e is a condition, and so what in it is looked at only for being nil.
func (w *walker) asked(e ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.Unary:
		if x.Op == "!" {
			w.asked(x.X)
		}
	case *ast.Binary:
		if x.Op == "&&" || x.Op == "||" {
			w.asked(x.X)
			w.asked(x.Y)
		}
	case *ast.Target, *ast.AtOp:
		w.truths[x] = true
	}
}

// compareNil looks at x == y, or y == x, where y is the word nil.
func (w *walker) compareNil(x, y ast.Expr) {
	name, ok := ast.Unparen(y).(*ast.Name)
	x = ast.Unparen(x)
	if !ok || name.Name != "nil" || !isTarget(x) {
		return
	}
	w.truths[x] = true
	t := w.target(x)
	if t.Err != nil {
		w.nils[name] = elab.Nil{X: Text(x)} // refused for that reason
		return
	}
	if t.Ctype == nil || !t.Ctype.Go && !words(t.Ctype) {
		return // nothing of Go's
	}
	n := elab.Nil{X: Text(x), Words: words(t.Ctype)}
	if !n.Words && !nilable(t.Ctype) {
		n.Why = fmt.Sprintf("its type is %s", t.Ctype.Name)
	}
	w.nils[name] = n
}

// nilable reports whether a single word of type t can be nil.
func nilable(t *types.Ctype) bool {
	switch t.Kind {
	case types.Pointer, types.GoMap, types.GoChan, types.GoFunc:
		return true
	}
	return false
}
