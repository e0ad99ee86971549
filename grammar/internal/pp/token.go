package pp

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/compiler/source"
)

// Tok is one token as the parser sees it. It implements antlr.Token, so that no
// second object per token is needed.
type Tok struct {
	Type int
	// Text is the token as written; for @1 and @# it is the quoted argument.
	Text string
	// Pos and End bound it within one source.File.
	Pos, End source.Pos
	// Glued says that nothing, not even white space, stands between this token and the one before.
	Glued bool
	// Reported says that a message about this token has been given already.
	Reported bool

	in    *frame
	index int
}

// Span is the token's place.
func (t *Tok) Span() source.Span { return source.Span{From: t.Pos, To: t.End} }

// Span is the place from a's start to b's end. Where they stand in different files
// (one was pasted or expanded), it is the place in the innermost file that both
// come from.
func Span(a, b *Tok) source.Span {
	if a.in == b.in || b.in == nil || a.in == nil || a.in.file == b.in.file {
		return span(a.Pos, b.End)
	}
	for pa, fa := a.Span(), a.in; ; {
		for pb, fb := b.Span(), b.in; ; {
			if fa.file == fb.file {
				return span(pa.From, pb.To)
			}
			up := fb.outer()
			if up == nil {
				break
			}
			pb, fb = fb.useSpan(), up
		}
		up := fa.outer()
		if up == nil {
			return a.Span()
		}
		pa, fa = fa.useSpan(), up
	}
}

func span(from, to source.Pos) source.Span {
	return source.Span{From: from, To: max(from, to)}
}

// The rest implements antlr.Token.

// GetSource is not used by the parser.
func (t *Tok) GetSource() *antlr.TokenSourceCharStreamPair { return nil }

// GetTokenType is the type.
func (t *Tok) GetTokenType() int { return t.Type }

// GetChannel is the default channel.
func (t *Tok) GetChannel() int { return antlr.TokenDefaultChannel }

// GetStart is the first byte's position.
func (t *Tok) GetStart() int { return int(t.Pos) }

// GetStop is the last byte's position.
func (t *Tok) GetStop() int { return int(t.End) - 1 }

// GetLine is not kept: positions are resolved when a message is printed.
func (t *Tok) GetLine() int { return 0 }

// GetColumn is not kept either.
func (t *Tok) GetColumn() int { return 0 }

// GetText is the text.
func (t *Tok) GetText() string { return t.Text }

// SetText changes the text.
func (t *Tok) SetText(s string) { t.Text = s }

// GetTokenIndex is the index in the declaration.
func (t *Tok) GetTokenIndex() int { return t.index }

// SetTokenIndex sets the index.
func (t *Tok) SetTokenIndex(i int) { t.index = i }

// GetTokenSource is not used by the parser.
func (t *Tok) GetTokenSource() antlr.TokenSource { return nil }

// GetInputStream is not used by the parser.
func (t *Tok) GetInputStream() antlr.CharStream { return nil }

func (t *Tok) String() string { return t.Text }

// behind is the beginning of the text behind the token, in its file.
func (t *Tok) behind() string {
	f := t.in.file
	if i := f.Offset(t.End); i >= 0 && i <= len(f.Text) {
		return string(f.Text[i:min(i+16, len(f.Text))])
	}
	return ""
}
