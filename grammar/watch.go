package grammar

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/grammar/internal/pp"
)

// watch is the parser's error strategy: it notes in which states the parser looked
// at the current token, and ends the parse at the first token that does not fit.
type watch struct {
	*antlr.DefaultErrorStrategy
	index  int
	states []int
}

// stop is what ends a parse.
type stop struct{ at *pp.Tok }

func (w *watch) reset() { w.index, w.states = -1, w.states[:0] }

// Sync is called at every decision of the parser.
func (w *watch) Sync(p antlr.Parser) {
	if i := p.GetTokenStream().Index(); i != w.index {
		w.index, w.states = i, w.states[:0]
	}
	w.states = append(w.states, p.GetState())
}

// RecoverInline is called where one certain token is wanted.
func (w *watch) RecoverInline(p antlr.Parser) antlr.Token {
	w.Sync(p)
	panic(stop{p.GetCurrentToken().(*pp.Tok)})
}

// Recover is called where no alternative fits.
func (w *watch) Recover(p antlr.Parser, _ antlr.RecognitionException) {
	w.Sync(p)
	panic(stop{p.GetCurrentToken().(*pp.Tok)})
}

// ReportError leaves the words to explain.
func (w *watch) ReportError(antlr.Parser, antlr.RecognitionException) {}

// ReportMatch has nothing to undo.
func (w *watch) ReportMatch(antlr.Parser) {}

// InErrorRecoveryMode is never true: a parse ends at its first error.
func (w *watch) InErrorRecoveryMode(antlr.Parser) bool { return false }

// expected is the set of types that would have fitted instead of the current token.
func (p *parser) expected() map[int]bool {
	set := map[int]bool{}
	for _, s := range p.watch.states {
		if s < 0 {
			continue
		}
		p.p.SetState(s)
		for _, iv := range p.p.GetExpectedTokensWithinCurrentRule().GetIntervals() {
			for t := iv.Start; t < iv.Stop; t++ {
				set[t] = true
			}
		}
	}
	return set
}
