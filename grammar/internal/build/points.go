package build

import (
	"strings"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// maxComps bounds the words of a probe point; the longest known one has eight.
const maxComps = 64

// Points makes the points of a list that stands alone.
func (b *Builder) Points(n stapparse.IPointListContext) []*ast.Point {
	return b.points(kids(n)[0].(*stapparse.PointsContext))
}

// probe makes a probe or, where = or += stands between lists, an alias.
func (b *Builder) probe(n *stapparse.ProbeContext) ast.Decl {
	var lists [][]*ast.Point
	var blocks []*ast.Block
	var epilogue, comma *pp.Tok
	isAlias := false
	for _, k := range kids(n) {
		switch k := k.(type) {
		case *stapparse.PointsContext:
			lists = append(lists, b.points(k))
		case *stapparse.BlockContext:
			blocks = append(blocks, b.block(k))
		default:
			switch t := leaf(k); t.Type {
			case stapparse.StapParserADD_A:
				epilogue, isAlias = t, true
			case stapparse.StapParserASSIGN:
				isAlias = true
			case stapparse.StapParserCOMMA:
				comma = t
			}
		}
	}
	points := lists[len(lists)-1]
	if !isAlias {
		if comma != nil {
			b.errorf(code.BadAlias, pp.Span(comma, final(n)), "a probe has one body").
				Hintf("only an alias, probe name = point {...}, {...}, has a second block: its epilogue")
		}
		return &ast.Probe{Place: place(n), Points: points, Body: blocks[0]}
	}
	a := &ast.Alias{Place: place(n), Points: points}
	for _, l := range lists[:len(lists)-1] {
		a.Names = append(a.Names, b.aliasName(l))
	}
	switch {
	case epilogue == nil:
		a.Prologue = blocks[0]
		if len(blocks) > 1 {
			a.Epilogue = blocks[1]
		}
	case len(blocks) > 1:
		b.errorf(code.BadAlias, epilogue.Span(), "an alias with += has one block, its epilogue").
			Hintf("with = the first block is the prologue and the second the epilogue")
		fallthrough
	default:
		a.Epilogue = blocks[0]
	}
	return a
}

// aliasName checks what stands left of = in an alias.
func (b *Builder) aliasName(list []*ast.Point) *ast.Point {
	p := list[0]
	switch {
	case len(list) > 1:
		b.errorf(code.BadAlias, list[1].Span, "an alias is given one name at a time").
			Hintf("several names are written probe a = b = point {...}")
	case p.Optional:
		b.errorf(code.BadAlias, p.Span, "the name of an alias cannot be optional (? or !)")
	case p.Cond != nil:
		b.errorf(code.BadAlias, p.Span, "the name of an alias cannot have a condition")
	}
	for _, c := range p.Comps {
		if c.Group != nil {
			b.errorf(code.BadAlias, c.Span, "the name of an alias cannot be a group in braces")
		}
		if c.Arg != nil {
			b.errorf(code.BadAlias, c.Arg.Span, "the name of an alias cannot have an argument").
				Hintf("what stands behind the name where the alias is used is put behind its points")
		}
	}
	return p
}

func (b *Builder) points(n *stapparse.PointsContext) []*ast.Point {
	var ps []*ast.Point
	for _, k := range kids(n) {
		if p, ok := k.(*stapparse.PointContext); ok {
			ps = append(ps, b.point(p))
		}
	}
	return ps
}

func (b *Builder) point(n *stapparse.PointContext) *ast.Point {
	p := &ast.Point{Place: place(n)}
	for _, k := range kids(n) {
		switch k := k.(type) {
		case *stapparse.CompContext:
			if c := b.comp(k); c != nil {
				p.Comps = append(p.Comps, c)
			}
		case *stapparse.ExprContext:
			p.Cond = b.expr(k)
		default:
			switch leaf(k).Type {
			case stapparse.StapParserQUEST:
				p.Optional = true
			case stapparse.StapParserBANG:
				p.Optional, p.Sufficient = true, true
			}
		}
	}
	if len(p.Comps) > maxComps {
		b.errorf(code.BadPoint, p.Comps[maxComps].Span, "this probe point is too long: more than %d words", maxComps)
		p.Comps = p.Comps[:maxComps]
	}
	b.checkGroups(p)
	return p
}

// checkGroups refuses marks within braces where they would not stand at the end
// of the points that the braces make.
func (b *Builder) checkGroups(p *ast.Point) {
	for i, c := range p.Comps {
		for _, g := range c.Group {
			last := i == len(p.Comps)-1
			switch {
			case (g.Optional || g.Cond != nil) && !last:
				b.errorf(code.BadPoint, g.Span, "?, ! and if can only stand at the end of a probe point").
					Hintf("put it behind the last component")
			case g.Optional && p.Optional:
				b.errorf(code.BadPoint, g.Span, "? or ! is given twice, in the braces and behind them")
			case g.Cond != nil && p.Cond != nil:
				b.errorf(code.BadPoint, g.Span, "a condition is given twice, in the braces and behind them")
			}
		}
	}
}

func (b *Builder) comp(n *stapparse.CompContext) *ast.Comp {
	c := &ast.Comp{Place: place(n)}
	var prev *pp.Tok
	var name strings.Builder
	for _, k := range kids(n) {
		switch k := k.(type) {
		case *stapparse.PointsContext:
			c.Group = b.points(k)
		case *stapparse.LiteralContext:
			c.Arg = b.literal(k)
		case *stapparse.NamePartContext:
			t := leaf(kids(k)[0])
			if prev != nil && !t.Glued {
				b.errorf(code.BadPoint, t.Span(), "expected ., a comma or { after %s, found %s", pp.Describe(prev),
					pp.Describe(t)).
					Hintf("the parts of a name must touch; names are joined with . and points with a comma")
				c.Name = name.String()
				return c
			}
			if prev == nil && t.Type == stapparse.StapParserNUMBER {
				b.errorf(code.BadPoint, t.Span(), "a probe point cannot have %s as a component", pp.Describe(t)).
					Hintf("numbers stand in parentheses: timer.s(1)")
			}
			prev = t
			name.WriteString(t.Text)
		}
	}
	c.Name = name.String()
	return c
}
