package grammar

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
)

// ParseDecl reads the one declaration of f that e says, as Index found it. macros
// are the entries of kind MacroEntry of the same file; others are passed over.
// Whether the declaration's guards hold is not asked: see Holds.
func ParseDecl(f *source.File, e *Entry, macros []Entry, o Options) (ast.Decl, diag.List) {
	p := newParser(f, e.Off, e.End, &o, local(f, macros))
	var d ast.Decl
	if ds := p.all(); len(ds) > 0 {
		d = ds[0]
	}
	p.found = true
	return d, p.finish()
}

// Holds decides the top-level conditions around a declaration.
func Holds(f *source.File, guards []Guard, macros []Entry, o Options) (bool, diag.List) {
	for _, g := range guards {
		x := o.filter(f, g.Off, g.End, local(f, macros))
		holds, ok := x.Test()
		if !ok || holds == g.Else {
			return false, x.Diags
		}
	}
	return true, nil
}

func local(f *source.File, entries []Entry) []*Macro {
	var ms []*Macro
	for i := range entries {
		if e := &entries[i]; e.Kind == MacroEntry {
			ms = append(ms, e.Macro(f))
		}
	}
	return ms
}

// ParseMacros reads a file of library macros (.stpm) and adds them to o.Macros, or
// to a new table if that is nil. A file with an error adds nothing.
func ParseMacros(f *source.File, o Options) (*MacroTable, diag.List) {
	o.Library = true
	t := o.Macros
	if t == nil {
		t = new(MacroTable)
	}
	x := o.filter(f, 0, len(f.Text), nil)
	if tok := x.Next(); tok.Type != antlr.TokenEOF && !tok.Reported {
		x.Diags.Errorf(diag.Parse, code.MacroFile, tok.Span(), "expected @define, found %s", pp.Describe(tok)).
			Hintf("a macro file holds nothing but macros")
	}
	ms := x.Local()
	for _, m := range ms {
		if old := t.Lookup(m.Name); old != nil {
			x.Diags.Errorf(diag.Parse, code.MacroRedefined, m.At, "library macro @%s is defined twice",
				m.Name).Note(old.At, "it was defined here first")
		}
	}
	x.Diags.Sort()
	if !x.Diags.HasErrors() {
		for _, m := range ms {
			t.Add(m)
		}
	}
	return t, x.Diags
}

// ParsePoints reads a list of probe points that stands alone, as on a command line.
func ParsePoints(f *source.File, o Options) ([]*ast.Point, diag.List) {
	p := newParser(f, 0, len(f.Text), &o, nil)
	p.x.PointsOnly()
	p.found = true
	var ps []*ast.Point
	p.try(func() { ps = p.b.Points(p.p.PointList()) })
	return ps, p.finish()
}
