package values

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gostap/gostap/compiler/types"
)

// rustStruct writes a structure or variant of Rust with a name as {:?} of derive(Debug) does.
func (t formed) rustStruct(v value, name string, l level, tail string) {
	fs := v.t.Fields()
	tuple := strings.HasPrefix(name, "(")
	if tuple {
		name = ""
	}
	s := t.p.shapes[v.t]
	switch {
	case tuple && len(fs) == 0 && (s == nil || !s.Cut):
		t.lit("()")
		return
	case len(fs) == 0 && (s == nil || !s.Cut):
		t.lit(name)
		return
	case t.shallow(l) || s != nil && s.Cut:
		if t.lit(name); name != "" {
			t.lit(" ")
		}
		t.lit("{...}")
		return
	}
	numbered := tuple
	for _, f := range fs {
		numbered = numbered || f.Name == "__0"
	}
	open, end := name+" { ", " }"
	if numbered {
		open, end = name+"(", ")"
	}
	if tuple && len(fs) == 1 {
		end = ",)"
	}
	t.lit(open)
	for i, f := range fs {
		if i > 0 {
			t.lit(", ")
		}
		if t.full() {
			t.lit("...")
			break
		}
		if !numbered {
			t.lit(strings.TrimPrefix(f.Name, "r#") + ": ")
		}
		t.field(v, f, l.in())
	}
	t.lit(tail + end)
}

// duration writes a time of Rust as {:?} does: in the greatest unit that it has one of.
func (t formed) duration(v value, at []int64) {
	secs, ok1 := v.word(at[0])
	b, ok2 := v.get(at[1], 4)
	if !ok1 || !ok2 {
		t.gone(v)
		return
	}
	nanos := uint64(le.Uint32(b))
	write := func(whole, part uint64, digits int, unit string) {
		s := strconv.FormatUint(whole, 10)
		if part > 0 {
			s += "." + strings.TrimRight(fmt.Sprintf("%0*d", digits, part), "0")
		}
		t.lit(s + unit)
	}
	switch {
	case nanos >= 1e9:
		t.lost()
	case secs > 0:
		write(secs, nanos, 9, "s")
	case nanos >= 1e6:
		write(nanos/1e6, nanos%1e6, 6, "ms")
	case nanos >= 1e3:
		write(nanos/1e3, nanos%1e3, 3, "µs")
	default:
		write(nanos, 0, 0, "ns")
	}
}

// rustFloat writes as {:?} does what strconv has written: with a point, or with an exponent from 1e16 on and below
// 1e-4.
func rustFloat(s string, single bool) string {
	bits := 64
	if single {
		bits = 32
	}
	x, err := strconv.ParseFloat(s, bits)
	switch {
	case err != nil || strings.HasSuffix(s, "NaN"):
		return s
	case strings.HasSuffix(s, "Inf"):
		return strings.TrimPrefix(strings.ToLower(s), "+")
	}
	if a := max(x, -x); a != 0 && (a >= 1e16 || a < 1e-4) {
		mant, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, bits), "e")
		n, _ := strconv.Atoi(exp)
		return mant + "e" + strconv.Itoa(n)
	}
	if s = strconv.FormatFloat(x, 'f', -1, bits); !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// rustQuote writes a text as {:?} does, in quotes.
func rustQuote(s string, quote rune) string {
	var b strings.Builder
	b.WriteRune(quote)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case r == '\\' || r == quote:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == 0:
			b.WriteString(`\0`)
		case r == ' ' || unicode.IsPrint(r) && !unicode.In(r, unicode.Mn, unicode.Me):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	b.WriteRune(quote)
	return b.String()
}

// isChar reports whether a type is Rust's char, which is a number of 4 bytes to debug information.
func isChar(t *types.Ctype) bool { return t.Lang == types.Rust && t.Own == "char" }
