package ir

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
