// Package pp turns the text of a script into the tokens that the parser reads:
// it expands macros, decides %( %), pastes script arguments, and gives tokens the
// types that make the grammar LL(1).
//
// In: a source.File, script arguments, macros of the library, what conditions may
// ask for. Out: *Tok, one at a time, each with its place in some source.File; text
// that was pasted or expanded is a view with a chain back to where it was asked for.
package pp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/habits"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/code"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// Options is what preprocessing depends on, besides the text.
type Options struct {
	Files  *source.FileSet
	Args   []string
	Cond   Conditions
	Macros *Table // of the library, may be nil
	// Local are macros defined in the same file before the text, may be nil.
	Local []*Macro
}

// The bounds on what a hostile script may make of a few bytes.
const (
	maxTokens     = 1 << 19  // after preprocessing, in one text
	maxExpansions = 100_000  // uses of macros, parameters and arguments
	maxPasted     = 32 << 20 // bytes that expansions give to read again
	maxNesting    = 200      // expansions inside each other
	maxMessages   = 100
)

// Filter reads tokens. Messages go to Diags.
type Filter struct {
	Diags diag.List
	// Used tells which script arguments the text mentions.
	Used []bool
	// Quiet drops messages: text is being skipped after an error.
	Quiet bool
	// OpenComment is the place of a comment that is never closed, if any.
	OpenComment source.Span

	o     Options
	lx    lexer
	top   *frame
	local map[string]*Macro
	conds []cond
	space bool // white space was read since the last token that was given out

	tokens, expansions, pasted, depth int
	spent                             bool // one of the bounds was reached
	cut                               bool // the end comes too early, which was said

	slab []Tok
	retyper
}

// cond is a %( %? whose %) was not read yet.
type cond struct {
	open   *Tok
	inElse bool
}

// New reads bytes off to end of f.
func New(f *source.File, off, end int, o Options) *Filter {
	if o.Files == nil {
		o.Files = new(source.FileSet)
	}
	x := &Filter{o: o, lx: newLexer(), top: newFrame(f, off, end), Used: make([]bool, len(o.Args))}
	if off == 0 && strings.HasPrefix(x.top.text, "\ufeff") {
		x.top.i = len("\ufeff") // a byte order mark
	}
	for _, m := range o.Local {
		x.define(m)
	}
	return x
}

func (x *Filter) tok() *Tok {
	if len(x.slab) == 0 {
		x.slab = make([]Tok, 64)
	}
	t := &x.slab[0]
	x.slab = x.slab[1:]
	return t
}

func (x *Filter) errorf(c diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	return x.message(diag.Error, c, sp, format, args...)
}

func (x *Filter) warnf(c diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	return x.message(diag.Warning, c, sp, format, args...)
}

// message adds a message, as long as there are not too many already.
func (x *Filter) message(s diag.Severity, c diag.Code, sp source.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: s, Phase: diag.Parse, Code: c, Span: sp, Message: fmt.Sprintf(format, args...)}
	if (len(x.Diags) >= maxMessages || x.Quiet) && c != code.TooLarge {
		return d
	}
	return x.Diags.Add(d)
}

// bad turns t into a token that no rule takes; what is wrong was said already.
func bad(t *Tok) *Tok {
	t.Type, t.Reported = stapparse.StapLexerJUNK, true
	return t
}

// raw reads the next token of the top frame, leaving frames that are read up.
// Comments are dropped, tokens that lack their end are reported.
func (x *Filter) raw() *Tok {
	for {
		f := x.top
		typ, start, space := x.lx.token(f)
		x.space = x.space || space
		switch typ {
		case antlr.TokenEOF:
			if f.up != nil {
				x.top = f.up
				x.depth--
				continue
			}
		case stapparse.StapLexerCOMMENT:
			x.space = true
			continue
		case stapparse.StapLexerOPEN_COMMENT:
			x.space = true
			x.openComment(f, start)
			continue
		}
		t := x.tok()
		*t = Tok{Type: typ, Text: f.text[start:f.i], Pos: f.pos(start), End: f.pos(f.i), Glued: !x.space, in: f}
		x.space = false
		switch typ {
		case stapparse.StapLexerARG:
			x.mention(t)
		case stapparse.StapLexerJUNK:
			x.widen(f, start, t)
		}
		return t
	}
}

