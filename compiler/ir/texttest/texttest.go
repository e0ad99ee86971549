// Package texttest is a table of what the text functions of the language give, for all executors.
//
// In: nothing. Out: the cases, and an ir.Program that does them all: what is expected in it stands in the table, which
// the interpreter is held to; back ends are held to the interpreter.
package texttest

import (
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/intrinsic"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/compiler/probe"
	"github.com/gostap/gostap/compiler/types"
)

// Case is one call. Args are strings and ints as the function's row has them; Want is the result as text, "error" for
// a run-time error.
type Case struct {
	Func string
	Args []any
	Want string
}

// most is how long a string can be.
const most = 511

func y(n int) string { return strings.Repeat("y", n) }

// broken are bytes that are no UTF-8: a continuation alone, ends that are missing, characters written longer than they
// have to be, halves of pairs of UTF-16, what lies beyond the last character, bytes that never occur.
var broken = []string{"\x80", "\xbf", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
	"\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xfe\xfe",
	"\xc3y", "\xe2y\x82", "\xf0\x9fy", "\xe2\x82\xe2"}

// Cases is the table.
func Cases() []Case {
	c := []Case{
		{"strlen", []any{""}, "0"},
		{"strlen", []any{"é€😀"}, "9"},
		{"strlen", []any{y(most)}, "511"},
		{"substr", []any{"abcdef", 2, 3}, "cde"},
		{"substr", []any{"abcdef", 0, 6}, "abcdef"},
		{"substr", []any{"abcdef", 5, 1}, "f"},
		{"substr", []any{"abcdef", 5, 2}, "f"},
		{"substr", []any{"abcdef", 6, 1}, ""},
		{"substr", []any{"abcdef", 7, 1}, ""},
		{"substr", []any{"abcdef", 0, 0}, ""},
		{"substr", []any{"abcdef", 1, -1}, ""},
		{"substr", []any{"abcdef", -1, 3}, ""},
		{"substr", []any{"abcdef", -1 << 63, 3}, ""},
		{"substr", []any{"abcdef", 1 << 62, 3}, ""},
		{"substr", []any{"abcdef", 1<<32 + 1, 3}, ""},
		{"substr", []any{"abcdef", 2, 1 << 62}, "cdef"},
		{"substr", []any{"abcdef", 2, 1<<63 - 1}, "cdef"},
		{"substr", []any{"abcdef", 2, 1<<32 + 1}, "cdef"},
		{"substr", []any{"abcdef", 2, -1 << 63}, ""},
		{"substr", []any{"", 0, 1}, ""},
		{"substr", []any{"é", 1, 1}, "\xa9"},
		{"substr", []any{y(most-1) + "z", most - 1, 9}, "z"},
		{"substr", []any{y(most), 0, most + 1}, y(most)},
		{"stringat", []any{"abc", 0}, "97"},
		{"stringat", []any{"abc", 2}, "99"},
		{"stringat", []any{"abc", 3}, "error"},
		{"stringat", []any{"abc", -1}, "error"},
		{"stringat", []any{"abc", 1 << 40}, "error"},
		{"stringat", []any{"", 0}, "error"},
		{"stringat", []any{"\xff", 0}, "255"},
		{"stringat", []any{y(most-1) + "z", most - 1}, "122"},
		{"stringat", []any{y(most), most}, "error"},
		{"string_word", []any{"ab", 0}, "25185"},
		{"string_word", []any{"", 0}, "0"},
		{"string_word", []any{"abcdefgh", 0}, "7523094288207667809"},
		{"string_word", []any{"abcdefgh", 8}, "0"},
		{"string_word", []any{"abcdefghi", 1}, "7595434461045744482"},
		{"string_word", []any{"abcdefghi", 8}, "105"},
		{"string_word", []any{"abcdefghi", -1}, "0"},
		{"string_word", []any{"abcdefghi", 1 << 40}, "0"},
		{"string_word", []any{y(most), most - 8}, "8753160913407277433"},
		{"string_word", []any{y(most), (most - 1) &^ 7}, fmt.Sprint(0x79797979797979)},
		{"isinstr", []any{"hello", "ell"}, "1"},
		{"isinstr", []any{"hello", "hello"}, "1"},
		{"isinstr", []any{"hello", "hellos"}, "0"},
		{"isinstr", []any{"hello", ""}, "1"},
		{"isinstr", []any{"", ""}, "1"},
		{"isinstr", []any{"", "x"}, "0"},
		{"isinstr", []any{y(most-2) + "ab", "ab"}, "1"},
		{"isinstr", []any{y(most-2) + "ab", "abc"}, "0"},
		{"strpos", []any{"hello", "l"}, "2"},
		{"strpos", []any{"hello", "lo"}, "3"},
		{"strpos", []any{"hello", ""}, "0"},
		{"strpos", []any{"", ""}, "0"},
		{"strpos", []any{"", "x"}, "-1"},
		{"strpos", []any{"aab", "ab"}, "1"},
		{"strpos", []any{"ababac", "abac"}, "2"},
		{"strpos", []any{y(most-1) + "z", "z"}, "510"},
		{"strpos", []any{y(most), y(most)}, "0"},
		{"strpos", []any{"x" + y(most-1), y(most)}, "-1"},
		{"strtol", []any{"", 10}, "0"},
		{"strtol", []any{"42", 10}, "42"},
		{"strtol", []any{"42abc", 10}, "42"},
		{"strtol", []any{"42 ", 10}, "42"},
		{"strtol", []any{" 42", 10}, "0"},
		{"strtol", []any{"+42", 10}, "0"},
		{"strtol", []any{"-42", 10}, "-42"},
		{"strtol", []any{"--42", 10}, "0"},
		{"strtol", []any{"- 42", 10}, "0"},
		{"strtol", []any{"-", 10}, "0"},
		{"strtol", []any{"0x1f", 0}, "31"},
		{"strtol", []any{"0X1F", 0}, "31"},
		{"strtol", []any{"-0x1f", 0}, "-31"},
		{"strtol", []any{"0x", 0}, "0"},
		{"strtol", []any{"0xg", 0}, "0"},
		{"strtol", []any{"017", 0}, "15"},
		{"strtol", []any{"018", 0}, "1"},
		{"strtol", []any{"08", 0}, "0"},
		{"strtol", []any{"0", 0}, "0"},
		{"strtol", []any{"9", 0}, "9"},
		{"strtol", []any{"0b1", 0}, "0"},
		{"strtol", []any{"ff", 16}, "255"},
		{"strtol", []any{"0xff", 16}, "255"},
		{"strtol", []any{"0xff", 10}, "0"},
		{"strtol", []any{"0x", 16}, "0"},
		{"strtol", []any{"fG", 16}, "15"},
		{"strtol", []any{"777", 8}, "511"},
		{"strtol", []any{"787", 8}, "7"},
		{"strtol", []any{"102", 2}, "2"},
		{"strtol", []any{"zz", 36}, "1295"},
		{"strtol", []any{"00", 1}, "0"},
		{"strtol", []any{"12", -10}, "0"},
		{"strtol", []any{"9223372036854775807", 10}, "9223372036854775807"},
		{"strtol", []any{"9223372036854775808", 10}, "-9223372036854775808"},
		{"strtol", []any{"-9223372036854775808", 10}, "-9223372036854775808"},
		{"strtol", []any{"18446744073709551615", 10}, "-1"},
		{"strtol", []any{"18446744073709551616", 10}, "0"},
		{"strtol", []any{"ffffffffffffffff", 16}, "-1"},
		{"strtol", []any{strings.Repeat("0", most-1) + "7", 10}, "7"},
		{"str_replace", []any{"a-b-c", "-", "+"}, "a+b+c"},
		{"str_replace", []any{"a-b-c", "-", ""}, "abc"},
		{"str_replace", []any{"a-b-c", "", "x"}, "a-b-c"},
		{"str_replace", []any{"", "a", "x"}, ""},
		{"str_replace", []any{"aaaa", "aa", "b"}, "bb"},
		{"str_replace", []any{"aaa", "aa", "aaa"}, "aaaa"},
		{"str_replace", []any{"aab", "ab", "x"}, "ax"},
		{"str_replace", []any{"abc", "abcd", "x"}, "abc"},
		{"str_replace", []any{y(most), "y", "zz"}, strings.Repeat("z", most)},
		{"str_replace", []any{y(most-1) + "z", "z", "abc"}, y(most-1) + "a"},
		{"tolower", []any{"AbÀ[Z@"}, "abÀ[z@"},
		{"toupper", []any{"abz{é`"}, "ABZ{é`"},
		{"tolower", []any{strings.Repeat("Y", most)}, y(most)},
		{"char_string", []any{65}, "A"},
		{"char_string", []any{0}, ""},
		{"char_string", []any{256 + 65}, "A"},
		{"char_string", []any{-1}, "\xff"},
	}
	for _, e := range [][2]string{
		{"", ``},
		{"plain text, ~", `plain text, ~`},
		{"\a\b\f\n\r\t\v\"\\'", `\a\b\f\n\r\t\v\"\\'`},
		{"\x01\x1f\x7f", `\001\037\177`},
		{"\u0080\u07ff", `\u0080\u07FF`},
		{"\u0800\ud7ff\ue000\uffff", `\u0800\uD7FF\uE000\uFFFF`},
		{"\U00010000\U0010ffff", `\U00010000\U0010FFFF`},
		{"hö € 😀!", `h\u00F6 \u20AC \U0001F600!`},
		{"日本\n", `\u65E5\u672C\n`},
	} {
		in, want := e[0], e[1]
		c = append(c, Case{"text_str", []any{in}, want}, Case{"string_quoted", []any{in}, `"` + want + `"`},
			Case{"text_strn", []any{in, 0, 0}, want}, Case{"text_strn", []any{in, -5, 1}, `"` + want + `"`},
			Case{"text_strn", []any{in, 1 << 40, 1}, `"` + want + `"`})
	}
	for _, in := range broken {
		want := ""
		for i := range len(in) {
			if in[i] == 'y' {
				want += "y"
			} else {
				want += fmt.Sprintf(`\%03o`, in[i])
			}
		}
		c = append(c, Case{"text_str", []any{in}, want},
			Case{"string_quoted", []any{"é" + in + "z"}, `"\u00E9` + want + `z"`})
	}
	// What text_strn may be long includes the quotes and the dots; an escape is whole or not there.
	for _, e := range []struct {
		n    int
		want string
	}{{1, `""...`}, {4, `""...`}, {5, `""...`}, {6, `"a"...`}, {7, `"ab"...`}, {8, `"ab"...`},
		{9, `"ab\n"...`}, {10, `"ab\nc"...`}, {11, `"ab\nc"...`}, {12, `"ab\nc"...`}, {15, `"ab\nc"...`},
		{16, `"ab\nc\u00E9"...`},
		{17, `"ab\nc\u00E9d"...`}, {18, `"ab\nc\u00E9defgh"`}, {19, `"ab\nc\u00E9defgh"`}} {
		c = append(c, Case{"text_strn", []any{"ab\ncédefgh", e.n, 1}, e.want})
	}
	for _, e := range []struct {
		n    int
		want string
	}{{1, `a`}, {2, `ab`}, {3, `ab`}, {4, `ab\n`}, {5, `ab\nc`}, {10, `ab\nc`}, {11, `ab\nc\u00E9`},
		{12, `ab\nc\u00E9d`}} {
		c = append(c, Case{"text_strn", []any{"ab\ncéd", e.n, 0}, e.want})
	}
	// At the end of the room, with escapes of all lengths.
	for _, e := range []struct{ in, out string }{{"y", "y"}, {"\n", `\n`}, {"\x01", `\001`}, {"é", `\u00E9`},
		{"€", `\u20AC`}, {"😀", `\U0001F600`}, {"\xff", `\377`}} {
		for before := most - 18; before+len(e.in) <= most; before++ {
			in := y(before) + e.in
			want := y(before)
			if before+len(e.out) <= most {
				want += e.out
			}
			quoted := `"` + in[:before] + e.out + `"`
			if len(quoted) > most {
				quoted = `"` + y(min(before, most-5)) + `"...`
			}
			c = append(c, Case{"text_str", []any{in}, want}, Case{"string_quoted", []any{in}, quoted})
		}
	}
	return c
}

