package pp

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// frame is one text that tokens are being read from: the script itself, the body
// of a macro in use, an argument of that macro, or a pasted script argument.
type frame struct {
	file *source.File
	off  int    // where in file the text begins
	text string // what is read
	i    int    // next byte of text

	up   *frame // where reading goes on after this text
	kind frameKind

	macro *Macro
	args  map[string]arg // of a macro body: its arguments by parameter name
	env   *frame         // of an argument: the frame whose parameters its text means

	// asked is the frame that asked for this text, at its bytes use[0]:use[1].
	asked *frame
	use   [2]int
}

type frameKind uint8

const (
	fileFrame frameKind = iota
	macroFrame
	argFrame
	pasteFrame
)

// arg is the text of a macro's argument: bytes of the frame of the use.
type arg struct {
	in       *frame
	off, end int // in in.text
}

func newFrame(f *source.File, off, end int) *frame {
	return &frame{file: f, off: off, text: string(f.Text[off:end])}
}

// pos is the position of byte i of the text.
func (f *frame) pos(i int) source.Pos { return f.file.Pos(f.off + i) }

// outer is the frame that this frame's text stands for a piece of, nil for a file.
func (f *frame) outer() *frame {
	if f.kind == argFrame {
		return f.env.outer()
	}
	return f.asked
}

// useSpan is the piece of outer that this frame's text stands for.
func (f *frame) useSpan() source.Span {
	if f.kind == argFrame {
		return f.env.useSpan()
	}
	return source.Span{From: f.asked.pos(f.use[0]), To: f.asked.pos(f.use[1])}
}

// pasted reports whether f's text comes from a script argument.
func (f *frame) pasted() bool {
	for ; f != nil; f = f.outer() {
		if f.kind == pasteFrame {
			return true
		}
	}
	return false
}

// expands reports whether f's text is, in the end, part of an expansion of m.
func (f *frame) expands(m *Macro) bool {
	for ; f != nil; f = f.outer() {
		if f.macro == m {
			return true
		}
	}
	return false
}

// bytes is the antlr.CharStream over a frame. Every byte of a multi-byte
// character reads as U+0001, which no token but JUNK, strings and comments may
// hold: so indexes are byte offsets, and the lexer stays in its tables, which
// reach up to 127.
type bytes struct{ f *frame }

func (b bytes) Consume() { b.f.i++ }

func (b bytes) LA(k int) int {
	i := b.f.i + k - 1
	if k < 0 {
		i = b.f.i + k
	}
	if i < 0 || i >= len(b.f.text) {
		return antlr.TokenEOF
	}
	if c := b.f.text[i]; c < 0x80 {
		return int(c)
	}
	return 1
}

func (b bytes) Mark() int                                 { return -1 }
func (b bytes) Release(int)                               {}
func (b bytes) Index() int                                { return b.f.i }
func (b bytes) Seek(i int)                                { b.f.i = i }
func (b bytes) Size() int                                 { return len(b.f.text) }
func (b bytes) GetSourceName() string                     { return b.f.file.Name }
func (b bytes) GetText(i, j int) string                   { return b.f.text[i:min(j+1, len(b.f.text))] }
func (b bytes) GetTextFromTokens(_, _ antlr.Token) string { return "" }
func (b bytes) GetTextFromInterval(antlr.Interval) string { return "" }

// lexer cuts one token at a time from a frame.
type lexer struct {
	sim antlr.ILexerATNSimulator
}

func newLexer() lexer {
	return lexer{stapparse.NewStapLexer(nil).Interpreter}
}

// token reads the type and the end of the next token of f, which is moved behind
// it. White space before it is skipped; space says whether there was any.
func (l lexer) token(f *frame) (typ, start int, space bool) {
	for f.i < len(f.text) {
		switch f.text[f.i] {
		case ' ', '\t', '\r', '\n', '\f', '\v':
			f.i++
			space = true
			continue
		}
		break
	}
	start = f.i
	if f.i >= len(f.text) {
		return antlr.TokenEOF, start, space
	}
	return l.sim.Match(bytes{f}, antlr.LexerDefaultMode), start, space
}