// openComment says that the comment at start is never closed. stap takes that as
// a comment up to the end of the file, so it is a warning.
func (x *Filter) openComment(f *frame, start int) {
	x.OpenComment = source.Span{From: f.pos(start), To: f.pos(start + 2)}
	x.warnf(code.OpenComment, x.OpenComment, "this comment is never closed").
		Hintf("everything after it is ignored; end it with */")
}

// widen makes a junk byte a whole character.
func (x *Filter) widen(f *frame, start int, t *Tok) {
	if f.text[start] < utf8.RuneSelf {
		return
	}
	_, n := utf8.DecodeRuneInString(f.text[start:])
	f.i = start + n
	t.Text, t.End = f.text[start:f.i], f.pos(f.i)
}

// argIndex reads "$12" or "@12"; ok is false for "$#" and for what no script has.
func argIndex(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text[1:])
	return n, err == nil
}

func (x *Filter) mention(t *Tok) {
	if n, ok := argIndex(t.Text); ok && n >= 1 && n <= len(x.Used) {
		x.Used[n-1] = true
	} else if t.Text[1] == '#' {
		// A script that asks how many there are may ignore the rest on purpose.
		return
	}
}

// expanded reads the next token with macros and arguments replaced, conditions
// left as they are.
func (x *Filter) expanded() *Tok {
	for {
		t := x.raw()
		if t.Type != antlr.TokenEOF {
			if x.tokens++; x.tokens > maxTokens {
				return x.spend(t, "this script is too large: more than %d tokens", maxTokens)
			}
		}
		switch t.Type {
		case stapparse.StapLexerARG:
			if u := x.paste(t); u != nil {
				return u
			}
		case stapparse.StapLexerATWORD:
			if u := x.atWord(t); u != nil {
				return u
			}
		case stapparse.StapLexerOPEN_STRING:
			return x.openString(t)
		case stapparse.StapLexerOPEN_EMBEDDED:
			d := x.errorf(code.OpenEmbedded, source.Span{From: t.Pos, To: t.Pos + 2}, "this %%{ is never closed")
			if strings.Contains(t.Text, "}%") {
				d.Hintf("embedded code ends with %%}, not with }%%")
			} else {
				d.Hintf("end the embedded code with %%}")
			}
			return bad(t)
		case stapparse.StapLexerEMBEDDED:
			if i := strings.Index(t.Text[:len(t.Text)-2], "}%"); i >= 0 {
				at := t.Pos + source.Pos(i)
				x.warnf(code.EmbeddedTypo, source.Span{From: at, To: at + 2}, "}%% inside of embedded code").
					Hintf("embedded code ends with %%}")
			}
			return t
		case stapparse.StapLexerJUNK:
			return x.junk(t)
		default:
			return t
		}
	}
}

func (x *Filter) openString(t *Tok) *Tok {
	d := x.errorf(code.OpenString, t.Span(), "this string is not closed on its line")
	if t.in.kind == pasteFrame {
		d.Hintf("@ instead of $ pastes the argument as one whole string")
	} else {
		d.Hintf("end it with \"; a new line inside of a string is written \\n")
	}
	return bad(t)
}

func (x *Filter) junk(t *Tok) *Tok {
	r, _ := utf8.DecodeRuneInString(t.Text)
	var what string
	switch {
	case r == utf8.RuneError && len(t.Text) == 1:
		what = "byte 0x" + strconv.FormatUint(uint64(t.Text[0]), 16) + ", which is not UTF-8"
	case strconv.IsPrint(r):
		what = "character '" + t.Text + "'"
	default:
		what = fmt.Sprintf("character U+%04X", r)
	}
	d := x.errorf(code.BadCharacter, t.Span(), "unexpected %s", what)
	switch r {
	case '\'', '\u2018', '\u2019', '\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb', '`':
		d.Hintf("strings are written in plain double quotes: \"text\"")
	case '\u00a0', '\u200b', '\u3000', '\u2028':
		d.Hintf("this is a space of another kind; use a plain one")
	case '\u2013', '\u2014', '\u2212':
		d.Hintf("this is not the minus sign of the keyboard: -")
	case '@':
		d.Hintf("a name must follow the @ at once")
		if next := strings.TrimLeft(t.behind(), " "); next != "" &&
			(next[0] == '[' || next[0] == '=' && !strings.HasPrefix(next, "==")) {
			d.Hintf("%s", habits.At("", next))
		}
	case '\\':
		d.Hintf("lines need no mark to go on: a new line is plain space")
	}
	return bad(t)
}

