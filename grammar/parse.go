package grammar

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/build"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/pp"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// The bounds of one text.
const (
	// MaxBytes bounds a script or a file of the library.
	MaxBytes  = 8 << 20
	maxErrors = 20
)

// parser reads the declarations of one text, one parse tree at a time.
type parser struct {
	o       *Options
	x       *pp.Filter
	stream  *pp.Stream
	p       *stapparse.StapParser
	watch   *watch
	b       build.Builder
	diags   diag.List
	library bool     // the text may be empty
	found   bool     // something other than white space
	said    bool     // the token that the last parse ended at was reported before
	last    ast.Decl // the declaration before, nil after an error
}

func newParser(f *source.File, off, end int, o *Options, local []*Macro) *parser {
	p := &parser{o: o, library: o.Library || f.Library}
	if end-off > MaxBytes {
		p.diags.Errorf(diag.Parse, code.TooLarge, source.Span{}, "%s is too large: more than %d MB", f.Name,
			MaxBytes>>20)
		end = off
		p.found = true
	}
	p.x = o.filter(f, off, end, local)
	p.stream = pp.NewStream(p.x)
	p.p = stapparse.NewStapParser(p.stream)
	p.p.RemoveErrorListeners()
	p.p.GetInterpreter().SetPredictionMode(antlr.PredictionModeSLL)
	p.watch = &watch{DefaultErrorStrategy: antlr.NewDefaultErrorStrategy()}
	p.p.SetErrorHandler(p.watch)
	p.b.Diags = &p.diags
	return p
}

// all reads declarations up to the end of the text.
func (p *parser) all() []ast.Decl {
	var decls []ast.Decl
	for p.stream.Tok(1).Type != antlr.TokenEOF {
		p.found = true
		d := p.item()
		p.last = d
		if d != nil {
			decls = append(decls, d)
		}
		if p.tooMany() {
			break
		}
		if d == nil {
			p.recover()
		}
	}
	return decls
}

// item reads one declaration; nil after an error.
func (p *parser) item() (d ast.Decl) {
	errors := p.errors()
	p.said = false
	p.try(func() {
		tree := p.p.Item()
		d = p.b.Item(tree)
	})
	if d == nil && p.errors() == errors && !p.said {
		// Defensive: an error must never be silent.
		p.diags.Errorf(diag.Parse, code.Unexpected, p.stream.Tok(1).Span(), "unexpected %s",
			pp.Describe(p.stream.Tok(1)))
	}
	if d != nil && ast.Deeper(d, build.MaxDepth) {
		p.diags.Errorf(diag.Parse, code.TooDeep, source.At(d.Range().From),
			"this declaration is nested too deep: more than %d levels", build.MaxDepth)
		return nil
	}
	return d
}

// errors counts the errors of all stages so far.
func (p *parser) errors() int { return p.diags.Errors() + p.x.Diags.Errors() }

// try runs a rule of the parser. A syntax error ends it early and is reported.
func (p *parser) try(rule func()) {
	p.p.SetParserRuleContext(nil)
	p.p.SetError(nil)
	p.p.SetState(-1)
	p.p.ResetDepth()
	p.watch.reset()
	defer func() {
		switch e := recover().(type) {
		case nil:
		case stop:
			p.explain(e.at)
		case stapparse.TooDeep:
			p.diags.Errorf(diag.Parse, code.TooDeep, p.stream.Tok(1).Span(),
				"statements or expressions are nested too deep: more than %d levels", stapparse.MaxDepth)
		default:
			panic(e)
		}
	}()
	rule()
}

// tooMany reports whether to give up.
func (p *parser) tooMany() bool {
	if p.errors() < maxErrors {
		return false
	}
	p.diags.Errorf(diag.Parse, code.TooManyErrors, p.stream.Tok(1).Span(),
		"too many errors; the rest of the script was not read")
	return true
}

// recover skips to the next word that begins a declaration.
func (p *parser) recover() {
	p.x.Quiet = true
	defer func() { p.x.Quiet = false }()
	for {
		t := p.stream.Tok(1)
		if t.Type == stapparse.StapParserFUNCTION && p.stream.Tok(2).Type == stapparse.StapParserLPAREN {
			p.stream.Consume() // a part of a point, process("x").function("f"), with the dot or without
			continue
		}
		switch t.Type {
		case antlr.TokenEOF:
			return
		case stapparse.StapParserPROBE, stapparse.StapParserFUNCTION, stapparse.StapParserGLOBAL,
			stapparse.StapParserPRIVATE:
			// Each of them is read by item, so this goes forward.
			p.stream.Restart()
			return
		}
		p.stream.Consume()
	}
}

// finish gives all messages in order of place.
func (p *parser) finish() diag.List {
	p.o.mark(p.x.Used)
	if !p.found && !p.library && len(p.x.Diags) == 0 {
		p.diags.Errorf(diag.Parse, code.EmptyScript, source.Span{}, "the script is empty").
			Hintf("a script needs at least one probe: probe begin { println(\"hello\") }")
	}
	l := append(p.x.Diags, p.diags...)
	l.Sort()
	return l
}
