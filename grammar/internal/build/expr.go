package build

import (
	"slices"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// The levels of infix operators, loosest first.
const (
	levelAssign = iota + 1
	levelTernary
	levelOrOr
	levelAndAnd
	levelOr
	levelXor
	levelAnd
	levelIn
	levelCompare
	levelShift
	levelConcat
	levelAdd
	levelMul
	levelTight
)

func level(typ int) int {
	switch typ {
	case stapparse.StapParserQUEST:
		return levelTernary
	case stapparse.StapParserOROR:
		return levelOrOr
	case stapparse.StapParserANDAND:
		return levelAndAnd
	case stapparse.StapParserOR:
		return levelOr
	case stapparse.StapParserXOR:
		return levelXor
	case stapparse.StapParserAND:
		return levelAnd
	case stapparse.StapParserIN:
		return levelIn
	case stapparse.StapParserLT, stapparse.StapParserGT, stapparse.StapParserLE, stapparse.StapParserGE,
		stapparse.StapParserEQ, stapparse.StapParserNE, stapparse.StapParserMATCH, stapparse.StapParserNMATCH:
		return levelCompare
	case stapparse.StapParserSHL, stapparse.StapParserSHR, stapparse.StapParserSHR3:
		return levelShift
	case stapparse.StapParserDOT:
		return levelConcat
	case stapparse.StapParserPLUS, stapparse.StapParserMINUS:
		return levelAdd
	case stapparse.StapParserSTAR, stapparse.StapParserSLASH, stapparse.StapParserMOD:
		return levelMul
	}
	return levelAssign
}

// flat is an expression as the grammar gives it, "unary (op unary | ? expr : unary)*",
// while precedence is being found.
type flat struct {
	ks []antlr.Tree
	i  int
}

// op is the operator that comes next, nil at the end.
func (f *flat) op() *pp.Tok {
	if f.i >= len(f.ks) {
		return nil
	}
	if n, ok := f.ks[f.i].(*stapparse.BinopContext); ok {
		return leaf(kids(n)[0])
	}
	return leaf(f.ks[f.i])
}

// part is an expression with its first and last token, for places.
type part struct {
	x           ast.Expr
	first, last *pp.Tok
	list        []ast.Expr // of "[a, b]", which only "in" may follow
	isList      bool
}

func (p part) place() ast.Place { return between(p.first, p.last) }

func (b *Builder) expr(n antlr.Tree) ast.Expr {
	f := &flat{ks: kids(n.(*stapparse.ExprContext))}
	if len(f.ks) > 2*MaxDepth {
		b.tooLong(first(f.ks[0].(node)))
		f.ks = f.ks[:1]
	}
	return b.single(b.climb(f, levelAssign))
}

// single refuses a bracketed list where one value is wanted.
func (b *Builder) single(p part) ast.Expr {
	if p.isList {
		b.errorf(code.BadOperand, p.place().Span, "a list in brackets is no value").
			Hintf("it can stand before in: [a, b] in array")
		if len(p.list) > 0 && p.list[0] != nil {
			return p.list[0]
		}
		return &ast.Literal{Place: p.place()}
	}
	return p.x
}

// climb reads what binds at least as tightly as level min.
func (b *Builder) climb(f *flat, min int) part {
	left := b.unary(f.ks[f.i].(*stapparse.UnaryContext))
	f.i++
	for {
		op := f.op()
		if op == nil {
			return left
		}
		lv := level(op.Type)
		if lv < min {
			return left
		}
		switch lv {
		case levelAssign:
			f.i++
			right := b.climb(f, levelAssign)
			left = part{first: left.first, last: right.last, x: &ast.Assign{
				Place: between(left.first, right.last), Op: op.Text, X: b.single(left), Y: b.single(right)}}
		case levelTernary:
			then := b.expr(f.ks[f.i+1])
			f.i += 3
			els := b.climb(f, levelTernary)
			left = part{first: left.first, last: els.last, x: &ast.Ternary{
				Place: between(left.first, els.last), Cond: b.single(left), Then: then, Else: b.single(els)}}
		case levelIn:
			f.i++
			left = b.in(left, b.climb(f, levelCompare))
			if next := f.op(); next != nil && next.Type == stapparse.StapParserIN {
				b.errorf(code.BadOperand, next.Span(), "in cannot follow another in").Hintf("use parentheses")
			}
		default:
			f.i++
			right := b.climb(f, lv+1)
			y := b.single(right)
			if op.Type == stapparse.StapParserMATCH || op.Type == stapparse.StapParserNMATCH {
				if l, ok := y.(*ast.Literal); !ok || !l.IsString {
					b.errorf(code.BadOperand, y.Range(), "the right side of %s must be a literal string", op.Text)
				} else if next := f.op(); next != nil && level(next.Type) == levelCompare {
					b.errorf(code.BadOperand, next.Span(), "%s cannot follow the pattern of %s", next.Text,
						op.Text).Hintf("use parentheses")
				}
			}
			if op.Type == stapparse.StapParserDOT && op.Glued && right.first.Glued && isNumber(left.last) &&
				isNumber(right.first) {
				b.errorf(code.BadNumber, pp.Span(left.last, right.first), "%s.%s is no number of the language",
					left.last.Text, right.first.Text).
					Hintf("a number has one point, 1.5; between strings a dot joins them")
			}
			at := between(left.first, right.last)
			x := b.single(left)
			if t := typeTest(at, op.Text, x, y); t != nil {
				x = t
			} else {
				x = &ast.Binary{Place: at, Op: op.Text, X: x, Y: y}
			}
			left = part{first: left.first, last: right.last, x: x}
		}
	}
}

// typeTest makes @typeof($x, "name") of the comparison of @typeof($x) with a literal string, nil of any other.
func typeTest(at ast.Place, op string, x, y ast.Expr) ast.Expr {
	if op != "==" && op != "!=" {
		return nil
	}
	is := func(x, y ast.Expr) ast.Expr {
		t, ok := ast.Unparen(x).(*ast.AtOp)
		name, text := ast.Unparen(y).(*ast.Literal)
		if !ok || t.Name != "@typeof" || len(t.Args) != 1 || !text || !name.IsString {
			return nil
		}
		return &ast.AtOp{Place: at, Name: t.Name, Args: []ast.Expr{t.Args[0], name}}
	}
	t := is(x, y)
	if t == nil {
		t = is(y, x)
	}
	if t != nil && op == "!=" {
		t = &ast.Unary{Place: at, Op: "!", X: t}
	}
	return t
}

func isNumber(t *pp.Tok) bool { return t.Type == stapparse.StapParserNUMBER }

// in makes "keys in array".
func (b *Builder) in(left, right part) part {
	x := &ast.In{Place: between(left.first, right.last)}
	if t, ok := ast.Unparen(b.single(right)).(*ast.Target); ok {
		if left.isList && len(left.list) == 1 && left.list[0] != nil {
			left = part{x: left.list[0], first: left.first, last: left.last}
		} else if left.isList && (len(left.list) != 2 || left.list[0] == nil || left.list[1] == nil) {
			b.errorf(code.BadOperand, x.Range(), "a map of the program has one key")
			left = part{x: t, first: left.first, last: left.last}
		}
		args := []ast.Expr{left.x, t}
		if left.isList {
			args = []ast.Expr{left.list[0], t, left.list[1]}
		}
		has := &ast.AtOp{Place: x.Place, Name: ast.HasKey, Args: args}
		return part{x: has, first: left.first, last: right.last}
	}
	if left.isList {
		x.Keys = left.list
	} else {
		x.Keys = []ast.Expr{left.x}
	}
	switch y := b.single(right).(type) {
	case *ast.Name:
		x.Array = &ast.Ident{Place: y.Place, Name: y.Name}
	default:
		if h := b.hist(y); h != nil {
			x.Hist = h
			break
		}
		b.errorf(code.BadOperand, y.Range(),
			"the right side of in must be an array, a histogram or a map of the program")
		x.Array = &ast.Ident{Place: ast.Place{Span: y.Range()}, Name: "_"}
	}
	return part{x: x, first: left.first, last: right.last}
}

// hist is x if it is @hist_log(...) or @hist_linear(...), else nil.
func (b *Builder) hist(x ast.Expr) *ast.AtOp {
	if a, ok := x.(*ast.AtOp); ok && strings.HasPrefix(a.Name, "@hist_") {
		return a
	}
	return nil
}

func (b *Builder) unary(n *stapparse.UnaryContext) part {
	ks := kids(n)
	i := 0
	for leaf(ks[i]) != nil {
		i++ // prefix operators
	}
	prefixes := ks[:i]
	p := b.primary(ks[i].(*stapparse.PrimaryContext))
	i++
	j := i
	for j < len(ks) && leaf(ks[j]) == nil {
		j++
	}
	if j > i {
		p = b.suffixes(p, ks[i:j])
	}
	wrap := func(t *pp.Tok) {
		x := b.single(p)
		p = part{x: &ast.Unary{Place: between(t, p.last), Op: t.Text, X: x}, first: t, last: p.last}
	}
	k := len(prefixes) - 1
	// & and one ++ or -- belong to the operand itself; further out only - + ! ~.
	if k >= 0 && leaf(prefixes[k]).Type == stapparse.StapParserADDR {
		wrap(leaf(prefixes[k]))
		k--
	}
	if k >= 0 && isStep(leaf(prefixes[k])) {
		wrap(leaf(prefixes[k]))
		k--
		if j < len(ks) {
			t := leaf(ks[j])
			b.errorf(code.BadOperand, t.Span(), "%s both before and behind a variable", t.Text)
		}
	} else if j < len(ks) {
		t := leaf(ks[j])
		x := b.single(p)
		p = part{x: &ast.Postfix{Place: between(p.first, t), Op: t.Text, X: x}, first: p.first, last: t}
	}
	for ; k >= 0; k-- {
		t := leaf(prefixes[k])
		if t.Type == stapparse.StapParserADDR {
			b.errorf(code.BadOperand, t.Span(), "& can only stand before a variable")
		} else if isStep(t) {
			b.errorf(code.BadOperand, t.Span(), "%s can only stand before a variable", t.Text)
		}
		wrap(t)
	}
	return p
}

func isStep(t *pp.Tok) bool {
	return t.Type == stapparse.StapParserPRE_INC || t.Type == stapparse.StapParserPRE_DEC
}

func (b *Builder) primary(n *stapparse.PrimaryContext) part {
	ks := kids(n)
	p := part{first: first(n), last: final(n)}
	if c, ok := ks[0].(*stapparse.CallContext); ok {
		p.x = b.call(c)
		return p
	}
	switch t := leaf(ks[0]); t.Type {
	case stapparse.StapParserLPAREN:
		x := b.expr(ks[1])
		if h := b.hist(x); h != nil {
			b.errorf(code.BadOperand, h.Span, "%s is no value and cannot stand in parentheses", h.Name).
				Hintf("it is printed, print(%s(...)), indexed, or gone through by foreach", h.Name)
		}
		p.x = &ast.Paren{Place: place(n), X: x}
	case stapparse.StapParserLIST_OPEN:
		p.isList = true
		for _, k := range ks {
			if a, ok := k.(*stapparse.ArgContext); ok {
				p.list = append(p.list, b.arg(a))
			}
		}
	case stapparse.StapParserID:
		if printing(t.Text) {
			b.errorf(code.BadOperand, t.Span(), "%s is a function of the language and cannot name a variable", t.Text).
				Hintf("what it prints stands in parentheses: %s(...)", t.Text)
		}
		p.x = &ast.Name{Place: tokPlace(t), Name: t.Text}
	case stapparse.StapParserTARGET:
		p.x = b.target(t)
	case stapparse.StapParserEMBEDDED:
		p.x = &ast.EmbeddedExpr{Place: tokPlace(t), Code: t.Text[2 : len(t.Text)-2]}
	case stapparse.StapParserNUMBER:
		p.x = b.number(t, nil)
	default:
		toks := make([]*pp.Tok, len(ks))
		for i, k := range ks {
			toks[i] = leaf(k)
		}
		p.x = b.str(toks)
	}
	return p
}

// printing reports whether name is a function of the print family.
func printing(name string) bool {
	switch name {
	case "print", "println", "printf", "printd", "printdln", "sprint", "sprintln", "sprintf", "sprintd", "sprintdln":
		return true
	}
	return false
}

// arg makes an index or argument, nil for "*".
func (b *Builder) arg(n *stapparse.ArgContext) ast.Expr {
	if leaf(kids(n)[0]) != nil {
		return nil
	}
	return b.expr(kids(n)[0])
}

// args makes the arguments among ks; "*" is refused.
func (b *Builder) args(ks []antlr.Tree) []ast.Expr {
	var xs []ast.Expr
	for _, k := range ks {
		a, ok := k.(*stapparse.ArgContext)
		if !ok {
			continue
		}
		x := b.arg(a)
		if x == nil {
			b.errorf(code.BadOperand, place(a).Span, "* is no value").Hintf("* can only stand as the index of an array")
			x = &ast.Literal{Place: place(a)}
		}
		xs = append(xs, x)
	}
	return xs
}

// call makes f(args) or @op(args).
func (b *Builder) call(n *stapparse.CallContext) ast.Expr {
	ks := kids(n)
	t := leaf(ks[0])
	args := b.args(ks)
	if t.Text[0] == '@' {
		a := &ast.AtOp{Place: place(n), Name: t.Text, Args: args}
		b.checkAtOp(a, t.Span())
		return a
	}
	return &ast.Call{Place: place(n), Fun: ident(t), Args: args}
}

// target makes "$name" with the dollars at its end taken off.
func (b *Builder) target(t *pp.Tok) *ast.Target {
	x := &ast.Target{Place: tokPlace(t)}
	var n int
	x.Name, n = trimDollars(t.Text)
	b.pretty(x, n, t.Span())
	return x
}

func trimDollars(s string) (string, int) {
	name := strings.TrimRight(s, "$")
	return name, len(s) - len(name)
}

func (b *Builder) pretty(x *ast.Target, n int, at source.Span) {
	if x.Pretty = n; n > 2 {
		b.errorf(code.BadTarget, at, "more than two $ behind a variable").
			Hintf("$ prints a structure one level deep, $$ prints all of it")
	}
}

// maxSuffixes bounds a chain of -> and [i].
const maxSuffixes = 500

// suffixes hangs [i], ->m and $ onto p.
func (b *Builder) suffixes(p part, ks []antlr.Tree) part {
	start := p.first
	if len(ks) > maxSuffixes {
		b.errorf(code.TooDeep, place(ks[maxSuffixes].(antlr.ParserRuleContext)).Span,
			"this chain is too long: more than %d links", maxSuffixes)
		return p
	}
	// An array of the script takes the first index list for itself.
	switch x := p.x.(type) {
	case *ast.Name:
		if keys, end := b.index(ks[0]); keys != nil {
			if s := ks[0].(*stapparse.SuffixContext); isRange(s) {
				b.errorf(code.BadOperand, place(s).Span,
					"%s is no variable of the traced program, so no part of it can be taken", x.Name).
					Hintf("substr(text, start, length) gives a part of a text")
			}
			p = part{first: start, last: end, x: &ast.Index{
				Place: between(start, end), Array: &ast.Ident{Place: x.Place, Name: x.Name}, Keys: keys}}
			ks = ks[1:]
		}
	case *ast.AtOp:
		if b.hist(x) != nil {
			if keys, end := b.index(ks[0]); keys != nil {
				p = part{first: start, last: end, x: &ast.HistIndex{
					Place: between(start, end), Hist: x,
					I: b.oneIndex(keys, place(ks[0].(*stapparse.SuffixContext)).Span)}}
				ks = ks[1:]
			}
		}
	}
	if len(ks) == 0 {
		return p
	}
	t, ok := p.x.(*ast.Target)
	if !ok {
		t = &ast.Target{Base: b.single(p)}
	}
	for _, k := range ks {
		s := k.(*stapparse.SuffixContext)
		p.last = final(s)
		if t.Pretty > 0 {
			b.errorf(code.BadTarget, place(s).Span, "nothing can follow the $ that prints a structure")
			continue
		}
		switch op := leaf(kids(s)[0]); op.Type {
		case stapparse.StapParserDOLLARS:
			b.pretty(t, len(op.Text), op.Span())
		case stapparse.StapParserARROW:
			m := leaf(kids(s)[1])
			name, dollars := trimDollars(m.Text)
			if name != "" {
				t.Path = append(t.Path, ast.TargetStep{Place: place(s), Member: name})
			}
			b.pretty(t, dollars, m.Span())
		case stapparse.StapParserASSERTION:
			t.Path = append(t.Path, ast.TargetStep{Place: place(s), Type: op.Text})
		default:
			t.Path = append(t.Path, b.indexStep(s))
		}
	}
	t.Place = between(start, p.last)
	p.x, p.isList = t, false
	return p
}

// index makes the keys of "[a, b]" and gives its last token; nil if k is no index.
func (b *Builder) index(k antlr.Tree) ([]ast.Expr, *pp.Tok) {
	s := k.(*stapparse.SuffixContext)
	ks := kids(s)
	if leaf(ks[0]).Type != stapparse.StapParserLBRACK {
		return nil, nil
	}
	var keys []ast.Expr
	for _, k := range ks {
		if a, ok := k.(*stapparse.ArgContext); ok {
			keys = append(keys, b.arg(a))
		}
	}
	return keys, final(s)
}

// indexStep makes "[i]" or "[low:high]" behind a variable of the program.
func (b *Builder) indexStep(s *stapparse.SuffixContext) ast.TargetStep {
	keys, _ := b.index(s)
	st := ast.TargetStep{Place: place(s), Range: isRange(s)}
	for _, k := range kids(s) {
		if e, ok := k.(*stapparse.ExprContext); ok {
			st.High = b.expr(e)
		}
	}
	if !st.Range && len(keys) == 2 && keys[1] != nil {
		st.Second, keys = keys[1], keys[:1]
	}
	if !st.Range || len(keys) > 0 {
		st.Index = b.oneIndex(keys, st.Span)
	}
	return st
}

// isRange reports whether s is "[low:high]".
func isRange(s *stapparse.SuffixContext) bool {
	return slices.ContainsFunc(kids(s), func(k antlr.Tree) bool {
		t := leaf(k)
		return t != nil && t.Type == stapparse.StapParserCOLON
	})
}

// oneIndex is the only key of an index that is not a script array's.
func (b *Builder) oneIndex(keys []ast.Expr, at source.Span) ast.Expr {
	if len(keys) != 1 || keys[0] == nil {
		b.errorf(code.BadTarget, at, "one number is expected as index here")
		return &ast.Literal{Place: ast.Place{Span: at}}
	}
	return keys[0]
}