// Program does the cases: it has a handler for each function that puts the arguments into arrays, and one that calls
// the function with those of one case, the next one each time that it runs, or of all of them where loop is set. The
// results are in the globals named after the functions, from key 1 on in the order of Cases; runs is how many a
// function has at most.
func Program(loop bool) (p *ir.Program, runs int) {
	p = &ir.Program{Limits: layout.Default()}
	p.Limits.MaxString = most + 1
	p.Limits.MaxActionInt, p.Limits.MaxAction = 1<<20, 1<<20
	byFunc := map[string][]Case{}
	var names []string
	for _, c := range Cases() {
		if byFunc[c.Func] == nil {
			names = append(names, c.Func)
		}
		byFunc[c.Func] = append(byFunc[c.Func], c)
		runs = max(runs, len(byFunc[c.Func]))
	}
	for _, name := range names {
		f, cases := intrinsic.Lookup(name), byFunc[name]
		args := arguments(p, f, cases)
		calls(p, f, args, len(cases), loop)
	}
	return p, runs
}

// handler adds one.
func handler(p *ir.Program, name string, b *ir.Builder) {
	b.End()
	p.Probes = append(p.Probes, &ir.Probe{Name: name, Handler: b.Finish(), Cond: -1,
		Sites: []*probe.Site{{Kind: probe.Uprobe, Func: "f", Point: "p",
			Program: probe.ProgramPart{Offset: uint64(16 * len(p.Probes))}}}})
}

