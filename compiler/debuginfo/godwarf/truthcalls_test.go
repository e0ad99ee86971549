package godwarf

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// truthCallHelpers are the functions with several results.
const truthCallHelpers = `
type box struct{ n int }

type fail struct{ n int }

func (f *fail) Error() string { return "failed" }

var fails = []*fail{{1}, {2}, {3}}

func perhaps(a int) error {
	if calls++; (a+calls)%3 == 0 {
		return nil
	}
	return fails[calls%3]
}

//go:noinline
func try(a int) (int, error) { calls++; return a + calls%7, perhaps(a) }

//go:noinline
func open(a int) (*box, error) { calls++; return &box{a + calls%5}, perhaps(a) }

//go:noinline
func name(a int) (int, string, error) { calls++; return a, strings.Repeat("n", calls&3), perhaps(a) }

//go:noinline
func (b *box) next(a int) (*box, int, error) {
	if b == nil {
		return nil, a, nil
	}
	return &box{b.n + a%3}, b.n, perhaps(a)
}

type reader interface{ read(a int) (int, error) }

//go:noinline
func (f *fail) read(a int) (int, error) { calls++; return a - f.n, perhaps(a) }

var source reader = fails[1]

//go:noinline
func check(err error) { if err != nil { calls++ } }

//go:noinline
func sinkb(b *box) { if b != nil { calls += b.n & 1 } }
`

// call writes a call with several results and what is usual behind it.
func (g *truthProgram) call(i func() string) {
	c := []struct{ results, call string }{
		{"int error", "try(%s)"}, {"*box error", "open(%s)"}, {"int string error", "name(%s)"},
		{"int int", "two(%s, 3)"},
		{"*box int error", g.pick("*box") + ".next(%s)"}, {"int error", "source.read(%s)"}, {"string int", "get(%s)"},
	}[g.r.IntN(7)]
	c.call = strings.Replace(strings.Replace(c.call, "%s", i(), 1), "&box{3}.", "(&box{3}).", 1)
	var names []string
	var fresh []truthVar
	for _, t := range strings.Fields(c.results) {
		n := g.pick(t)
		if g.r.IntN(3) == 0 || n[0] < 'a' || n == "nil" || slices.Contains(names, n) {
			g.next++
			n = fmt.Sprintf("%c%d", 'a'+g.r.IntN(4), g.next)
			fresh = append(fresh, truthVar{n, t})
		} else if g.r.IntN(12) == 0 {
			n = "_"
		}
		names = append(names, n)
	}
	op := "="
	if len(fresh) > 0 {
		op = ":="
	}
	given := fmt.Sprintf("%s %s %s", strings.Join(names, ", "), op, c.call)
	last := names[len(names)-1]
	if len(fresh) > 0 && last != "_" && strings.HasSuffix(c.results, "error") && g.r.IntN(4) == 0 {
		have := len(g.vars)
		g.stmt("if %s; %s != nil {", given, last)
		g.vars = append(g.vars, fresh...)
		g.depth++
		g.used(names)
		g.depth--
		g.block(1 + g.r.IntN(3))
		g.vars = g.vars[:have]
		g.put("}")
		return
	}
	g.stmt("%s", given)
	g.vars = append(g.vars, fresh...)
	if op == ":=" {
		g.used(names) // those that were there may be new ones of the block
	}
	switch {
	case !strings.HasSuffix(c.results, "error") || last == "_":
		g.stmt("sink(%s)", i())
	case g.r.IntN(2) == 0:
		g.stmt("if %s != nil {", last)
		g.block(1 + g.r.IntN(2))
		if g.r.IntN(3) > 0 {
			g.stmt("return %s", i())
		}
		g.put("}")
	default:
		g.stmt("check(%s)", last)
	}
	if g.r.IntN(2) == 0 {
		g.stmt("sinkb(%s)", g.pick("*box"))
	}
}

// used uses variables, all of which must be.
func (g *truthProgram) used(names []string) {
	for _, n := range names {
		if n != "_" {
			g.put("_ = %s", n)
		}
	}
}

// number is a pointer, or an interface with a pointer, to a structure with a number.
func (th *thread) number(b []byte) string {
	addr := binary.LittleEndian.Uint64(b[len(b)-8:])
	n := make([]byte, 8)
	switch {
	case binary.LittleEndian.Uint64(b) == 0:
		return "nil"
	case binary.LittleEndian.Uint64(b) < 1<<16:
		return "no type"
	}
	if _, err := th.mem.ReadAt(n, int64(addr)); err != nil {
		return "unreadable"
	}
	return fmt.Sprintf("&{%d}", int64(binary.LittleEndian.Uint64(n)))
}
