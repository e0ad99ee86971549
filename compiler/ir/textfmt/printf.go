// Package textfmt writes values as the script language's text: the printf family,
// histograms and run-time errors. The interpreter and the host's record decoder
// both print through it, so that all executors give the same bytes.
//
// In: an ir.Format with its values, the counters of a histogram, a fault. Out:
// bytes. Nothing here reads memory: the bytes of %m and %M come in as values.
package textfmt

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gostap/gostap/compiler/ir"
)

// Val is a value of the language at run time: Int for Long, Str for String. For %m and
// %M Str holds the bytes that MemSize asked for.
type Val struct {
	Int int64
	Str string
}

// ParseFormat takes a format string apart; see ir.ParseFormat.
func ParseFormat(s string) (*ir.Format, error) { return ir.ParseFormat(s) }

// Format gives the text of f with its arguments.
func Format(f *ir.Format, args []Val) string { return string(Append(nil, f, args)) }

// Append appends the text of f to dst. args are as f.Args counts them; missing ones are zero.
//
// The rules are those of stap's runtime, which differ from C's in places: # gives 0x and 0 to
// zero as well, the 0 flag pads even when there is a precision, a precision of 0 still prints a
// zero, a negative width from an argument counts as 0.
func Append(dst []byte, f *ir.Format, args []Val) []byte {
	next := func() Val {
		if len(args) == 0 {
			return Val{}
		}
		v := args[0]
		args = args[1:]
		return v
	}
	for i := range f.Pieces {
		p := &f.Pieces[i]
		if p.Conv == 0 {
			dst = append(dst, p.Lit...)
			continue
		}
		width, prec := p.Width, p.Prec
		if p.WidthArg {
			width = Field(next().Int)
		}
		if p.PrecArg {
			prec = Field(next().Int)
		}
		dst = Conv(dst, p, width, prec, next())
	}
	return dst
}

// Field is the width or precision that an argument asks for: as C's int, from 0 to ir.MaxField.
func Field(n int64) int { return int(min(max(int32(n), 0), ir.MaxField)) }

// Conv appends one conversion with its width and precision, -1 for none.
func Conv(dst []byte, p *ir.Piece, width, prec int, v Val) []byte {
	width, prec = min(width, ir.MaxField), min(prec, ir.MaxField)
	switch p.Conv {
	case 'd', 'i':
		if width < 0 && prec < 0 && !p.Plus && !p.Space && !p.Alt {
			return strconv.AppendInt(dst, v.Int, 10)
		}
		return number(dst, p, v.Int, 10, true, width, prec)
	case 'u':
		return number(dst, p, v.Int, 10, false, width, prec)
	case 'o':
		return number(dst, p, v.Int, 8, false, width, prec)
	case 'x', 'X', 'p':
		return number(dst, p, v.Int, 16, false, width, prec)
	case 's':
		s := v.Str
		if prec >= 0 && prec < len(s) {
			s = s[:prec]
		}
		return pad(dst, p, width, len(s), func(dst []byte) []byte { return append(dst, s...) }, p.Zero)
	case 'm':
		s := memory(v.Str, prec)
		return pad(dst, p, width, len(s), func(dst []byte) []byte { return append(dst, s...) }, p.Zero)
	case 'M':
		s := memory(v.Str, prec)
		return pad(dst, p, width, 2*len(s), func(dst []byte) []byte {
			const hex = "0123456789abcdef"
			for i := 0; i < len(s); i++ {
				dst = append(dst, hex[s[i]>>4], hex[s[i]&15])
			}
			return dst
		}, p.Zero)
	case 'c':
		var buf [4]byte
		s := char(buf[:0], byte(v.Int), p.Alt)
		return pad(dst, p, width, len(s), func(dst []byte) []byte { return append(dst, s...) }, false)
	case 'b':
		return binary(dst, p, v.Int, width, prec)
	case 'g', 'G', 'f', 'F', 'e', 'E':
		return float(dst, p, width, prec, math.Float64frombits(uint64(v.Int)))
	case 'r':
		return strconv.AppendFloat(dst, math.Float64frombits(uint64(v.Int)), 'g', -1, 64)
	case 'h':
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(v.Int))), 'g', -1, 32)
	}
	return dst
}

// float appends a number with a fraction as printf(3) writes it.
func float(dst []byte, p *ir.Piece, width, prec int, f float64) []byte {
	if prec < 0 {
		prec = 6
	}
	conv, upper := p.Conv, false
	if conv < 'a' {
		conv, upper = conv-'A'+'a', true
	}
	zero := p.Zero && !p.Minus
	sign := ""
	switch {
	case math.Signbit(f):
		f, sign = -f, "-"
	case p.Plus:
		sign = "+"
	case p.Space:
		sign = " "
	}
	var s []byte
	switch {
	case math.IsNaN(f):
		s, zero = append(s, "nan"...), false
	case math.IsInf(f, 0):
		s, zero = append(s, "inf"...), false
	case conv == 'g':
		s = general(f, max(prec, 1), p.Alt)
	default:
		s = strconv.AppendFloat(s, f, conv, prec, 64)
		if p.Alt && prec == 0 {
			s = point(s)
		}
	}
	if upper {
		s = bytes.ToUpper(s)
	}
	size := len(sign) + len(s)
	if !zero && !p.Minus {
		dst = fill(dst, ' ', width-size)
	}
	dst = append(dst, sign...)
	if zero {
		dst = fill(dst, '0', width-size)
	}
	dst = append(dst, s...)
	if p.Minus {
		dst = fill(dst, ' ', width-size)
	}
	return dst
}

