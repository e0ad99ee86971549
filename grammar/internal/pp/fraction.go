package pp

import (
	"strconv"

	"github.com/gostap/gostap/grammar/internal/stapparse"
)

// fraction makes one token of a number with a fraction or an exponent: 1.5, 2e3, 1.5e-3. t is the number that it begins
// with. White space stands nowhere in it, so the dot that joins two texts stays one.
func (x *Filter) fraction(t *Tok) {
	if !decimal(t.Text) {
		mantissa, ok := exponent(t.Text)
		if ok && mantissa == t.Text[:len(t.Text)-1] {
			x.signed(t)
		}
		return
	}
	x.fetch(2)
	if len(x.ahead) < 2 || x.ahead[0].Type != stapparse.StapLexerDOT || !x.ahead[0].Glued ||
		x.ahead[1].Type != stapparse.StapLexerNUMBER || !x.ahead[1].Glued {
		return
	}
	part := x.ahead[1].Text
	mantissa, isExp := exponent(part)
	if !decimal(part) && !isExp {
		return
	}
	t.Text += "." + part
	t.End = x.ahead[1].End
	x.ahead = x.ahead[2:]
	if isExp && mantissa == part[:len(part)-1] {
		x.signed(t)
	}
}

// signed adds the sign and the digits of an exponent to t, which ends in its e.
func (x *Filter) signed(t *Tok) {
	x.fetch(2)
	if len(x.ahead) < 2 || !x.ahead[0].Glued || x.ahead[1].Type != stapparse.StapLexerNUMBER || !x.ahead[1].Glued ||
		!decimal(x.ahead[1].Text) {
		return
	}
	switch x.ahead[0].Text {
	case "+", "-":
		t.Text += x.ahead[0].Text + x.ahead[1].Text
		t.End = x.ahead[1].End
		x.ahead = x.ahead[2:]
	}
}

// decimal reports whether s is digits.
func decimal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// exponent reports whether s is digits, an e and perhaps more digits, and gives the first ones.
func exponent(s string) (mantissa string, ok bool) {
	for i := range len(s) {
		if s[i] == 'e' || s[i] == 'E' {
			return s[:i], i > 0 && decimal(s[:i]) && (i == len(s)-1 || decimal(s[i+1:]))
		}
	}
	return "", false
}

// Fraction reads a number with a fraction or an exponent; ok is false if s is a whole one, or none. What is too large
// for 64 bits is infinite.
func Fraction(s string) (f float64, ok bool) {
	fraction := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.', c == 'e', c == 'E':
			fraction = true
		case c == '+', c == '-':
		case c < '0' || c > '9':
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, fraction && (err == nil || f != 0)
}
