package ast

import (
	"slices"
	"strings"
)

func (p *printer) block(b *Block) {
	if len(b.Stmts) == 0 {
		p.text("{}")
		return
	}
	p.text("{")
	p.indent++
	for i, s := range b.Stmts {
		p.line()
		begin := len(p.b)
		p.stmt(s)
		if i > 0 && endsSimple(b.Stmts[i-1]) && goesOn(p.b[begin:]) {
			p.b = slices.Insert(p.b, begin-p.indent-1, ';') // before the line break
		}
	}
	p.indent--
	p.line()
	p.text("}")
}

// goesOn reports whether the statement that begins with s would be read as the
// rest of the one before it: no mark ends a statement, and parsing is greedy.
func goesOn(s []byte) bool {
	return len(s) > 0 && strings.IndexByte(";+-&[(\"", s[0]) >= 0
}

// endsSimple reports whether s ends with an expression or another statement that
// takes a ; for itself. "return;" has taken it already.
func endsSimple(s Stmt) bool {
	for {
		switch x := s.(type) {
		case *ExprStmt, *Delete, *Next, *Break, *Continue:
			return true
		case *Return:
			return x.X != nil
		case *If:
			if s = x.Then; x.Else != nil {
				s = x.Else
			}
		case *While:
			s = x.Body
		case *For:
			s = x.Body
		case *Foreach:
			s = x.Body
		default:
			return false
		}
	}
}

// body writes the statement that another one governs.
func (p *printer) body(s Stmt) {
	if b, ok := s.(*Block); ok {
		p.text(" ")
		p.block(b)
		return
	}
	p.indent++
	p.line()
	p.stmt(s)
	p.indent--
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Block:
		p.block(s)
	case *Empty:
		p.text(";")
	case *ExprStmt:
		p.expr(s.X)
	case *If:
		p.ifStmt(s)
	case *While:
		p.text("while (")
		p.expr(s.Cond)
		p.text(")")
		p.body(s.Body)
	case *For:
		p.text("for (")
		p.optional("", s.Init)
		p.optional("; ", s.Cond)
		p.optional("; ", s.Post)
		p.text(")")
		p.body(s.Body)
	case *Foreach:
		p.foreach(s)
	case *Return:
		if s.X == nil {
			p.text("return;")
			break
		}
		p.text("return ")
		p.expr(s.X)
	case *Delete:
		p.text("delete ")
		p.expr(s.X)
	case *Next:
		p.text("next")
	case *Break:
		p.text("break")
	case *Continue:
		p.text("continue")
	case *Try:
		p.text("try ")
		p.block(s.Body)
		p.text(" catch ")
		if s.Msg != nil {
			p.text("(", s.Msg.Name, ") ")
		}
		p.block(s.Catch)
	}
}

func (p *printer) optional(before string, x Expr) {
	if x == nil {
		p.text(strings.TrimRight(before, " "))
		return
	}
	p.text(before)
	p.expr(x)
}

func (p *printer) ifStmt(s *If) {
	for {
		p.text("if (")
		p.expr(s.Cond)
		p.text(")")
		p.body(s.Then)
		if s.Else == nil {
			return
		}
		if _, ok := s.Then.(*Block); ok {
			p.text(" else")
		} else {
			p.line()
			p.text("else")
		}
		next, ok := s.Else.(*If)
		if !ok {
			p.body(s.Else)
			return
		}
		p.text(" ")
		s = next
	}
}

func (p *printer) foreach(s *Foreach) {
	sign := map[int]string{1: "+", -1: "-"}[s.Sort]
	p.text("foreach (")
	if s.Value != nil {
		p.text(s.Value.Name, " = ")
	}
	if len(s.Keys) > 1 {
		p.text("[")
	}
	for i, k := range s.Keys {
		p.comma(i)
		p.text(k.Name)
		if s.Sort != 0 && s.SortKey == i {
			p.text(sign)
		}
	}
	if len(s.Keys) > 1 {
		p.text("]")
	}
	p.text(" in ")
	if s.Over != nil {
		p.target(s.Over)
	} else {
		p.indexable(s.Array, s.Hist)
	}
	if s.Slice != nil {
		p.keys(s.Slice)
	}
	if s.SortAgg != "" {
		p.text(" ", s.SortAgg, " ")
	}
	if s.Sort != 0 && s.SortKey == SortByValue {
		p.text(sign)
	}
	if s.Limit != nil {
		p.text(" limit ")
		p.expr(s.Limit)
	}
	p.text(")")
	p.body(s.Body)
}