// spend stops reading: every frame is dropped, the end of the text follows.
func (x *Filter) spend(t *Tok, format string, args ...any) *Tok {
	if !x.spent {
		x.spent, x.cut = true, true
		x.errorf(code.TooLarge, t.Span(), format, args...)
	}
	for x.top.up != nil {
		x.top = x.top.up
	}
	x.top.i = len(x.top.text)
	x.conds = nil
	return bad(t)
}

// push goes on reading with f, which stands for bytes use of the frame asked.
func (x *Filter) push(t *Tok, f *frame) *Tok {
	x.expansions++
	x.depth++
	switch {
	case x.expansions > maxExpansions:
		return x.spend(t, "this script expands more than %d macros and arguments", maxExpansions)
	case x.depth > maxNesting:
		return x.spend(t, "macros are nested more than %d deep", maxNesting)
	case !x.room(len(f.text)):
		return x.tooMuch(t)
	}
	f.up = x.top
	x.top = f
	// Whether the first token touches the one before is decided at the place of use.
	x.space = !t.Glued
	return nil
}

// room takes n bytes from what expansions may make in all.
func (x *Filter) room(n int) bool {
	x.pasted += n
	return x.pasted <= maxPasted
}

func (x *Filter) tooMuch(t *Tok) *Tok {
	return x.spend(t, "macros and arguments expand to more than %d MB", maxPasted>>20)
}

// view enters bytes off to end of file again, expanded at t.
func (x *Filter) view(t *Tok, file *source.File, off, end int, why string) *frame {
	v := x.o.Files.AddView(file, off, end, t.Pos, why)
	f := newFrame(v, 0, len(v.Text))
	f.askedBy(t)
	return f
}

func (f *frame) askedBy(t *Tok) {
	f.asked = t.in
	f.use = [2]int{int(t.Pos - t.in.pos(0)), int(t.End - t.in.pos(0))}
}

// paste replaces $1 @1 $# @#. It gives a token for the forms that are one, else
// nil after it pushed the argument's text.
func (x *Filter) paste(t *Tok) *Tok {
	if t.in.pasted() {
		x.errorf(code.ArgNested, t.Span(), "an argument is pasted inside of an argument: %s", t.Text).
			Hintf("@ instead of $ pastes an argument as a string, whatever it holds")
		return bad(t)
	}
	name := "<argument " + t.Text[1:] + ">"
	var text string
	if t.Text[1] == '#' {
		text = strconv.Itoa(len(x.o.Args))
		name = "<number of arguments>"
	} else {
		n, ok := argIndex(t.Text)
		if !ok || n < 1 || n > len(x.o.Args) {
			return x.noArg(t)
		}
		text = x.o.Args[n-1]
	}
	if t.Text[0] == '@' {
		u := *t
		quoted := quote(text)
		if x.expansions++; !x.room(len(quoted)) || x.expansions > maxExpansions {
			return x.tooMuch(t)
		}
		f := newFrameText(x.o.Files.AddPaste(name, []byte(quoted), t.Pos, "argument "+t.Text), quoted)
		f.kind = pasteFrame
		f.askedBy(t)
		u.Type, u.Text, u.in = stapparse.StapLexerSTRING, quoted, f
		u.Pos, u.End = f.pos(0), f.pos(len(quoted))
		*t = u
		return t
	}
	// Characters are pasted, not tokens: a name or number that follows at once
	// grows onto the argument's end.
	in := x.top
	if n := len(text); n > 0 && isWord(text[n-1]) {
		for in.i < len(in.text) && isWord(in.text[in.i]) {
			text += in.text[in.i : in.i+1]
			in.i++
		}
	}
	if x.pasted+len(text) > maxPasted {
		return x.tooMuch(t)
	}
	f := newFrameText(x.o.Files.AddPaste(name, []byte(text), t.Pos, "argument "+t.Text), text)
	f.kind = pasteFrame
	f.askedBy(t)
	return x.push(t, f)
}

