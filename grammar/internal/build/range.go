package build

import (
	"fmt"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// foreachOver makes the loop of "foreach (v = k in $x limit n) body":
//
//	limit = n; position = 0
//	for (; (limit-- > 0) && (position = next of $x); ) { k = key of $x; v = element of $x; body }
func (b *Builder) foreachOver(s *ast.Foreach, over *stapparse.ForeachOverContext) {
	at := place(over)
	variable := func() *ast.Target {
		ks := kids(over)
		p := part{x: b.target(leaf(ks[0])), first: leaf(ks[0]), last: leaf(ks[0])}
		if len(ks) > 1 {
			p = b.suffixes(p, ks[1:])
		}
		return p.x.(*ast.Target)
	}
	s.Over = variable()
	switch {
	case s.Over.Pretty > 0:
		b.errorf(code.BadForeach, at.Span, "foreach goes over values, and $ makes text of them").Hintf("leave it out")
	case s.Sort != 0:
		b.errorf(code.BadForeach, at.Span, "what the program has is not sorted").
			Hintf("keep it in an array of the script, and sort that")
	case len(s.Keys) != 1:
		b.errorf(code.BadForeach, at.Span, "a variable of the program has one index").
			Hintf("foreach (value = index in $x)")
	}
	said, errors, warnings := len(*b.Diags), b.errors, b.warnings // what is wrong in the variable was said once
	b.ranges++
	name := func(what string) *ast.Name {
		return &ast.Name{Place: at, Name: fmt.Sprintf("%s of foreach %d", what, b.ranges)}
	}
	number := func(n int64) *ast.Literal { return &ast.Literal{Place: at, Num: n, Text: fmt.Sprint(n)} }
	set := func(x, y ast.Expr) *ast.Assign { return &ast.Assign{Place: at, Op: "=", X: x, Y: y} }
	op := func(what string) *ast.AtOp {
		return &ast.AtOp{Place: at, Name: what, Args: []ast.Expr{variable(), name("position")}}
	}
	do := func(x ast.Expr) ast.Stmt { return &ast.ExprStmt{Place: ast.Place{Span: x.Range()}, X: x} }
	begin := []ast.Stmt{do(set(name("position"), number(0)))}
	var goes ast.Expr = &ast.Paren{Place: at, X: set(name("position"), op(ast.RangeNext))}
	if s.Limit != nil {
		lp := ast.Place{Span: s.Limit.Range()}
		begin = append(begin, do(&ast.Assign{Place: lp, Op: "=", X: name("limit"), Y: s.Limit}))
		left := &ast.Binary{Place: lp, Op: ">", X: &ast.Postfix{Place: lp, Op: "--", X: name("limit")}, Y: number(0)}
		goes = &ast.Binary{Place: at, Op: "&&", X: left, Y: goes}
	}
	var body []ast.Stmt
	assign := func(id *ast.Ident, what string) {
		x := &ast.Name{Place: id.Place, Name: id.Name}
		body = append(body, do(&ast.Assign{Place: id.Place, Op: "=", X: x, Y: op(what)}))
	}
	for _, k := range s.Keys[:min(1, len(s.Keys))] {
		assign(k, ast.RangeKey)
	}
	if s.Value != nil {
		assign(s.Value, ast.RangeElem)
	}
	body = append(body, s.Body)
	whole := ast.Place{Span: source.Span{From: at.Span.From, To: s.Body.Range().To}}
	s.Loop = &ast.Block{Place: s.Place, Stmts: append(begin,
		&ast.For{Place: s.Place, Cond: goes, Body: &ast.Block{Place: whole, Stmts: body}})}
	*b.Diags, b.errors, b.warnings = (*b.Diags)[:said], errors, warnings
}
