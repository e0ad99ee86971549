package pp

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// Describe names a token in plain words: "name foo", "keyword if", "'+'", "the end
// of the text".
func Describe(t *Tok) string {
	text := cut(t.Text, 40)
	switch t.Type {
	case antlr.TokenEOF:
		return "the end of the script"
	case stapparse.StapLexerID, stapparse.StapLexerFUNC_NAME:
		if t.Text != "" && t.Text[0] == '@' {
			return "operator " + text
		}
		return "name " + text
	case stapparse.StapLexerATWORD:
		return "operator " + text
	case stapparse.StapLexerTARGET:
		return "variable " + text
	case stapparse.StapLexerNUMBER:
		return "number " + text
	case stapparse.StapLexerSTRING, stapparse.StapLexerSTRING_MORE:
		return "string " + text
	case stapparse.StapLexerEMBEDDED:
		return "embedded code"
	}
	if IsKeyword(t.Type) {
		return "keyword " + text
	}
	return "'" + text + "'"
}

// IsKeyword reports whether typ is a word that the language reserves.
func IsKeyword(typ int) bool {
	return typ >= stapparse.StapLexerPROBE && typ <= stapparse.StapLexerCATCH || typ == stapparse.StapLexerRETURN_VOID
}
