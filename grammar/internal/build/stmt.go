package build

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// block makes the statements of a block, joining what the grammar leaves apart:
// "else s" stands beside its if, and the ; that ends a statement after it.
func (b *Builder) block(n *stapparse.BlockContext) *ast.Block {
	bl := &ast.Block{Place: place(n)}
	ks := kids(n)
	list := make([]ast.Stmt, 0, len(ks)-2)
	var start *pp.Tok // of the last statement in list
	joins := 0        // else branches that it got
	for _, k := range ks[1 : len(ks)-1] {
		s := k.(*stapparse.StmtContext)
		last := len(list) - 1
		switch first(s).Type {
		case stapparse.StapParserELSE:
			if last < 0 {
				b.strayElse(s, nil)
			} else if joins++; joins > MaxDepth {
				b.tooLong(first(s))
			} else if open := openIf(list[last]); open != nil {
				list[last] = unclose(list[last])
				b.join(list[last], open, s, pp.Span(start, final(s)))
			} else {
				b.strayElse(s, list[last])
			}
		case stapparse.StapParserSEMI:
			if last < 0 || !takesSemi(list[last]) {
				list = append(list, b.stmt(s))
				start, joins = first(s), 0
			} else {
				// The next ; is an empty statement.
				list[last] = closed{list[last]}
			}
		default:
			list = append(list, b.stmt(s))
			start, joins = first(s), 0
		}
	}
	for i, s := range list {
		list[i] = unclose(s)
		if _, ok := s.(*ast.Block); ok && i > 0 {
			b.callBeforeBlock(list[i-1])
		}
	}
	bl.Stmts = list
	return bl
}

// closed marks, while a block is being made, a statement whose ; was read.
type closed struct{ ast.Stmt }

func unclose(s ast.Stmt) ast.Stmt {
	if c, ok := s.(closed); ok {
		return c.Stmt
	}
	return s
}

// takesSemi reports whether s ends with a simple statement, which takes one ;.
func takesSemi(s ast.Stmt) bool {
	for {
		switch x := s.(type) {
		case *ast.ExprStmt, *ast.Return, *ast.Delete, *ast.Next, *ast.Break, *ast.Continue:
			return true
		case *ast.If:
			if s = x.Then; x.Else != nil {
				s = x.Else
			}
		case *ast.While:
			s = x.Body
		case *ast.For:
			s = x.Body
		case *ast.Foreach:
			s = x.Body
		default:
			return false
		}
	}
}

// openIf is the innermost if at the end of s that has no else yet, nil if none.
func openIf(s ast.Stmt) *ast.If {
	var open *ast.If
	for s = unclose(s); ; {
		switch x := s.(type) {
		case *ast.If:
			if x.Else == nil {
				open = x
				s = x.Then
			} else {
				s = x.Else
			}
		case *ast.While:
			s = x.Body
		case *ast.For:
			s = x.Body
		case *ast.Foreach:
			s = x.Body
		default:
			return open
		}
	}
}

// join hangs the statement of "else s" onto open and widens what ends with open;
// whole is the place of outer with the else.
func (b *Builder) join(outer ast.Stmt, open *ast.If, n *stapparse.StmtContext, whole source.Span) {
	open.Else = b.stmt(kids(n)[1].(*stapparse.StmtContext))
	s := unclose(outer)
	inOneFile := s.Range().From == whole.From
	for {
		var p *ast.Place
		var next ast.Stmt
		switch x := s.(type) {
		case *ast.If:
			p, next = &x.Place, x.Then
			if x.Else != nil {
				next = x.Else
			}
		case *ast.While:
			p, next = &x.Place, x.Body
		case *ast.For:
			p, next = &x.Place, x.Body
		case *ast.Foreach:
			p, next = &x.Place, x.Body
		default:
			return
		}
		switch {
		case inOneFile:
			p.Span.To = max(p.Span.To, whole.To)
		case s == unclose(outer):
			p.Span = whole
		}
		if s == ast.Stmt(open) {
			return
		}
		s = next
	}
}

func (b *Builder) strayElse(n *stapparse.StmtContext, before ast.Stmt) {
	d := b.errorf(code.ElseWithoutIf, first(n).Span(), "else without an if before it")
	if _, ok := before.(*ast.Empty); ok {
		d.Note(before.Range(), "this ; ends the if")
	} else {
		d.Hintf("a body of several statements needs braces: if (x) { a; b } else c")
	}
}

