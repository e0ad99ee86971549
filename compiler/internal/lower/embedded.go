package lower

import (
	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// code enters embedded C into the program, once.
func (l *lowerer) code(c *elab.Embedded, make func() *ir.CCode) int64 {
	if n, ok := l.codes[c]; ok {
		return int64(n)
	}
	out := make()
	out.Text, out.Pos, out.Pure, out.Old = c.Text, c.Pos, c.Pure, c.Old
	for _, g := range c.Globals {
		if i, ok := l.globs[g.Global]; ok {
			out.Globs = append(out.Globs, ir.CGlob{Name: g.Name, Glob: i, Read: g.Read, Write: g.Write})
		}
	}
	if l.codes == nil {
		l.codes = map[*elab.Embedded]int{}
	}
	n := l.out.AddCode(out)
	l.codes[c] = n
	return int64(n)
}

// embeddedBody is the body of a function that is C: one instruction.
func (f builtins) embeddedBody(ef *elab.Func) {
	n := f.code(ef.C, func() *ir.CCode {
		c := &ir.CCode{Name: ef.Name, Result: f.b.F.Result}
		c.Params = parameters(ef.Params)
		return c
	})
	var args []ir.Val
	for _, p := range ef.Params {
		args = append(args, ir.R(f.locals[p]))
	}
	dst := ir.NoReg
	if f.b.F.Result != types.Unknown {
		dst = f.b.Reg("", f.b.F.Result, f.b.F.ResultCap)
	}
	f.b.Pos = ef.Decl.Code.Span.From
	f.embed(n, dst, args...)
	if dst == ir.NoReg {
		f.b.Return(ir.Val{})
	} else {
		f.b.Return(ir.R(dst))
	}
}

// parameters are the script's variables that C gets.
func parameters(of []*elab.Local) []ir.CParam {
	var ps []ir.CParam
	for _, p := range of {
		t := p.Type
		if t != types.String {
			t = types.Long // nothing is known of it, so no call gives it a string
		}
		ps = append(ps, ir.CParam{Name: p.Name, Type: t})
	}
	return ps
}

// embeddedExpr is the value of "%{ expr %}" or @const("expr").
func (f builtins) embeddedExpr(e ast.Expr) ir.Val {
	c := f.in.C[e]
	if c == nil {
		return ir.I(0) // refused by sema
	}
	t := f.typ(e)
	n := f.code(c, func() *ir.CCode { return &ir.CCode{Expr: true, Params: parameters(c.Args), Result: t} })
	var args []ir.Val
	for _, p := range c.Args {
		args = append(args, ir.R(f.locals[p]))
	}
	r := f.b.Reg("", t, f.capFor(t))
	f.at(e.Range())
	f.embed(n, r, args...)
	return ir.R(r)
}

func (f builtins) embed(n int64, dst ir.Reg, args ...ir.Val) {
	in := f.b.Make(ir.OpEmbed, dst, args...)
	in.N = n
	f.b.Emit(in)
}

// preludes are the C at the top level.
func (l *lowerer) preludes() {
	for _, c := range l.p.Prelude {
		l.out.Prelude = append(l.out.Prelude, ir.Prelude{Text: c.Code, Pos: c.Span.From + 2})
	}
}

// acts reports whether C of the script may change what the program holds.
func acts(p *elab.Program) bool {
	for c := range p.AllC() {
		if !c.Pure {
			return true
		}
	}
	return false
}
