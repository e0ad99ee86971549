// Package stapparse is the lexer and the parser that ANTLR makes from
// StapLexer.g4 and StapParser.g4, and what the generated parser embeds. Nothing
// outside of package grammar sees it.
package stapparse

import "github.com/antlr4-go/antlr/v4"

// MaxDepth bounds how deep statements and expressions may stand inside each other.
const MaxDepth = 500

// TooDeep is what the parser panics with beyond MaxDepth.
type TooDeep struct{}

// Base is the part of the parser that is written by hand.
type Base struct {
	*antlr.BaseParser
	depth int
}

// Enter counts one level of nesting.
func (b *Base) Enter() {
	b.depth++
	if b.depth > MaxDepth {
		panic(TooDeep{})
	}
}

// Leave ends one level of nesting.
func (b *Base) Leave() { b.depth-- }

// ResetDepth is for a parse that begins anew after a panic.
func (b *Base) ResetDepth() { b.depth = 0 }
