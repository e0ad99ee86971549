package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// Format is a print format, taken apart. In its plain form no two literal pieces stand
// next to each other and none is empty; ParseFormat and Append give that.
type Format struct{ Pieces []Piece }

// Piece is literal text or one conversion.
type Piece struct {
	// Lit is literal text; Conv is 0 then.
	Lit string
	// Conv is one of d i u o x X p (long), s (string), c (byte), b (raw binary), m and M (memory); and of what scripts
	// cannot write, g and h: the bits of a fraction of 64 and of 32 bits (IEEE 754), as the shortest text that means
	// it.
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

// Append adds the pieces of g to f, joining literal text where they meet.
func (f *Format) Append(pieces ...Piece) {
	for _, p := range pieces {
		if p.Conv == 0 {
			if p.Lit == "" {
				continue
			}
			if n := len(f.Pieces); n > 0 && f.Pieces[n-1].Conv == 0 {
				f.Pieces[n-1].Lit += p.Lit
				continue
			}
			p = Literal(p.Lit)
		}
		f.Pieces = append(f.Pieces, p)
	}
}

// FormatError says what is wrong with a format string and where.
type FormatError struct {
	Off int // byte offset in the format string, at its length when something is missing
	Msg string
}

func (e *FormatError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Off) }

// MaxField bounds a width or precision: what is wider is cut to it, as in stap, whose print
// buffer is that large.
const MaxField = 8192

// ParseFormat takes a printf format apart: %[flags][width|*][.precision|.*][l|ll]conversion with
// the flags - + space 0 #. Errors are *FormatError.
func ParseFormat(s string) (*Format, error) { return parseFormat(s, scriptConvs) }

func parseFormat(s, convs string) (*Format, error) {
	f := &Format{}
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '%')
		if j < 0 {
			f.Append(Literal(s[i:]))
			break
		}
		f.Append(Literal(s[i : i+j]))
		i += j
		if i+1 < len(s) && s[i+1] == '%' {
			f.Append(Literal("%"))
			i += 2
			continue
		}
		p, n, err := parseConv(s, i, convs)
		if err != nil {
			return nil, err
		}
		f.Pieces = append(f.Pieces, p)
		i = n
	}
	return f, nil
}

// parseConv reads the conversion whose % is s[at] and gives the offset behind it.
func parseConv(s string, at int, convs string) (Piece, int, error) {
	p := Conv(0)
	i := at + 1
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			p.Minus = true
		case '+':
			p.Plus = true
		case ' ':
			p.Space = true
		case '0':
			p.Zero = true
		case '#':
			p.Alt = true
		default:
			break flags
		}
	}
	number := func() int {
		n := 0
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = min(n*10+int(s[i]-'0'), MaxField)
		}
		return n
	}
	if i < len(s) && s[i] == '*' {
		p.WidthArg = true
		i++
	} else if i < len(s) && s[i] >= '0' && s[i] <= '9' {
		p.Width = number()
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i < len(s) && s[i] == '*' {
			p.PrecArg = true
			i++
		} else if i < len(s) && s[i] >= '0' && s[i] <= '9' {
			p.Prec = number()
		}
	}
	for n := 0; n < 2 && i < len(s) && s[i] == 'l'; n++ {
		i++
	}
	if i >= len(s) {
		return p, i, &FormatError{i, "unfinished conversion"}
	}
	if strings.IndexByte(convs, s[i]) < 0 {
		return p, i, &FormatError{i, fmt.Sprintf("unknown conversion %q", "%"+s[i:i+1])}
	}
	p.Conv = s[i]
	return p, i + 1, nil
}

// The conversions that scripts can write, and all.
const (
	scriptConvs = "diuoxXpscbmMgGfFeE"
	allConvs    = scriptConvs + "rh"
)

func validConv(c byte) bool { return c != 0 && strings.IndexByte(allConvs, c) >= 0 }

// IsFraction reports whether a piece shows a fraction, which only the host can write: as scripts write it, or in as few
// digits as tell it apart from others, of the bits of a number of 64 (r) or 32 bits (h).
func (p *Piece) IsFraction() bool { return p.IsFloat() || p.Conv == 'r' || p.Conv == 'h' }

// IsFloat reports whether a piece shows a float of a script.
func (p *Piece) IsFloat() bool { return p.Conv != 0 && strings.IndexByte("gGfFeE", p.Conv) >= 0 }

// ArgTypes gives the type of each argument that f takes, in order; widths and precisions from
// arguments are Long, as are the addresses of %m and %M.
func (f *Format) ArgTypes() []types.Type {
	var ts []types.Type
	for _, p := range f.Pieces {
		if p.Conv == 0 {
			continue
		}
		if p.WidthArg {
			ts = append(ts, types.Long)
		}
		if p.PrecArg {
			ts = append(ts, types.Long)
		}
		if p.Conv == 's' {
			ts = append(ts, types.String)
		} else {
			ts = append(ts, types.Long)
		}
	}
	return ts
}

// Unread is the only name of a statement that prints a global at the end because the script never reads it, and whose
// values the global has.
const Unread = "="

// SpanName and SpanTime are the names of the values of span() that have no other: its name, and how many ns it took.
const (
	SpanName = "~name"
	SpanTime = "~ns"
)

// headMark begins the formats of prints with a head; the names of the arguments follow, each with nameEnd.
const (
	headMark = "\x01gostap\x01"
	nameEnd  = "\x01"
)

// HeadArgs is how many arguments of a print make its head: the process, the thread, the time in nanoseconds since
// 1970 and the probe point of the hit. They are not printed, but told to whoever takes prints as values.
const HeadArgs = 4

// Headed gives the format of a print of f with a head, whose arguments have these names. Optimising leaves such prints
// as they were written, one for each statement and with all arguments.
func (f *Format) Headed(names []string) *Format {
	mark := headMark
	for _, n := range names {
		mark += n + nameEnd
	}
	h := &Format{Pieces: []Piece{Literal(mark), Conv('d'), Conv('d'), Conv('d'), Conv('s')}}
	h.Append(f.Pieces...)
	return h
}

// IsHeaded reports whether f was made by Headed.
func (f *Format) IsHeaded() bool {
	return len(f.Pieces) > HeadArgs && f.Pieces[0].Conv == 0 &&
		strings.HasPrefix(f.Pieces[0].Lit, headMark)
}

// ArgNames are the names of the arguments of a print with a head, "" for those that have none.
func (f *Format) ArgNames() []string {
	if !f.IsHeaded() || f.Pieces[0].Lit == headMark {
		return nil
	}
	return strings.Split(strings.TrimSuffix(f.Pieces[0].Lit[len(headMark):], nameEnd), nameEnd)
}

// Headless is f without its head.
func (f *Format) Headless() *Format {
	if !f.IsHeaded() {
		return f
	}
	return &Format{Pieces: f.Pieces[1+HeadArgs:]}
}