// general is %g of f, which is not negative: prec digits, without zeros at the end unless they are asked for.
func general(f float64, prec int, zeros bool) []byte {
	e := strconv.AppendFloat(nil, f, 'e', prec-1, 64)
	at := bytes.IndexByte(e, 'e')
	exp, _ := strconv.Atoi(string(e[at+1:]))
	if exp >= -4 && exp < prec {
		s := strconv.AppendFloat(nil, f, 'f', prec-1-exp, 64)
		if zeros {
			return point(s)
		}
		return trim(s)
	}
	m := point(e[:at:at])
	if !zeros {
		m = trim(m)
	}
	return append(m, e[at:]...)
}

// point adds a decimal point to digits without one.
func point(s []byte) []byte {
	if bytes.IndexByte(s, '.') < 0 {
		e := bytes.IndexByte(s, 'e')
		if e < 0 {
			return append(s, '.')
		}
		return slices.Insert(s, e, '.')
	}
	return s
}

// trim takes the zeros behind a decimal point off, and the point if nothing is left behind it.
func trim(s []byte) []byte {
	if bytes.IndexByte(s, '.') < 0 {
		return s
	}
	return bytes.TrimRight(bytes.TrimRight(s, "0"), ".")
}

// MemSize is how many bytes %m or %M shows for a precision, -1 for none given: at least 1.
func MemSize(prec int) int { return max(prec, 1) }

// MaxMem is the most bytes that %m and %M may be asked for; more is a run-time error.
const MaxMem = 1024

func memory(s string, prec int) string {
	if n := MemSize(prec); len(s) > n {
		return s[:n]
	}
	return s
}

// pad puts spaces around what write appends, which has size bytes; nul adds the NUL that the 0 flag
// of the string conversions asks for.
func pad(dst []byte, p *ir.Piece, width, size int, write func([]byte) []byte, nul bool) []byte {
	if !p.Minus {
		dst = fill(dst, ' ', width-size)
	}
	dst = write(dst)
	if p.Minus {
		dst = fill(dst, ' ', width-size)
	}
	if nul {
		dst = append(dst, 0)
	}
	return dst
}

func fill(dst []byte, c byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, c)
	}
	return dst
}

func number(dst []byte, p *ir.Piece, n int64, base int, signed bool, width, prec int) []byte {
	u := uint64(n)
	var sign byte
	if signed {
		switch {
		case n < 0:
			sign, u = '-', -u
		case p.Plus:
			sign = '+'
		case p.Space:
			sign = ' '
		}
	}
	prefix := ""
	if p.Alt || p.Conv == 'p' {
		switch {
		case base == 8:
			prefix = "0"
		case base == 16 && p.Conv == 'X':
			prefix = "0X"
		case base == 16:
			prefix = "0x"
		}
	}
	var buf [24]byte
	digits := strconv.AppendUint(buf[:0], u, base)
	if p.Conv == 'X' {
		for i, c := range digits {
			if c >= 'a' {
				digits[i] = c - 'a' + 'A'
			}
		}
	}
	prec = max(prec, len(digits))
	space := width - prec - len(prefix)
	if sign != 0 {
		space--
	}
	zero := p.Zero && !p.Minus
	if !zero && !p.Minus {
		dst = fill(dst, ' ', space)
	}
	if sign != 0 {
		dst = append(dst, sign)
	}
	dst = append(dst, prefix...)
	if zero {
		dst = fill(dst, '0', space)
	}
	dst = fill(dst, '0', prec-len(digits))
	dst = append(dst, digits...)
	if p.Minus {
		dst = fill(dst, ' ', space)
	}
	return dst
}

// char is one byte, written as in a C character constant when quote is set and it needs it.
func char(dst []byte, c byte, quote bool) []byte {
	if !quote {
		return append(dst, c)
	}
	return Escape(dst, c, '\'')
}

// binary writes the low bytes of n in little-endian order; width pads with zero bytes. Without
// precision the width gives the size when it is 1, 2, 4 or 8, else the size is 8.
func binary(dst []byte, p *ir.Piece, n int64, width, prec int) []byte {
	ok := func(n int) bool { return n == 1 || n == 2 || n == 4 || n == 8 }
	if !ok(prec) {
		prec = -1
	}
	switch {
	case width < 0 && prec < 0:
		width, prec = 8, 8
	case width < 0:
		width = prec
	case prec < 0 && ok(width):
		prec = width
	case prec < 0:
		prec = 8
	}
	if !p.Minus {
		dst = fill(dst, 0, width-prec)
	}
	for i := 0; i < prec; i++ {
		dst = append(dst, byte(n>>(8*i)))
	}
	if p.Minus {
		dst = fill(dst, 0, width-prec)
	}
	return dst
}

// CTime is the time sec seconds after 1970 in UTC, as C's asctime writes it without the newline.
func CTime(sec int64) string {
	// The range in which the year fits C's int.
	switch {
	case sec > 67768036191676799:
		return "far far in the future..."
	case sec < -67768040609740800:
		return "a long, long time ago..."
	}
	return time.Unix(sec, 0).UTC().Format("Mon Jan _2 15:04:05 2006")
}
