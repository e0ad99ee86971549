package ast

// Unparen takes parentheses off.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// Assigned calls fn for each thing that n itself, not what is in it, gives a value or deletes: the left side of an
// assignment, the operand of ++ and --, without parentheses; the *Ident of a foreach, and of the message of a catch.
func Assigned(n Node, fn func(Node)) {
	switch n := n.(type) {
	case *Assign:
		fn(Unparen(n.X))
	case *Postfix:
		fn(Unparen(n.X))
	case *Unary:
		if n.Op == "++" || n.Op == "--" {
			fn(Unparen(n.X))
		}
	case *Delete:
		fn(Unparen(n.X))
	case *Foreach:
		if n.Loop != nil {
			break // its assignments are in there
		}
		for _, k := range n.Keys {
			fn(k)
		}
		if n.Value != nil {
			fn(n.Value)
		}
	case *Try:
		if n.Msg != nil {
			fn(n.Msg)
		}
	}
}
