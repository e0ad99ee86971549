package textfmt

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

func l(n int64) Val  { return Val{Int: n} }
func s(t string) Val { return Val{Str: t} }

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		format string
		args   []Val
		want   string
	}{
		{"plain 100%% text", nil, "plain 100% text"},
		{"%d %i %u", []Val{l(-5), l(7), l(-1)}, "-5 7 18446744073709551615"},
		{"%ld %lld %lx %llu", []Val{l(1), l(2), l(255), l(3)}, "1 2 ff 3"},
		{"%d", []Val{l(-1 << 63)}, "-9223372036854775808"},
		{"%5d|%-5d|%05d", []Val{l(42), l(42), l(42)}, "   42|42   |00042"},
		{"%05d|%+d|% d|%+d|%+5d", []Val{l(-42), l(42), l(42), l(-1), l(7)}, "-0042|+42| 42|-1|   +7"},
		{"%.3d|%6.3d|%-6.3d|%06.3d", []Val{l(7), l(7), l(7), l(7)}, "007|   007|007   |000007"},
		{"%.0d|%.d", []Val{l(0), l(0)}, "0|0"},
		{"%-05d|", []Val{l(3)}, "3    |"},
		{"%x %X %#x %#X %p", []Val{l(255), l(255), l(255), l(255), l(4096)}, "ff FF 0xff 0XFF 0x1000"},
		{"%#x %#o %p", []Val{l(0), l(0), l(0)}, "0x0 00 0x0"},
		{"%o %#o", []Val{l(8), l(8)}, "10 010"},
		{"%#10x|%#010x|%-#10x|%20p", []Val{l(255), l(255), l(255), l(255)},
			"      0xff|0x000000ff|0xff      |                0xff"},
		{"%x", []Val{l(-1)}, "ffffffffffffffff"},
		{"%s|%10s|%-10s|%.2s|%5.1s|%.0s", []Val{s("abc"), s("abc"), s("abc"), s("abc"), s("abc"), s("abc")},
			"abc|       abc|abc       |ab|    a|"},
		{"%*d|%-*d|%*d", []Val{l(4), l(1), l(4), l(1), l(-4), l(1)}, "   1|1   |1"},
		{"%.*s|%*.*s", []Val{l(2), s("abc"), l(4), l(1), s("abc")}, "ab|   a"},
		{"%.*s|", []Val{l(-1), s("abc")}, "|"},
		{"%c%c|%3c|%-3c|", []Val{l('h'), l('i'), l('x'), l('y')}, "hi|  x|y  |"},
		{"%#c%#c%#c%#c%#c%#c", []Val{l('\n'), l(1), l('a'), l('\''), l('\\'), l(200)}, `\n\001a\'\\\310`},
		{"%b", []Val{l(0x0102030405060708)}, "\x08\x07\x06\x05\x04\x03\x02\x01"},
		{"%1b%2b%.1b%4.2b", []Val{l(0x41), l(0x4142), l(0x43), l(0x4445)}, "ABA" + "C" + "\x00\x00ED"},
		{"%-4.2b%3b", []Val{l(0x4445), l(1)}, "ED\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x00"},
		{"%.3m|%m|%.4M|%M|%10.2M|", []Val{s("abc"), s("z"), s("\x01\xab\xcd\xef"), s("A"), s("AB")},
			"abc|z|01abcdef|41|      4142|"},
		{"%0s|%05s|", []Val{s("a"), s("b")}, "a\x00|    b\x00|"},
		{"%d %s", nil, "0 "},
		{"%8192d", []Val{l(1)}, strings.Repeat(" ", 8191) + "1"},
		{"%99999d", []Val{l(1)}, strings.Repeat(" ", 8191) + "1"},
	} {
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Errorf("%q: %v", c.format, err)
			continue
		}
		if got := Format(f, c.args); got != c.want {
			t.Errorf("%q: got %q, want %q", c.format, got, c.want)
		}
		if n := len(f.ArgTypes()); n != f.Args() {
			t.Errorf("%q: %d types for %d arguments", c.format, n, f.Args())
		}
	}
}

func TestParseFormatErrors(t *testing.T) {
	for _, c := range []struct {
		format string
		off    int
		msg    string
	}{
		{"ab %q", 4, `unknown conversion "%q"`},
		{"%d %", 4, "unfinished conversion"},
		{"%5", 2, "unfinished conversion"},
		{"x%l", 3, "unfinished conversion"},
		{"%llld", 3, `unknown conversion "%l"`},
		{"%hd", 1, `unknown conversion "%h"`},
		{"%.", 2, "unfinished conversion"},
		{"%n", 1, `unknown conversion "%n"`},
	} {
		_, err := ParseFormat(c.format)
		var fe *ir.FormatError
		switch {
		case c.off < 0 && err != nil:
			t.Errorf("%q: %v", c.format, err)
		case c.off < 0:
		case !errors.As(err, &fe) || fe.Off != c.off || fe.Msg != c.msg:
			t.Errorf("%q: got %v, want %q at %d", c.format, err, c.msg, c.off)
		}
	}
}

func TestArgTypes(t *testing.T) {
	f, err := ParseFormat("%*.*s %d %m")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(f.ArgTypes()),
		fmt.Sprint([]types.Type{types.Long, types.Long, types.String, types.Long, types.Long}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzParseFormat: a format that parses prints to one that parses to the same, and formatting
// never panics, whatever the arguments.
func FuzzParseFormat(f *testing.F) {
	for _, seed := range []string{"%d", "a%%b%-+ 0#12.7llxc%", "%*.*s", "%0b", "%.m%M", "%5", "%.d"} {
		f.Add(seed, int64(-3), "text\x00\xff")
	}
	f.Fuzz(func(t *testing.T, in string, n int64, str string) {
		p, err := ParseFormat(in)
		if err != nil {
			return
		}
		q, err := ParseFormat(p.String())
		if err != nil || !p.Equal(q) {
			t.Fatalf("%q printed as %q, parsed back as %q, %v", in, p.String(), q, err)
		}
		var args []Val
		for range p.Args() {
			args = append(args, Val{n, str})
		}
		Format(p, args)
		Format(p, args[:len(args)/2])
	})
}

func BenchmarkAppend(b *testing.B) {
	f, _ := ParseFormat("%s(%d) %d -> %p\n")
	args := []Val{s("program"), l(1234), l(-1), l(0x7fff12345678)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], f, args)
	}
}

// TestFractions: %r and %h show the bits of a fraction; only programs of the compiler have them, not scripts.
func TestFractions(t *testing.T) {
	for _, c := range []struct {
		conv byte
		bits uint64
		want string
	}{
		{'r', math.Float64bits(0.1), "0.1"},
		{'r', math.Float64bits(-2.2250738585072014e-308), "-2.2250738585072014e-308"},
		{'r', math.Float64bits(math.Inf(-1)), "-Inf"}, {'r', 0x7ff8000000000001, "NaN"}, {'r', 1 << 63, "-0"},
		{'h', uint64(math.Float32bits(3.1)), "3.1"}, {'h', 0xffffffff00000000 | uint64(math.Float32bits(-0.5)), "-0.5"},
	} {
		p := ir.Conv(c.conv)
		if got := string(Conv(nil, &p, -1, -1, Val{Int: int64(c.bits)})); got != c.want {
			t.Errorf("%%%c of %#x: %s, want %s", c.conv, c.bits, got, c.want)
		}
	}
	for _, s := range []string{"%r", "%h"} {
		if _, err := ParseFormat(s); err == nil {
			t.Errorf("a script can write %s", s)
		}
	}
}
