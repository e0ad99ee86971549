package ast

import (
	"slices"
	"strings"
)

func (p *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Literal:
		p.literal(x)
	case *Name:
		p.text(x.Name)
	case *Paren:
		p.text("(")
		p.expr(x.X)
		p.text(")")
	case *Unary:
		p.unary(x)
	case *Postfix:
		p.expr(x.X)
		p.text(x.Op)
	case *Binary:
		p.expr(x.X)
		p.text(" ", x.Op, " ")
		p.expr(x.Y)
	case *Assign:
		p.expr(x.X)
		p.text(" ", x.Op, " ")
		p.expr(x.Y)
	case *Ternary:
		p.expr(x.Cond)
		p.text(" ? ")
		p.expr(x.Then)
		p.text(" : ")
		p.expr(x.Else)
	case *In:
		if len(x.Keys) == 1 && tightKey(x.Keys[0]) {
			p.expr(x.Keys[0])
		} else {
			p.keys(x.Keys)
		}
		p.text(" in ")
		p.indexable(x.Array, x.Hist)
	case *Index:
		p.text(x.Array.Name)
		p.keys(x.Keys)
	case *HistIndex:
		p.expr(x.Hist)
		p.text("[")
		p.expr(x.I)
		p.text("]")
	case *Call:
		p.text(x.Fun.Name)
		p.args(x.Args)
	case *AtOp:
		if x.Name == HasKey {
			if len(x.Args) > 2 {
				p.keys([]Expr{x.Args[0], x.Args[2]})
			} else {
				p.expr(x.Args[0])
			}
			p.text(" in ")
			p.expr(x.Args[1])
			break
		}
		if isTypeTest(x) {
			p.typeTest(x, "==")
			break
		}
		p.text(x.Name)
		p.args(x.Args)
	case *Target:
		p.target(x)
	case *EmbeddedExpr:
		p.text("%{", x.Code, "%}")
	}
}

// unary keeps apart what would make another operator: - -x, ! ~x.
func (p *printer) unary(x *Unary) {
	if t, ok := x.X.(*AtOp); ok && isTypeTest(t) && x.Op == "!" {
		p.typeTest(t, "!=")
		return
	}
	p.text(x.Op)
	begin := len(p.b)
	p.expr(x.X)
	if begin == len(p.b) {
		return
	}
	next, last := p.b[begin], x.Op[len(x.Op)-1]
	if next == last && last != '!' && last != '~' || last == '!' && next == '~' {
		p.b = slices.Insert(p.b, begin, ' ')
	}
}

// tightKey reports whether a key before "in" needs no brackets.
func tightKey(x Expr) bool {
	switch x := x.(type) {
	case nil, *Assign, *Ternary, *In:
		return false
	case *Binary:
		switch x.Op {
		case "||", "&&", "|", "^", "&":
			return false
		}
	}
	return true
}

func (p *printer) indexable(array *Ident, hist *AtOp) {
	if hist != nil {
		p.expr(hist)
		return
	}
	p.text(array.Name)
}

// keys writes an index list; nil is *.
func (p *printer) keys(xs []Expr) {
	p.text("[")
	for i, x := range xs {
		p.comma(i)
		if x == nil {
			p.text("*")
		} else {
			p.expr(x)
		}
	}
	p.text("]")
}

func (p *printer) args(xs []Expr) {
	p.text("(")
	for i, x := range xs {
		p.comma(i)
		p.expr(x)
	}
	p.text(")")
}

func (p *printer) target(x *Target) {
	p.text(x.Name)
	if x.Base != nil {
		p.expr(x.Base)
	}
	for _, s := range x.Path {
		switch {
		case s.Type != "":
			p.text(".(", s.Type, ")")
		case s.Member != "":
			p.text("->", s.Member)
		default:
			p.text("[")
			p.expr(s.Index)
			if s.Second != nil {
				p.text(", ")
				p.expr(s.Second)
			}
			if s.Range {
				p.text(":")
				p.expr(s.High)
			}
			p.text("]")
		}
	}
	if x.Pretty == 0 {
		return
	}
	if _, ok := x.Base.(*Name); ok && len(x.Path) == 0 {
		p.text(" ") // a $ that touches belongs to the name
	}
	p.text(strings.Repeat("$", x.Pretty))
}

// isTypeTest reports whether x is what the comparison of a @typeof with a literal string became.
func isTypeTest(x *AtOp) bool { return x.Name == "@typeof" && len(x.Args) == 2 }

func (p *printer) typeTest(x *AtOp, op string) {
	p.text(x.Name)
	p.args(x.Args[:1])
	p.text(" ", op, " ")
	p.expr(x.Args[1])
}