func newFrameText(f *source.File, text string) *frame { return &frame{file: f, text: text} }

func (x *Filter) noArg(t *Tok) *Tok {
	switch n := len(x.o.Args); n {
	case 0:
		x.errorf(code.ArgRange, t.Span(), "the script asks for argument %s, but it was given none", t.Text).
			Hintf("arguments follow the script on the command line")
	default:
		x.errorf(code.ArgRange, t.Span(), "the script asks for argument %s, but it was given only %d", t.Text, n).
			Hintf("arguments are counted from 1; %%( $# > 1 %%? ... %%) makes one optional")
	}
	return bad(t)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// quote writes s as a string literal.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// preprocessed reads the next token with %( %) decided too.
func (x *Filter) preprocessed() *Tok {
	for {
		t := x.expanded()
		switch t.Type {
		case stapparse.StapLexerPP_IF:
			if !x.condition(t) {
				return bad(t)
			}
		case stapparse.StapLexerPP_THEN:
			x.errorf(code.ConditionStray, t.Span(), "%%? without a %%( and a condition before it")
			return bad(t)
		case stapparse.StapLexerPP_ELSE:
			n := len(x.conds)
			switch {
			case n == 0:
				x.errorf(code.ConditionStray, t.Span(), "%%: without %%( before it")
				return bad(t)
			case x.conds[n-1].inElse:
				x.secondElse(t, x.conds[n-1].open)
				return bad(t)
			}
			x.skip(x.conds[n-1].open, true, 0)
			x.conds = x.conds[:n-1]
		case stapparse.StapLexerPP_END:
			n := len(x.conds)
			if n == 0 {
				x.errorf(code.ConditionStray, t.Span(), "%%) without %%( before it")
				return bad(t)
			}
			x.conds = x.conds[:n-1]
		case antlr.TokenEOF:
			if n := len(x.conds); n > 0 {
				open := x.conds[n-1].open
				x.conds = nil
				x.unclosed(open)
			}
			t.Reported = x.cut
			return t
		default:
			return t
		}
		// What stood between the directives is no white space, the directives are.
		x.space = true
	}
}

func (x *Filter) unclosed(open *Tok) {
	x.cut = true
	x.errorf(code.ConditionOpen, open.Span(),
		"this %%( is never closed").Hintf("a condition is written %%( test %%? tokens %%: tokens %%)")
}

// condition reads "test %?" after open and, where the test fails, what it guards.
func (x *Filter) condition(open *Tok) bool {
	holds, ok := x.test(open)
	if !ok {
		x.skip(open, true, 1)
		return false
	}
	if holds {
		x.conds = append(x.conds, cond{open: open})
		return true
	}
	if x.skip(open, false, 1) {
		x.conds = append(x.conds, cond{open: open, inElse: true})
	}
	return true
}

// skip drops tokens up to the %) of open, or with toEnd unset up to its %:, and
// says whether it stopped at %:. elses is how many %: may come.
func (x *Filter) skip(open *Tok, toEnd bool, elses int) bool {
	thens := make([]bool, 1, 4)     // per %( that is open: its %? has been read
	thens[0] = !toEnd || elses == 0 // a test that failed may have left its %? behind
	for depth := 0; ; {
		switch t := x.raw(); t.Type {
		case stapparse.StapLexerPP_IF:
			depth++
			thens = append(thens, false)
		case stapparse.StapLexerPP_THEN:
			if thens[depth] {
				x.errorf(code.ConditionStray, t.Span(), "a second %%? for the same %%(")
			}
			thens[depth] = true
		case stapparse.StapLexerPP_ELSE:
			if depth > 0 {
				break
			}
			if elses--; elses < 0 {
				x.secondElse(t, open)
			}
			if !toEnd {
				return true
			}
		case stapparse.StapLexerPP_END:
			if depth == 0 {
				return false
			}
			depth--
			thens = thens[:depth+1]
		case antlr.TokenEOF:
			x.unclosed(open)
			return false
		}
	}
}

func (x *Filter) secondElse(t, open *Tok) {
	x.errorf(code.ConditionStray, t.Span(), "a second %%: for the same %%(").Note(open.Span(), "it was opened here")
}
