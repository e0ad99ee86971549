package pp

import "github.com/antlr4-go/antlr/v4"

// Stream is the antlr.TokenStream over a Filter. It keeps only what the parser
// may still ask for: the token before, the current one and what was looked at.
type Stream struct {
	x    *Filter
	prev *Tok
	toks []*Tok // the current token and those after it
	n    int    // index of the current token
}

// NewStream makes a stream; the first token is read when it is asked for.
func NewStream(x *Filter) *Stream { return &Stream{x: x} }

// Tok gives the k-th token from here, 1 being the current one.
func (s *Stream) Tok(k int) *Tok {
	if k == -1 {
		return s.prev
	}
	for len(s.toks) < k {
		t := s.x.Next()
		if t.Type != antlr.TokenEOF {
			t.index = s.n + len(s.toks)
		}
		s.toks = append(s.toks, t)
	}
	return s.toks[k-1]
}

// LT implements antlr.TokenStream.
func (s *Stream) LT(k int) antlr.Token {
	if t := s.Tok(k); t != nil {
		return t
	}
	return nil
}

// LA implements antlr.TokenStream.
func (s *Stream) LA(k int) int {
	if len(s.toks) >= k && k > 0 {
		return s.toks[k-1].Type
	}
	return s.Tok(k).Type
}

// Consume implements antlr.TokenStream.
func (s *Stream) Consume() {
	s.prev = s.Tok(1)
	if s.prev.Type == antlr.TokenEOF {
		return
	}
	s.toks = append(s.toks[:0], s.toks[1:]...)
	s.n++
}

// Restart makes the current token the first of a new declaration.
func (s *Stream) Restart() { s.x.Restart(s.Tok(1)) }

// The parser is LL(1) and recovers outside of ANTLR, so nothing below is called
// with more than it can answer.

// Mark does nothing: no decision goes back.
func (s *Stream) Mark() int { return 0 }

// Release does nothing.
func (s *Stream) Release(int) {}

// Index counts the tokens read.
func (s *Stream) Index() int { return s.n }

// Seek does nothing.
func (s *Stream) Seek(int) {}

// Size is not known before the end.
func (s *Stream) Size() int { return s.n + len(s.toks) }

// GetSourceName is not used.
func (s *Stream) GetSourceName() string { return "" }

// Reset does nothing.
func (s *Stream) Reset() {}

// Get is not used.
func (s *Stream) Get(int) antlr.Token { return s.LT(1) }

// GetTokenSource is not used.
func (s *Stream) GetTokenSource() antlr.TokenSource { return nil }

// SetTokenSource does nothing.
func (s *Stream) SetTokenSource(antlr.TokenSource) {}

// GetAllText is not used.
func (s *Stream) GetAllText() string { return "" }

// GetTextFromInterval is not used.
func (s *Stream) GetTextFromInterval(antlr.Interval) string { return "" }

// GetTextFromRuleContext is not used.
func (s *Stream) GetTextFromRuleContext(antlr.RuleContext) string { return "" }

// GetTextFromTokens is not used.
func (s *Stream) GetTextFromTokens(_, _ antlr.Token) string { return "" }
