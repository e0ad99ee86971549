package ast

import (
	"strconv"
	"strings"
)

// LiteralText writes a literal as the language does.
func LiteralText(l *Literal) string {
	if !l.IsString {
		if l.Text != "" {
			return l.Text
		}
		return strconv.FormatInt(l.Num, 10)
	}
	return QuoteString(l.Str)
}

// QuoteString writes s as a string literal that reads back as the same bytes.
func QuoteString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		case '\r':
			b.WriteString(`\r`)
		default:
			if c < 0x20 || c == 0x7f {
				// three digits, so that a digit that follows is not taken in
				b.WriteByte('\\')
				b.WriteByte('0' + c>>6)
				b.WriteByte('0' + c>>3&7)
				b.WriteByte('0' + c&7)
			} else {
				b.WriteByte(c)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
