// Package build makes the syntax tree from ANTLR's parse tree of one declaration,
// and checks what the grammar leaves open: precedence, which if an else belongs
// to, which names of a probe point touch, numbers and escapes, operand rules.
//
// In: a parse tree whose tokens are *pp.Tok. Out: ast declarations and messages.
package build

import (
	"math"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// Builder makes trees; messages go to Diags.
type Builder struct {
	Diags *diag.List
	// inFunction says that statements belong to a function, where return may stand.
	inFunction bool

	errors, warnings int
	ranges           int // loops over variables of the program so far
}

// MaxDepth bounds how deep the tree of a declaration may be: long chains of
// operators or of else if make it deep without brackets.
const MaxDepth = 10_000

// node is a parse tree node that stands for a rule.
type node interface {
	GetChildren() []antlr.Tree
	GetStart() antlr.Token
	GetStop() antlr.Token
}

func kids(n node) []antlr.Tree { return n.GetChildren() }

// leaf is the token of t, nil if t is no leaf.
func leaf(t antlr.Tree) *pp.Tok {
	if n, ok := t.(*antlr.TerminalNodeImpl); ok {
		return n.GetSymbol().(*pp.Tok)
	}
	return nil
}

func first(n node) *pp.Tok { return n.GetStart().(*pp.Tok) }

func final(n node) *pp.Tok { return n.GetStop().(*pp.Tok) }

func place(n node) ast.Place { return ast.Place{Span: pp.Span(first(n), final(n))} }

func tokPlace(t *pp.Tok) ast.Place { return ast.Place{Span: t.Span()} }

func between(a, b *pp.Tok) ast.Place { return ast.Place{Span: pp.Span(a, b)} }

func ident(t *pp.Tok) *ast.Ident { return &ast.Ident{Place: tokPlace(t), Name: t.Text} }

// maxMessages bounds each kind of message: a hostile script could ask for millions.
const maxMessages = 100

func (b *Builder) errorf(c diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	if b.errors++; b.errors > maxMessages {
		return new(diag.Diagnostic)
	}
	return b.Diags.Errorf(diag.Parse, c, sp, format, args...)
}

func (b *Builder) warnf(c diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	if b.warnings++; b.warnings > maxMessages {
		return new(diag.Diagnostic)
	}
	return b.Diags.Warnf(diag.Parse, c, sp, format, args...)
}

// Item makes the declaration of an item, nil at the end of the text.
func (b *Builder) Item(n stapparse.IItemContext) ast.Decl {
	ks := kids(n)
	switch c := ks[0].(type) {
	case *stapparse.ProbeContext:
		return b.probe(c)
	default:
		t := leaf(c)
		switch t.Type {
		case stapparse.StapParserEMBEDDED:
			return embedded(t)
		case stapparse.StapParserPRIVATE:
			inner := kids(ks[1].(*stapparse.PrivateItemContext))
			return b.declaration(t, inner[len(inner)-1], true)
		case antlr.TokenEOF:
			return nil
		}
		return b.declaration(t, ks[1], false)
	}
}

func (b *Builder) declaration(start *pp.Tok, n antlr.Tree, private bool) ast.Decl {
	switch n := n.(type) {
	case *stapparse.FunctionContext:
		return b.function(start, n, private)
	case *stapparse.GlobalsContext:
		return b.globals(start, n, private)
	}
	return nil
}

func embedded(t *pp.Tok) *ast.Embedded {
	return &ast.Embedded{Place: tokPlace(t), Code: t.Text[2 : len(t.Text)-2]}
}

func (b *Builder) globals(start *pp.Tok, n *stapparse.GlobalsContext, private bool) *ast.Globals {
	g := &ast.Globals{Place: between(start, final(n)), Private: private}
	for _, k := range kids(n) {
		if v, ok := k.(*stapparse.GlobalVarContext); ok {
			g.Vars = append(g.Vars, b.global(v))
		}
	}
	return g
}

func (b *Builder) global(n *stapparse.GlobalVarContext) *ast.Global {
	ks := kids(n)
	g := &ast.Global{Place: place(n), Name: ident(leaf(ks[0]))}
	sized := false
	for _, k := range ks[1:] {
		if a, ok := k.(*stapparse.AttributeContext); ok {
			of := kids(a)
			g.Attributes = append(g.Attributes, &ast.Attribute{Place: place(a), Name: ident(leaf(of[0])),
				Value: b.literal(of[1].(*stapparse.LiteralContext))})
			continue
		}
		if l, ok := k.(*stapparse.LiteralContext); ok {
			if sized && g.Size == nil {
				g.Size = b.literal(l)
			} else {
				g.Init = b.literal(l)
			}
			continue
		}
		switch leaf(k).Type {
		case stapparse.StapParserMOD:
			g.Wrap = true
		case stapparse.StapParserLBRACK, stapparse.StapParserLIST_OPEN:
			sized = true
		}
	}
	if s := g.Size; s != nil && (s.IsString || s.IsFloat || s.Num < 1 || s.Num > 1<<31-1) {
		b.errorf(code.BadGlobal, s.Span, "the size of array %s must be a number from 1 to 2147483647", g.Name.Name)
	}
	if g.Init != nil && (g.Size != nil || g.Wrap) {
		b.errorf(code.BadGlobal, g.Init.Span, "array %s cannot have an initial value", g.Name.Name).
			Hintf("only scalars are initialized; fill arrays in a begin probe")
	}
	return g
}

func typeName(n antlr.Tree) ast.TypeName {
	if leaf(kids(n.(*stapparse.TypeContext))[0]).Type == stapparse.StapParserSTRING_T {
		return ast.StringType
	}
	return ast.LongType
}

func (b *Builder) function(start *pp.Tok, n *stapparse.FunctionContext, private bool) *ast.Function {
	f := &ast.Function{Place: between(start, final(n)), Private: private}
	b.inFunction = true
	defer func() { b.inFunction = false }()
	for i, k := range kids(n) {
		switch k := k.(type) {
		case *stapparse.TypeContext:
			f.Type = typeName(k)
		case *stapparse.ParamContext:
			p := b.param(k)
			for _, o := range f.Params {
				if o.Name.Name == p.Name.Name {
					b.errorf(code.BadFunction, p.Span, "two parameters of function %s are named %s", f.Name.Name,
						p.Name.Name)
				}
			}
			f.Params = append(f.Params, p)
		case *stapparse.LiteralContext:
			f.Priority = b.literal(k)
			if f.Priority.IsString || f.Priority.IsFloat || f.Priority.Num < 1 {
				b.errorf(code.BadFunction, f.Priority.Span,
					"the priority of function %s must be a number greater than 0", f.Name.Name)
			}
		case *stapparse.BlockContext:
			f.Body = b.block(k)
		default:
			if t := leaf(k); i == 0 {
				f.Name = ident(t)
			} else if t.Type == stapparse.StapParserEMBEDDED {
				f.Code = embedded(t)
			}
		}
	}
	return f
}

func (b *Builder) param(n *stapparse.ParamContext) *ast.Param {
	ks := kids(n)
	p := &ast.Param{Place: place(n), Name: ident(leaf(ks[0]))}
	if len(ks) > 1 {
		p.Type = typeName(ks[2])
	}
	return p
}

func (b *Builder) literal(n *stapparse.LiteralContext) *ast.Literal {
	var toks []*pp.Tok
	for _, k := range kids(n) {
		toks = append(toks, leaf(k))
	}
	if toks[0].Type == stapparse.StapParserU_MINUS {
		return b.number(toks[1], toks[0])
	}
	if toks[0].Type == stapparse.StapParserNUMBER {
		return b.number(toks[0], nil)
	}
	return b.str(toks)
}

// number makes a literal from t, with the sign minus before it unless that is nil.
func (b *Builder) number(t, minus *pp.Tok) *ast.Literal {
	l := &ast.Literal{Place: tokPlace(t), Text: t.Text}
	if f, ok := pp.Fraction(t.Text); ok {
		if minus != nil {
			l.Place, l.Text = between(minus, t), "-"+t.Text
			f = -f
		}
		if math.IsInf(f, 0) {
			b.errorf(code.BadNumber, l.Span, "number %s does not fit in a float of 64 bits", l.Text)
		}
		l.IsFloat, l.Num = true, int64(math.Float64bits(f))
		return l
	}
	n, msg := pp.Number(t.Text)
	if msg != "" {
		b.errorf(code.BadNumber, t.Span(), "%s", msg)
	}
	l.Num = int64(n)
	if minus != nil {
		l.Place, l.Text = between(minus, t), "-"+t.Text
		l.Num = -l.Num
		if n > 1<<63 {
			b.errorf(code.BadNumber, l.Span, "number %s does not fit in 64 bits", l.Text)
		}
	}
	return l
}

// str makes one literal from adjacent strings.
func (b *Builder) str(toks []*pp.Tok) *ast.Literal {
	l := &ast.Literal{Place: between(toks[0], toks[len(toks)-1]), IsString: true}
	all := make([]string, 0, len(toks))
	for _, t := range toks {
		s, at, msg := pp.Unquote(t.Text)
		if msg != "" {
			b.errorf(code.BadEscape, source.Span{From: t.Pos + source.Pos(at[0]), To: t.Pos + source.Pos(at[1])}, "%s",
				msg)
		}
		all = append(all, s)
	}
	l.Str = strings.Join(all, "")
	return l
}
