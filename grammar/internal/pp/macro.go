package pp

import (
	"slices"
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// Macro is "@define name(params) %( body %)". The body stays text until it is used.
type Macro struct {
	Name   string
	Params []string
	File   *source.File
	// Name's place.
	At source.Span
	// Off and End bound the body in File.
	Off, End int
}

// Table holds the macros of the library.
type Table struct {
	// Lazy is asked for macros that were not added, if it is set.
	Lazy Source

	m map[string]*Macro
}

// Source makes macros when they are asked for, so that a library need not be read.
type Source interface {
	// Macro finds a macro by its name without the @, nil if there is none.
	Macro(name string) *Macro
	// Names lists all of them, for hints.
	Names() []string
}

// Lookup finds a macro by its name without the @, nil if there is none.
func (t *Table) Lookup(name string) *Macro {
	if t == nil {
		return nil
	}
	m := t.m[name]
	if m == nil && t.Lazy != nil {
		if m = t.Lazy.Macro(name); m != nil {
			t.Add(m)
		}
	}
	return m
}

// Add enters m unless there is a macro of that name.
func (t *Table) Add(m *Macro) {
	if t.m == nil {
		t.m = map[string]*Macro{}
	}
	if t.m[m.Name] == nil {
		t.m[m.Name] = m
	}
}

// Names lists the macros, sorted.
func (t *Table) Names() []string {
	if t == nil {
		return nil
	}
	var names []string
	if t.Lazy != nil {
		names = t.Lazy.Names()
	}
	for n := range t.m {
		names = append(names, n)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AtOps are the words with an @ that the language itself knows, without the @.
var AtOps = map[string]bool{
	"cast": true, "var": true, "defined": true, "entry": true, "perf": true, "const": true, "probewrite": true,
	"count": true, "sum": true, "min": true, "max": true, "avg": true, "variance": true, "hist_log": true,
	"hist_linear": true,
	"kregister":   true, "uregister": true, "kderef": true, "uderef": true, "enum": true, "enumname": true,
	"is": true, "typeof": true, "scaled": true,
}

func (x *Filter) define(m *Macro) {
	if x.local == nil {
		x.local = map[string]*Macro{}
	}
	x.local[m.Name] = m
}

// Local gives the macros that the text has defined so far.
func (x *Filter) Local() map[string]*Macro { return x.local }

// atWord deals with "@name": a definition, a parameter, a macro, or an operator of
// the language, which is given back. It gives nil after it pushed or defined something.
func (x *Filter) atWord(t *Tok) *Tok {
	name := t.Text[1:]
	if name == "define" {
		return x.definition(t)
	}
	if a, ok := t.in.params()[name]; ok {
		f := &frame{file: a.in.file, off: a.in.off + a.off, text: a.in.text[a.off:a.end], kind: argFrame, env: a.in}
		return x.push(t, f)
	}
	m := x.lookup(t.in, name)
	switch {
	case m != nil:
		return x.use(t, m)
	case AtOps[name]:
		return t
	}
	d := x.errorf(code.UnknownMacro, t.Span(), "no macro or operator is named %s", t.Text)
	if why, hint := whyAbsent(name); why != "" {
		d.Message = "the macro " + t.Text + " of stap is not available: " + why
		d.Hintf("%s", hint)
	} else if near := diag.Nearest(name, x.macroNames(t.in), 3); len(near) > 0 {
		d.Hintf("did you mean @%s?", strings.Join(near, ", @"))
	} else if h := habits.At(name, t.behind()); h != "" {
		d.Hintf("%s", h)
	}
	return bad(t)
}

// params is what parameters mean in f's text.
func (f *frame) params() map[string]arg {
	for {
		switch f.kind {
		case argFrame:
			f = f.env
		case pasteFrame:
			f = f.asked
		default:
			return f.args
		}
	}
}

// lookup finds a macro for the text of f: a library macro's body sees the macros
// of the library only.
func (x *Filter) lookup(f *frame, name string) *Macro {
	if m := f.inMacro(); m == nil || x.o.Macros.Lookup(m.Name) != m {
		if m := x.local[name]; m != nil {
			return m
		}
	}
	return x.o.Macros.Lookup(name)
}

// inMacro is the macro whose body f's text was written in, nil for the script itself.
func (f *frame) inMacro() *Macro {
	for {
		switch f.kind {
		case argFrame:
			f = f.env
		case pasteFrame:
			f = f.asked
		default:
			return f.macro
		}
	}
}

func (x *Filter) macroNames(f *frame) []string {
	names := x.o.Macros.Names()
	for n := range x.local {
		names = append(names, n)
	}
	for n := range AtOps {
		names = append(names, n)
	}
	for n := range f.params() {
		names = append(names, n)
	}
	return names
}

// definition reads what follows "@define".
func (x *Filter) definition(at *Tok) *Tok {
	fail := func(t *Tok, format string, args ...any) *Tok {
		x.errorf(code.MacroDefinition, t.Span(), format, args...).
			Hintf("a macro is defined as @define name(a, b) %%( tokens %%)")
		return bad(t)
	}
	if at.in.kind != fileFrame {
		return fail(at, "@define inside of a macro")
	}
	name := x.raw()
	if name.Type != stapparse.StapLexerID {
		return fail(name, "expected a name after @define, found %s", Describe(name))
	}
	if name.Text == "define" {
		return fail(name, "@define itself cannot be redefined")
	}
	m := &Macro{Name: name.Text, File: at.in.file, At: name.Span()}
	t := x.raw()
	if t.Type == stapparse.StapLexerLPAREN {
		for {
			p := x.raw()
			if p.Type != stapparse.StapLexerID {
				return fail(p, "expected the name of a parameter, found %s", Describe(p))
			}
			if slices.Contains(m.Params, p.Text) {
				return fail(p, "two parameters of macro @%s are named %s", m.Name, p.Text)
			}
			m.Params = append(m.Params, p.Text)
			if t = x.raw(); t.Type == stapparse.StapLexerCOMMA {
				continue
			}
			if t.Type != stapparse.StapLexerRPAREN {
				return fail(t, "expected , or ) after a parameter, found %s", Describe(t))
			}
			t = x.raw()
			break
		}
	}
	if t.Type != stapparse.StapLexerPP_IF {
		return fail(t, "expected %%( before the body of macro @%s, found %s", m.Name, Describe(t))
	}
	m.Off = t.in.off + t.in.i
	end := x.endOfBody()
	if end == nil {
		x.errorf(code.MacroDefinition, source.Span{From: at.Pos, To: name.End}, "the body of macro @%s has no end",
			m.Name).
			Hintf("end it with %%)")
		return bad(name)
	}
	m.End = at.in.file.Offset(end.Pos)
	if old := x.local[m.Name]; old != nil {
		x.errorf(code.MacroRedefined, name.Span(), "macro @%s is defined twice in this file", m.Name).Note(old.At,
			"it was defined here first")
		return nil
	}
	if AtOps[m.Name] {
		x.warnf(code.MacroBuiltin, name.Span(), "macro @%s hides the operator of that name", m.Name)
	}
	x.define(m)
	x.space = true
	return nil
}

// endOfBody reads up to the %) that ends a macro's body, nil if there is none.
func (x *Filter) endOfBody() *Tok {
	for depth := 0; ; {
		switch t := x.raw(); t.Type {
		case stapparse.StapLexerPP_IF:
			depth++
		case stapparse.StapLexerPP_END:
			if depth == 0 {
				return t
			}
			depth--
		case antlr.TokenEOF:
			return nil
		}
	}
}

// use expands m at t.
func (x *Filter) use(t *Tok, m *Macro) *Tok {
	if t.in.expands(m) {
		x.errorf(code.MacroRecursion, t.Span(), "macro @%s uses itself", m.Name).Note(m.At, "it is defined here")
		return bad(t)
	}
	var args map[string]arg
	whole := *t
	if len(m.Params) > 0 {
		var end int
		var ok bool
		if args, end, ok = x.arguments(t, m); !ok {
			return bad(t)
		}
		whole.End = t.in.pos(end)
	}
	if x.pasted+m.End-m.Off > maxPasted {
		return x.tooMuch(t)
	}
	f := x.view(&whole, m.File, m.Off, m.End, "expansion of macro @"+m.Name)
	f.kind, f.macro, f.args = macroFrame, m, args
	return x.push(t, f)
}

// arguments reads "(a, b)" after the use of m at t. The parentheses must stand in
// the same text as the use. end is the byte of that text behind the ")".
func (x *Filter) arguments(t *Tok, m *Macro) (args map[string]arg, end int, ok bool) {
	f := t.in
	fail := func(sp source.Span, format string, a ...any) (map[string]arg, int, bool) {
		x.errorf(code.MacroUse, sp, format, a...).Note(m.At, "@%s takes %s: %s", m.Name,
			count(len(m.Params), "argument"), strings.Join(m.Params, ", "))
		return nil, 0, false
	}
	if u, _ := x.sub(f); u != stapparse.StapLexerLPAREN {
		return fail(t.Span(), "expected ( and arguments after @%s", m.Name)
	}
	args = map[string]arg{}
	begin, depth, n := f.i, 0, 0
	for {
		typ, start := x.sub(f)
		switch typ {
		case antlr.TokenEOF:
			return fail(t.Span(), "the arguments of @%s have no )", m.Name)
		case stapparse.StapLexerLPAREN, stapparse.StapLexerLBRACK:
			depth++
			continue
		case stapparse.StapLexerRPAREN, stapparse.StapLexerRBRACK:
			if depth > 0 {
				depth--
				continue
			}
			if typ == stapparse.StapLexerRBRACK {
				continue
			}
		case stapparse.StapLexerCOMMA:
			if depth > 0 {
				continue
			}
		default:
			continue
		}
		if n < len(m.Params) {
			args[m.Params[n]] = arg{f, begin, start}
		}
		n++
		begin = f.i
		if typ == stapparse.StapLexerRPAREN {
			break
		}
	}
	if n != len(m.Params) {
		return fail(source.Span{From: t.Pos, To: f.pos(f.i)}, "@%s is used with %s", m.Name, count(n, "argument"))
	}
	return args, f.i, true
}

// sub reads one token of f only, for what must not leave f.
func (x *Filter) sub(f *frame) (typ, start int) {
	for {
		typ, start, _ = x.lx.token(f)
		switch typ {
		case stapparse.StapLexerCOMMENT, stapparse.StapLexerOPEN_COMMENT:
			continue
		case stapparse.StapLexerARG:
			x.mention(&Tok{Text: f.text[start:f.i]})
		}
		return typ, start
	}
}
