package ir

import (
	"slices"
	"strconv"
	"strings"
)

// Format is a print format, taken apart.
type Format struct{ Pieces []Piece }

// Piece is literal text or one conversion.
type Piece struct {
	// Lit is literal text; Conv is 0 then.
	Lit string
	// Conv is one of d i u o x X p (long), s (string), c (byte), b (raw binary), m and M (memory).
	Conv byte
	// The flags.
	Minus, Plus, Space, Zero, Alt bool
	// Width and Prec are -1 when absent; WidthArg and PrecArg take them from an argument that
	// comes before the value.
	Width, Prec       int
	WidthArg, PrecArg bool
}

// Args counts the arguments that f takes.
func (f *Format) Args() int {
	n := 0
	for _, p := range f.Pieces {
		if p.Conv == 0 {
			continue
		}
		n++
		if p.WidthArg {
			n++
		}
		if p.PrecArg {
			n++
		}
	}
	return n
}

// Literal makes a piece of text.
func Literal(s string) Piece { return Piece{Lit: s, Width: -1, Prec: -1} }

// Conv makes a plain conversion.
func Conv(c byte) Piece { return Piece{Conv: c, Width: -1, Prec: -1} }

// Equal reports whether f and g print alike.
func (f *Format) Equal(g *Format) bool { return slices.Equal(f.Pieces, g.Pieces) }

// String writes f as a printf format that parses back to it (textfmt.ParseFormat).
func (f *Format) String() string {
	var b strings.Builder
	for _, p := range f.Pieces {
		if p.Conv == 0 {
			b.WriteString(strings.ReplaceAll(p.Lit, "%", "%%"))
			continue
		}
		b.WriteByte('%')
		for _, fl := range []struct {
			on bool
			c  byte
		}{{p.Minus, '-'}, {p.Plus, '+'}, {p.Space, ' '}, {p.Zero, '0'}, {p.Alt, '#'}} {
			if fl.on {
				b.WriteByte(fl.c)
			}
		}
		if p.WidthArg {
			b.WriteByte('*')
		} else if p.Width >= 0 {
			b.WriteString(strconv.Itoa(p.Width))
		}
		if p.PrecArg {
			b.WriteString(".*")
		} else if p.Prec >= 0 {
			b.WriteByte('.')
			b.WriteString(strconv.Itoa(p.Prec))
		}
		b.WriteByte(p.Conv)
	}
	return b.String()
}
