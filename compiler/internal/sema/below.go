package sema

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
)

// lowReturn is a return of f whose value begins on another line.
type lowReturn struct {
	f  *elab.Func
	st *ast.Return
}

// swallowed warns of returns that took the next statement for their value, as the language has it: in functions whose
// value nobody wants, and where the statement has none.
func swallowed(x *infer) {
	for _, r := range x.low {
		value := r.st.X.Range()
		var said *diag.Diagnostic
		for _, d := range x.ds {
			if (d.Code == diag.NoResult || d.Code == diag.NoValue) && d.Span == value {
				said = d
			}
		}
		if said == nil {
			if x.valued[r.f] || r.f.Decl.Type != ast.NoType {
				continue
			}
			said = x.warnf(diag.ReturnLine, value,
				"this is the value of the return above it, and nobody wants the value of %s()", r.f.Decl.Name.Name)
		}
		said.Note(r.st.Span, "this return takes its value from the next line").
			Hintf("a return without a value ends in a semicolon where a statement follows: return;")
	}
}
