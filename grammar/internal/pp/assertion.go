package pp

import (
	"strings"

	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// maxAssertion is the most tokens that the type in an assertion is written with.
const maxAssertion = 64

// assertion makes one token of ".(*pkg.T)" behind a variable of the program, whose dot is t; its text is the type, as
// written but for white space. The dot that joins two texts is one still: in $a.(b) and in $a . (b.c).
func (x *Filter) assertion(t *Tok) {
	x.fetch(1)
	if open := x.ahead[0]; open.Type != stapparse.StapLexerLPAREN || !open.Glued || !t.Glued {
		return
	}
	var b strings.Builder
	for i := 1; i < maxAssertion; i++ {
		x.fetch(i + 1)
		if i >= len(x.ahead) {
			return
		}
		u := x.ahead[i]
		if u.Type == stapparse.StapLexerRPAREN {
			name := b.String()
			if !isType(name) {
				return
			}
			t.Type, t.Text, t.End = stapparse.StapLexerASSERTION, name, u.End
			x.ahead = x.ahead[i+1:]
			return
		}
		if !ofType(u) {
			return
		}
		if b.Len() > 0 && !u.Glued && wordy(u) {
			b.WriteByte(' ') // chan int
		}
		b.WriteString(u.Text)
	}
}

// ofType reports whether a token can be part of the name of a type.
func ofType(t *Tok) bool {
	switch t.Type {
	case stapparse.StapLexerSTAR, stapparse.StapLexerDOT, stapparse.StapLexerSLASH, stapparse.StapLexerMINUS,
		stapparse.StapLexerLBRACK, stapparse.StapLexerRBRACK, stapparse.StapLexerCOMMA, stapparse.StapLexerNUMBER:
		return true
	}
	return wordy(t)
}

func wordy(t *Tok) bool { return t.Type == stapparse.StapLexerID || IsKeyword(t.Type) }

// isType reports whether a text is a type of Go and no variable or expression of a script.
func isType(s string) bool {
	base := strings.TrimLeft(s, "*")
	switch {
	case base == "":
		return false
	case base != s, predeclared[base], strings.HasPrefix(base, "[") && len(base) > 2,
		strings.HasPrefix(base, "map["), strings.HasPrefix(base, "chan "):
		return true
	}
	dot := strings.LastIndexByte(s, '.')
	if bracket := strings.IndexByte(s, '['); bracket >= 0 { // main.box[int]
		dot = strings.LastIndexByte(s[:bracket], '.')
	}
	return dot > 0 && dot < len(s)-1 && s[dot+1] != '[' && !strings.HasPrefix(s, ".")
}

// predeclared are the types of Go without a package.
var predeclared = map[string]bool{
	"bool": true, "string": true, "error": true, "any": true, "byte": true, "rune": true, "uintptr": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}
