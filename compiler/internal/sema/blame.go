package sema

import (
	"slices"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
	"github.com/gostap/gostap/compiler/source"
)

// Blame puts what ds says about text of the library at the user's call behind which that text is, else at the probe
// that has it, and notes the place in the library. Messages about what nobody calls stay as they are.
func Blame(p *elab.Program, ds diag.List) {
	var b *blamer
	for _, d := range ds {
		f := p.Files.File(d.Span.From)
		own := func(l source.Link) bool { return !inLibrary(p, l.Pos) }
		if f == nil || !f.Library || slices.ContainsFunc(p.Files.Chain(d.Span.From), own) {
			continue // of the user's, or a macro's, which is told with the place that it was expanded at
		}
		if b == nil {
			b = newBlamer(p)
		}
		at := b.find(d.Span.From)
		if !at.From.IsValid() {
			continue
		}
		notes := d.Notes
		d.Notes = nil
		d.Note(d.Span, diag.WithinText)
		d.Notes = append(d.Notes, notes...)
		d.Span = at
	}
}

func inLibrary(p *elab.Program, pos source.Pos) bool {
	f := p.Files.File(pos)
	return f != nil && f.Library
}

// blamer knows by which call of the user's each function of the library is come to first.
type blamer struct {
	p   *elab.Program
	via map[*elab.Func]source.Span
}

func newBlamer(p *elab.Program) *blamer {
	b := &blamer{p, map[*elab.Func]source.Span{}}
	for _, pr := range p.Probes {
		own := source.Span{}
		if pr.User && len(pr.Decl.Points) > 0 {
			own = pr.Decl.Points[0].Range()
		}
		for _, body := range pr.Bodies {
			b.calls(&pr.Info, body, own)
		}
		b.calls(&pr.Info, pr.Cond, own)
	}
	return b
}

// calls goes through the calls in n, which is reached by way of the user's text at from.
func (b *blamer) calls(in *elab.Info, n ast.Node, from source.Span) {
	if n == nil {
		return
	}
	InspectLive(in, n, func(n ast.Node) bool {
		c, ok := n.(*ast.Call)
		if !ok {
			return true
		}
		at := from
		if !inLibrary(b.p, c.Range().From) {
			at = c.Fun.Range()
		}
		for f := in.Calls[c]; f != nil; f = f.Next {
			if b.via[f].From.IsValid() || !at.From.IsValid() {
				continue
			}
			b.via[f] = at
			if f.Decl.Body != nil {
				b.calls(&f.Info, f.Decl.Body, at)
			}
		}
		return true
	})
}

// find gives the user's place for one in the library.
func (b *blamer) find(pos source.Pos) source.Span {
	within := func(n ast.Node) bool { s := n.Range(); return s.From <= pos && pos < s.To }
	for f, at := range b.via {
		if within(f.Decl) {
			return at
		}
	}
	for _, pr := range b.p.Probes {
		if !pr.User || len(pr.Decl.Points) == 0 {
			continue
		}
		for _, body := range pr.Bodies {
			if within(body) {
				return pr.Decl.Points[0].Range()
			}
		}
	}
	return source.Span{}
}
