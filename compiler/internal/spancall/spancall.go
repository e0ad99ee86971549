// Package spancall has span(), which prints something that took time: its name, how long it took, and more values.
//
// In: a call span(NAME, NS, VALUES...) as it is parsed. Out: the call of println() that prints it, as
// "NAME 1200 ns value=1 other=x", marked as that of a span, so that records have the name, the time and the values.
package spancall

import (
	"strconv"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/argname"
)

// Name is that of the function. A function of the script with this name is called instead.
const Name = "span"

// Rewrite makes a call of println() of one of span(), or tells what is wrong with it.
func Rewrite(c *ast.Call) (ds diag.List) {
	if len(c.Args) < 2 {
		ds.Errorf(diag.Semantic, diag.ArgumentCount, c.Fun.Span,
			"span takes a name, how long it took in ns, and the values that are to be told").
			Hintf("in a .return probe: span(ppfunc(), gettimeofday_ns() - @entry(gettimeofday_ns()), $return)")
		c.Fun.Name, c.Args = "println", nil
		return ds
	}
	place := ast.Place{Span: c.Fun.Span}
	text := func(s string) ast.Expr { return &ast.Literal{Place: place, IsString: true, Str: s} }
	// A sum is a number, whatever is added.
	ns := &ast.Binary{Place: ast.Place{Span: c.Args[1].Range()}, Op: "+", X: c.Args[1], Y: &ast.Literal{Place: place}}
	args := []ast.Expr{c.Args[0], text(" "), ns}
	before := " ns "
	for i, a := range c.Args[2:] {
		name := argname.Of(a)
		if name == "" {
			name = strconv.Itoa(i + 3)
		}
		args = append(args, text(before+name+"="), a)
		before = " "
	}
	if len(c.Args) == 2 {
		args = append(args, text(" ns"))
	}
	c.Fun.Name, c.Args, c.Took = "println", args, true
	return ds
}
