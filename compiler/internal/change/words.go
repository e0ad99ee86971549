package change

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/internal/target"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/compiler/types"
)

// mostWords bounds what is copied at once.
const mostWords = 64

// dest is what a value is assigned to. args are the expressions that the place depends on.
type dest struct {
	name  string
	at    source.Span
	place loc.Place
	args  []ast.Expr
	// leaves: it is a result of the function that is left.
	leaves bool
}

func count(n int, what string) string {
	switch {
	case what == "":
		return fmt.Sprint(n)
	case n == 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// manyWords reports whether values of type t are more than one number.
func manyWords(t *types.Ctype) bool {
	switch t.Kind {
	case types.Struct, types.Union, types.GoString, types.GoSlice, types.GoInterface:
		return true
	}
	return false
}

// whole gives the target that e is if its value is more than a number.
func (r *rewriter) whole(e ast.Expr) *elab.Target {
	t := r.p.Info.Targets[ast.Unparen(e)]
	if t == nil || t.Place.Type == nil || t.AtEntry || t.Procfs || t.Inner != nil || t.Pretty != nil ||
		len(t.Texts) > 0 || !manyWords(t.Place.Type) || t.Err == nil && t.Type != types.String {
		return nil
	}
	if _, ok := ast.Unparen(e).(*ast.Unary); ok {
		return nil // an address
	}
	return t
}

// nothing reports whether e stands for the value of a variable that nothing was assigned to.
func nothing(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Literal:
		return !e.IsFloat && e.Num == 0 && e.Str == ""
	case *ast.Name:
		return e.Name == "nil"
	}
	return false
}

// value adds to block what reads y, and gives what adds its assignment to into; nil if that cannot be.
func (r *rewriter) value(block *ast.Block, into dest, y ast.Expr) func() {
	typ := into.place.Type
	if !manyWords(typ) {
		v := r.keep(block, y)
		return func() { r.set(block, into, into.place, v) }
	}
	no := func(format string, args ...any) func() {
		r.ds.Errorf(diag.Semantic, diag.TargetWrite, into.at, "%s cannot be assigned to: "+format,
			append([]any{into.name}, args...)...)
		return nil
	}
	if !plain(into.args) {
		return no("an index that changes something would be computed once for each word")
	}
	from := r.whole(y)
	switch {
	case from == nil && !nothing(y):
		r.ds.Errorf(diag.Semantic, diag.TargetWrite, y.Range(), "%s is of type %s, and only a value of the program of "+
			"that type can be assigned to it, or 0", into.name, typ.Name).
			Hintf("@var(\"io.EOF\") and $x are such values, if they are of this type")
		return nil
	case from != nil && !alike(typ, from.Place.Type):
		r.ds.Errorf(diag.Semantic, diag.TargetWrite, y.Range(), "%s is of type %s, and %s of type %s", into.name,
			typ.Name, target.Text(ast.Unparen(y)), from.Place.Type.Name)
		return nil
	case typ.Size < 0 || typ.Size > 8*mostWords:
		return no("it has %d bytes, and at most %d are copied at once", typ.Size, 8*mostWords)
	}
	pieces := into.place
	if from != nil && pieces.InMemory {
		pieces = from.Place
	}
	var sets []func()
	for _, c := range cuts(pieces, typ.Size) {
		part := target.Part(into.place, c.off, c.typ)
		if !part.InMemory && len(part.Pieces) == 0 {
			continue // padding
		}
		var v ast.Expr = &ast.Literal{Place: ast.Place{Span: y.Range()}}
		if from != nil {
			w, err := target.Word(target.Part(from.Place, c.off, c.typ), c.typ.Size)
			if err != nil {
				r.ds.Errorf(diag.Semantic, diag.TargetWrite, y.Range(), "%s: %v", target.Text(ast.Unparen(y)), err)
				return nil
			}
			node := r.node(y.Range(), target.Text(ast.Unparen(y)),
				&elab.Target{Type: types.Long, Value: w, Ctype: c.typ, Place: target.Part(from.Place, c.off, c.typ),
					Args: from.Args})
			v = r.keep(block, node)
		}
		sets = append(sets, func() { r.set(block, into, part, v) })
	}
	return func() {
		for _, set := range sets {
			set()
		}
	}
}

// alike reports whether values of both types are made of the same words, with the same meaning.
func alike(a, b *types.Ctype) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Size == b.Size && a.Empty == b.Empty && a.Pkg == b.Pkg
}

// plain reports whether expressions can be computed several times.
func plain(es []ast.Expr) bool {
	ok := true
	for _, e := range es {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.Assign, *ast.Postfix, *ast.Call, *ast.EmbeddedExpr:
				ok = false
			}
			return ok
		})
	}
	return ok
}

// cut is a part of a value that fits a number.
type cut struct {
	off int64
	typ *types.Ctype
}

var numbers = map[int64]*types.Ctype{}

func init() {
	for _, n := range []int64{1, 2, 4, 8} {
		numbers[n] = &types.Ctype{Kind: types.Int, Name: fmt.Sprintf("uint%d", 8*n), Size: n}
	}
}

// cuts divides a value: at the borders of its pieces, and such that each part is a number.
func cuts(pl loc.Place, size int64) []cut {
	var out []cut
	add := func(off, end int64) {
		for off < end {
			n := int64(8)
			for n > end-off || off%n != 0 {
				n /= 2
			}
			out = append(out, cut{off, numbers[n]})
			off += n
		}
	}
	if pl.InMemory {
		add(0, size)
		return out
	}
	for _, p := range pl.Pieces {
		add(p.Off, min(p.Off+p.Size, size))
	}
	return out
}

// node makes an expression that stands for t.
func (r *rewriter) node(at source.Span, text string, t *elab.Target) *ast.Target {
	n := &ast.Target{Place: ast.Place{Span: at}, Name: text}
	if r.p.Info.Targets == nil {
		r.p.Info.Targets = map[ast.Expr]*elab.Target{}
	}
	r.p.Info.Targets[n] = t
	return n
}

// number makes an expression of what p computes.
func (r *rewriter) number(c *ast.Call, p loc.Prog) *ast.Target {
	return r.node(c.Range(), c.Fun.Name, &elab.Target{Type: types.Long, Value: p, Ctype: numbers[8]})
}

// keep adds to block that e is kept in a variable, and gives that; constants need none.
func (r *rewriter) keep(block *ast.Block, e ast.Expr) ast.Expr {
	if _, ok := ast.Unparen(e).(*ast.Literal); ok {
		return e
	}
	r.n++
	pl := ast.Place{Span: e.Range()}
	name := fmt.Sprintf("__value%d", r.n)
	block.Stmts = append(block.Stmts, &ast.ExprStmt{Place: pl, X: &ast.Assign{Place: pl, Op: "=",
		X: &ast.Name{Place: pl, Name: name}, Y: e}})
	return &ast.Name{Place: pl, Name: name}
}

// set adds to block that a part of into becomes v.
func (r *rewriter) set(block *ast.Block, into dest, part loc.Place, v ast.Expr) {
	pl := ast.Place{Span: into.at}
	part.Writable = true
	t := &elab.Target{Type: types.Long, Ctype: part.Type, Place: part, Args: into.args, Leaves: into.leaves}
	t.Value, _ = target.Word(part, part.Type.Size)
	block.Stmts = append(block.Stmts, &ast.ExprStmt{Place: pl, X: &ast.Assign{Place: pl, Op: "=",
		X: r.node(into.at, into.name, t), Y: v}})
}
