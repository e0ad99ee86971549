package ast

// Inspect calls f for n and, where f says true, for everything below it, in the order
// of evaluation as far as the language fixes one. Absent parts are left out.
func Inspect(n Node, f func(Node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, c := range Children(n) {
		Inspect(c, f)
	}
}

// Children lists the nodes directly below n. Identifiers of names that are declared
// or called are not among them.
func Children(n Node) []Node {
	var out []Node
	stmt := func(s Stmt) {
		if s != nil {
			out = append(out, s)
		}
	}
	expr := func(e Expr) {
		if e != nil {
			out = append(out, e)
		}
	}
	exprs := func(es []Expr) {
		for _, e := range es {
			expr(e)
		}
	}
	block := func(b *Block) {
		if b != nil {
			out = append(out, b)
		}
	}
	hist := func(h *AtOp) {
		if h != nil {
			out = append(out, h)
		}
	}
	switch n := n.(type) {
	case *Probe:
		for _, p := range n.Points {
			out = append(out, p)
		}
		block(n.Body)
	case *Alias:
		for _, p := range n.Points {
			out = append(out, p)
		}
		block(n.Prologue)
		block(n.Epilogue)
	case *Function:
		block(n.Body)
	case *Point:
		expr(n.Cond)
	case *Block:
		for _, s := range n.Stmts {
			stmt(s)
		}
	case *ExprStmt:
		expr(n.X)
	case *If:
		expr(n.Cond)
		stmt(n.Then)
		stmt(n.Else)
	case *While:
		expr(n.Cond)
		stmt(n.Body)
	case *For:
		expr(n.Init)
		expr(n.Cond)
		expr(n.Post)
		stmt(n.Body)
	case *Foreach:
		if n.Loop != nil {
			stmt(n.Loop)
			break
		}
		hist(n.Hist)
		exprs(n.Slice)
		expr(n.Limit)
		stmt(n.Body)
	case *Return:
		expr(n.X)
	case *Delete:
		expr(n.X)
	case *Try:
		block(n.Body)
		block(n.Catch)
	case *Paren:
		expr(n.X)
	case *Unary:
		expr(n.X)
	case *Postfix:
		expr(n.X)
	case *Binary:
		expr(n.X)
		expr(n.Y)
	case *Assign:
		expr(n.X)
		expr(n.Y)
	case *Ternary:
		expr(n.Cond)
		expr(n.Then)
		expr(n.Else)
	case *In:
		exprs(n.Keys)
		hist(n.Hist)
	case *Index:
		exprs(n.Keys)
	case *HistIndex:
		hist(n.Hist)
		expr(n.I)
	case *Call:
		exprs(n.Args)
	case *AtOp:
		exprs(n.Args)
	case *Target:
		expr(n.Base)
		for _, s := range n.Path {
			expr(s.Index)
			expr(s.Second)
			expr(s.High)
		}
	}
	return out
}

// Deeper reports whether more than limit nodes stand inside each other in n. It
// looks no further than that, so it is safe on trees of any shape.
func Deeper(n Node, limit int) bool {
	if limit == 0 {
		return true
	}
	for _, c := range Children(n) {
		if Deeper(c, limit-1) {
			return true
		}
	}
	return false
}