// tooLong refuses a chain of operators or of else if.
func (b *Builder) tooLong(at *pp.Tok) {
	b.errorf(code.TooDeep, at.Span(), "this chain is too long: more than %d links", MaxDepth)
}

func (b *Builder) stmt(n *stapparse.StmtContext) ast.Stmt {
	ks := kids(n)
	p := place(n)
	switch k := ks[0].(type) {
	case *stapparse.BlockContext:
		return b.block(k)
	case *stapparse.ExprContext:
		x := b.expr(k)
		b.lonelyName(x)
		return &ast.ExprStmt{Place: p, X: x}
	}
	switch t := leaf(ks[0]); t.Type {
	case stapparse.StapParserIF:
		return &ast.If{Place: p, Cond: b.test(ks[2]), Then: b.body(ks[4])}
	case stapparse.StapParserELSE:
		b.strayElse(n, nil)
		return b.body(ks[1])
	case stapparse.StapParserWHILE:
		return &ast.While{Place: p, Cond: b.test(ks[2]), Body: b.body(ks[4])}
	case stapparse.StapParserFOR:
		return b.forLoop(p, ks)
	case stapparse.StapParserFOREACH:
		return b.foreach(p, ks[2].(*stapparse.ForeachHeadContext), ks[4])
	case stapparse.StapParserTRY:
		s := &ast.Try{Place: p, Body: b.block(ks[1].(*stapparse.BlockContext)),
			Catch: b.block(ks[len(ks)-1].(*stapparse.BlockContext))}
		if len(ks) > 4 {
			s.Msg = ident(leaf(ks[4]))
		}
		return s
	case stapparse.StapParserRETURN_VOID, stapparse.StapParserRETURN:
		if !b.inFunction {
			b.errorf(code.ReturnOutside, t.Span(), "return outside of a function").Hintf("next leaves a probe")
		}
		s := &ast.Return{Place: p}
		if len(ks) > 1 {
			s.X = b.expr(ks[1])
		}
		return s
	case stapparse.StapParserDELETE:
		return &ast.Delete{Place: p, X: b.expr(ks[1])}
	case stapparse.StapParserNEXT:
		return &ast.Next{Place: p}
	case stapparse.StapParserBREAK:
		return &ast.Break{Place: p}
	case stapparse.StapParserCONTINUE:
		return &ast.Continue{Place: p}
	}
	return &ast.Empty{Place: p}
}

func (b *Builder) body(n antlr.Tree) ast.Stmt { return b.stmt(n.(*stapparse.StmtContext)) }

// test makes the condition of an if, while or for, and warns of "=" in it. A
// second pair of parentheses says that it is meant.
func (b *Builder) test(n antlr.Tree) ast.Expr {
	x := b.expr(n)
	if a, ok := x.(*ast.Assign); ok && a.Op == "=" {
		b.warnf(code.AssignAsTest, a.Span, "this condition assigns").
			Hintf("== compares; if = is meant, put it in parentheses of its own")
	}
	return x
}

func (b *Builder) forLoop(p ast.Place, ks []antlr.Tree) *ast.For {
	s := &ast.For{Place: p, Body: b.body(ks[len(ks)-1])}
	part := 0
	for _, k := range ks[2 : len(ks)-2] {
		if t := leaf(k); t != nil {
			part++ // a ;
			continue
		}
		switch part {
		case 0:
			s.Init = b.expr(k)
		case 1:
			s.Cond = b.test(k)
		default:
			s.Post = b.expr(k)
		}
	}
	return s
}

// callBeforeBlock warns of "elif (x) { ... }": a call of some function, then a block.
func (b *Builder) callBeforeBlock(s ast.Stmt) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return
	}
	c, ok := e.X.(*ast.Call)
	if !ok {
		return
	}
	switch c.Fun.Name {
	case "elif", "elsif", "elseif":
		b.errorf(code.KeywordTypo, c.Fun.Span, "%s is no word of the language",
			c.Fun.Name).Hintf("write else if (...) { ... }")
		return
	}
	words := []string{"if", "for", "foreach", "while", "catch", "else"}
	if near := diag.Nearest(c.Fun.Name, words, 1); len(c.Fun.Name) > 3 && len(near) > 0 {
		b.warnf(code.KeywordTypo, c.Fun.Span, "%s(...) is a call, and the block after it is always run",
			c.Fun.Name).Hintf("did you mean %s?", near[0])
	}
}

