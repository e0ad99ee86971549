package ast

import (
	"io"
)

// Fprint writes a file as script text. Parsing that text gives the same tree, but
// for places; comments and what the preprocessor read are gone.
func Fprint(w io.Writer, f *File) error {
	var p printer
	for i, d := range f.Decls {
		if i > 0 {
			p.text("\n")
		}
		p.decl(d)
		p.text("\n")
	}
	_, err := w.Write(p.b)
	return err
}

// String writes any node of a tree that was parsed as script text, "" for nil.
func String(n Node) string {
	var p printer
	switch n := n.(type) {
	case Decl:
		p.decl(n)
	case *Global:
		p.global(n)
	case *Param:
		p.param(n)
	case *Point:
		p.point(n)
	case *Comp:
		p.comp(n)
	case *Ident:
		p.text(n.Name)
	case Stmt:
		p.stmt(n)
	case Expr:
		p.expr(n)
	}
	return string(p.b)
}

type printer struct {
	b      []byte
	indent int
}

func (p *printer) text(ss ...string) {
	for _, s := range ss {
		p.b = append(p.b, s...)
	}
}

func (p *printer) line() {
	p.b = append(p.b, '\n')
	for range p.indent {
		p.b = append(p.b, '\t')
	}
}

func (p *printer) decl(d Decl) {
	switch d := d.(type) {
	case *Probe:
		p.text("probe ")
		p.points(d.Points)
		p.text(" ")
		p.block(d.Body)
	case *Alias:
		p.alias(d)
	case *Globals:
		if d.Private {
			p.text("private ")
		}
		p.text("global ")
		for i, g := range d.Vars {
			p.comma(i)
			p.global(g)
		}
	case *Function:
		p.function(d)
	case *Embedded:
		p.text("%{", d.Code, "%}")
	}
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.text(", ")
	}
}

func (p *printer) alias(a *Alias) {
	op := " = "
	if a.Prologue == nil {
		op = " += "
	}
	p.text("probe ")
	for _, n := range a.Names {
		p.point(n)
		p.text(op)
	}
	p.points(a.Points)
	p.text(" ")
	if a.Prologue != nil {
		p.block(a.Prologue)
		if a.Epilogue != nil {
			p.text(", ")
		}
	}
	if a.Epilogue != nil {
		p.block(a.Epilogue)
	}
}

func (p *printer) global(g *Global) {
	p.text(g.Name.Name)
	if g.Wrap {
		p.text("%")
	}
	if g.Size != nil {
		p.text("[")
		p.literal(g.Size)
		p.text("]")
	}
	if g.Init != nil {
		p.text(" = ")
		p.literal(g.Init)
	}
	for _, a := range g.Attributes {
		p.text(" ", a.Name.Name, " ")
		p.literal(a.Value)
	}
}

func (p *printer) function(f *Function) {
	if f.Private {
		p.text("private ")
	}
	p.text("function ", f.Name.Name)
	p.typ(f.Type)
	p.text("(")
	for i, a := range f.Params {
		p.comma(i)
		p.param(a)
	}
	p.text(")")
	if f.Priority != nil {
		p.text(":")
		p.literal(f.Priority)
	}
	p.text(" ")
	if f.Code != nil {
		p.decl(f.Code)
		return
	}
	p.block(f.Body)
}

func (p *printer) param(a *Param) {
	p.text(a.Name.Name)
	p.typ(a.Type)
}

func (p *printer) typ(t TypeName) {
	switch t {
	case LongType:
		p.text(":long")
	case StringType:
		p.text(":string")
	}
}

func (p *printer) points(ps []*Point) {
	for i, pt := range ps {
		p.comma(i)
		p.point(pt)
	}
}

func (p *printer) point(pt *Point) {
	for i, c := range pt.Comps {
		if i > 0 {
			p.text(".")
		}
		p.comp(c)
	}
	switch {
	case pt.Sufficient:
		p.text(" !")
	case pt.Optional:
		p.text(" ?")
	}
	if pt.Cond != nil {
		p.text(" if (")
		p.expr(pt.Cond)
		p.text(")")
	}
}

func (p *printer) comp(c *Comp) {
	if c.Group != nil {
		p.text("{")
		p.points(c.Group)
		p.text("}")
		return
	}
	p.text(c.Name)
	if c.Arg != nil {
		p.text("(")
		p.literal(c.Arg)
		p.text(")")
	}
}

func (p *printer) literal(l *Literal) { p.text(LiteralText(l)) }