// array adds a global array by number with room for n elements.
func array(p *ir.Program, name string, t types.Type, n int) int {
	g := &ir.Global{Name: name, Type: t, Keys: []ir.Key{{Type: types.Long}}, Size: n + 1}
	if t == types.String {
		g.Cap = most
	}
	return p.AddGlobal(g)
}

// arguments adds the handler that sets the arguments, and gives the arrays that they are in.
func arguments(p *ir.Program, f *intrinsic.Func, cases []Case) (globals []int) {
	b := ir.NewBuilder("")
	for i, t := range f.Params {
		g := array(p, fmt.Sprint(f.Name, "_", i), t, len(cases))
		for k, c := range cases {
			v := ir.Val{}
			if s, ok := c.Args[i].(string); ok {
				v = ir.S(s)
			} else {
				v = ir.I(int64(c.Args[i].(int)))
			}
			b.OnGlobal(ir.OpMSet, g, ir.NoReg, ir.I(int64(k+1)), v)
		}
		globals = append(globals, g)
	}
	handler(p, f.Name+" arguments", b)
	return globals
}

// calls adds the handler that calls the function.
func calls(p *ir.Program, f *intrinsic.Func, globals []int, cases int, loop bool) {
	at, out := p.AddGlobal(&ir.Global{Name: f.Name + "_at", Type: types.Long}), array(p, f.Name, types.String, cases)
	b := ir.NewBuilder("")
	n, text := b.Long("n"), b.Str("text", most)
	head, body, bad, good, end, done := b.Block(), b.Block(), b.Block(), b.Block(), b.Block(), b.Block()
	b.OnGlobal(ir.OpGGet, at, n)
	b.Jump(head)
	b.SetBlock(head)
	b.Branch(b.Bin(ir.OpLt, ir.R(n), ir.I(int64(cases))), body, done)
	b.SetBlock(body)
	b.Budget(1)
	b.Op(ir.OpAdd, n, ir.R(n), ir.I(1))
	b.OnGlobal(ir.OpGSet, at, ir.NoReg, ir.R(n))
	var args []ir.Val
	for i, t := range f.Params {
		r := b.Long("")
		if t == types.String {
			r = b.Str("", most)
		}
		b.OnGlobal(ir.OpMGet, globals[i], r, ir.R(n))
		args = append(args, ir.R(r))
	}
	if f.Fails != intrinsic.Never {
		b.OnErr = bad
	}
	if f.Result == types.Long {
		result := b.Long("result")
		b.Intr(f.Name, result, args...)
		b.OnErr = ir.NoBlock
		b.Sprint(p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Conv('d')}}), text, ir.R(result))
	} else {
		b.Intr(f.Name, text, args...)
		b.OnErr = ir.NoBlock
	}
	b.Jump(good)
	b.SetBlock(bad)
	b.Mov(text, ir.S("error"))
	b.Jump(end)
	b.SetBlock(good)
	b.Jump(end)
	b.SetBlock(end)
	b.OnGlobal(ir.OpMSet, out, ir.NoReg, ir.R(n), ir.R(text))
	if loop {
		b.Jump(head)
	} else {
		b.Jump(done)
	}
	b.SetBlock(done)
	handler(p, f.Name+" calls", b)
}