// lonelyName warns of a statement that is nothing but a name much like a keyword:
// the keyword is meant, and what follows it is another statement.
func (b *Builder) lonelyName(x ast.Expr) {
	n, ok := x.(*ast.Name)
	if !ok || n.Name == "exit" { // that is a function, as will be said
		return
	}
	words := []string{"if", "else", "for", "foreach", "while", "return", "delete", "break", "continue", "next", "try",
		"catch"}
	if near := diag.Nearest(n.Name, words, 1); len(n.Name) > 3 && len(near) > 0 {
		b.warnf(code.KeywordTypo, n.Span, "%s alone does nothing", n.Name).Hintf("did you mean %s?", near[0])
	}
}

func (b *Builder) foreach(p ast.Place, head *stapparse.ForeachHeadContext, body antlr.Tree) *ast.Foreach {
	s := &ast.Foreach{Place: p, SortKey: ast.SortByValue}
	sorted := func(at *pp.Tok, key int) {
		if s.Sort != 0 {
			b.errorf(code.BadForeach, at.Span(), "a foreach is sorted by one thing only").
				Hintf("keep one of the + and - marks")
			return
		}
		s.Sort, s.SortKey = 1, key
		if at.Type == stapparse.StapParserMINUS {
			s.Sort = -1
		}
	}
	key := func(k antlr.Tree, index int) *ast.Ident {
		ks := kids(k.(*stapparse.KeyContext))
		if len(ks) > 1 {
			sorted(leaf(kids(ks[1].(*stapparse.SortContext))[0]), index)
		}
		return ident(leaf(ks[0]))
	}
	b.foreachKeys(s, kids(head)[0].(*stapparse.ForeachKeysContext), key)
	var agg *pp.Tok
	var over *stapparse.ForeachOverContext
	for _, k := range kids(head)[1:] {
		switch k := k.(type) {
		case *stapparse.ForeachBaseContext:
			if t := leaf(kids(k)[0]); t != nil {
				s.Array = ident(t)
			} else if h := b.hist(b.call(kids(k)[0].(*stapparse.CallContext))); h != nil {
				s.Hist = h
			} else {
				b.errorf(code.BadForeach, place(k).Span, "foreach goes over an array or a histogram").
					Hintf("a histogram is @hist_log(x) or @hist_linear(x, low, high, width)")
				s.Array = &ast.Ident{Place: place(k), Name: first(k).Text}
			}
		case *stapparse.ForeachOverContext:
			over = k
		case *stapparse.ArgContext:
			s.Slice = append(s.Slice, b.arg(k))
		case *stapparse.SortContext:
			sorted(leaf(kids(k)[0]), ast.SortByValue)
			if agg != nil {
				s.SortAgg, agg = agg.Text, nil
			}
		case *stapparse.ExprContext:
			s.Limit = b.expr(k)
		default:
			switch t := leaf(k); t.Type {
			case stapparse.StapParserATWORD:
				agg = t
				switch t.Text {
				case "@count", "@sum", "@min", "@max", "@avg", "@variance":
				default:
					b.errorf(code.BadForeach, t.Span(), "a foreach cannot be sorted by %s", t.Text).
						Hintf("it can be sorted by @count, @sum, @min, @max, @avg or @variance")
				}
			}
		}
	}
	if agg != nil {
		b.errorf(code.BadForeach, agg.Span(), "expected + or - after %s", agg.Text).
			Hintf("+ sorts upwards, - downwards")
	}
	s.Body = b.body(body)
	if over != nil {
		b.foreachOver(s, over)
	}
	return s
}

// foreachKeys reads "k", "[k1, k2]", "v = k" or "v = [k1, k2]".
func (b *Builder) foreachKeys(s *ast.Foreach, n *stapparse.ForeachKeysContext, key func(antlr.Tree, int) *ast.Ident) {
	list := func(n antlr.Tree) {
		for _, k := range kids(n.(*stapparse.KeyListContext)) {
			if c, ok := k.(*stapparse.KeyContext); ok {
				s.Keys = append(s.Keys, key(c, len(s.Keys)))
			}
		}
	}
	ks := kids(n)
	switch k := ks[0].(type) {
	case *stapparse.KeyListContext:
		list(k)
		return
	default:
		if len(ks) == 1 {
			s.Keys = append(s.Keys, key(k, 0))
			return
		}
	}
	s.Value = key(ks[0], ast.SortByValue)
	if k, ok := ks[2].(*stapparse.KeyListContext); ok {
		list(k)
	} else {
		s.Keys = append(s.Keys, key(ks[2], 0))
	}
}
