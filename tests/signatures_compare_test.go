package tests

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// told is a value of a traced program with what is in it, as the program itself tells it; see fixtures/truth/show.go.
type told struct {
	K, L, N, V, E string
	A             uint64
	S             int
	C             []*told
	F             []string
	W             *told
}

// label is what a value is counted as.
func (n *told) label() string {
	if n.L != "" {
		return n.L
	}
	switch n.K {
	case "ptr":
		return "pointer"
	case "unsafe.Pointer", "deep":
		return "pointer"
	case "struct":
		return "structure"
	case "chan":
		return "channel"
	case "func":
		return "function"
	}
	return n.K
}

// verdict is how a value of gostap's compares with the program's.
type verdict int

const (
	equal   verdict = iota
	cut             // left out, where the limits are reached
	unknown         // "?"
	wrong
)

// comparer reads a value as gostap writes it along the program's own.
type comparer struct {
	s      string // what is left of the text
	counts map[string][wrong]int
	// bad says what is wrong first.
	bad string
	// open are the values that what is compared lies in.
	open []*told
}

func (c *comparer) count(n *told, o verdict) {
	if c.bad == "" {
		k := c.counts[n.label()]
		k[o]++
		c.counts[n.label()] = k
	}
}

func (c *comparer) take(prefix string) bool {
	rest, ok := strings.CutPrefix(c.s, prefix)
	if ok && c.bad == "" {
		c.s = rest
	}
	return ok
}

func (c *comparer) want(prefix string) bool {
	if c.bad == "" && !c.take(prefix) {
		c.bad = fmt.Sprintf("%.60q, not %q", c.s, prefix)
	}
	return c.bad == ""
}

// compareValue holds a whole text against a value.
func compareValue(text string, n *told) *comparer {
	c := &comparer{s: text, counts: map[string][wrong]int{}}
	c.value(n)
	if c.bad == "" && c.s != "" {
		c.bad = fmt.Sprintf("%.60q is left", c.s)
	}
	return c
}

// address takes the address of n, in hexadecimal.
func (c *comparer) address(n *told) { c.want(fmt.Sprintf("0x%x", n.A)) }

func (c *comparer) value(n *told) {
	switch {
	case c.bad != "":
		return
	case strings.HasPrefix(c.s, "..."):
		c.take("...")
		c.count(n, cut)
		return
	case c.take("?"):
		c.count(n, unknown)
		return
	case n.K == "cycle" && !strings.HasPrefix(c.s, "&{..."):
		// Told as the value that it is in, once more.
		for i := len(c.open) - 1; i >= 0; i-- {
			o := c.open[i]
			if o.K == "ptr" && len(o.C) > 0 {
				o = &told{K: o.C[0].K, L: o.C[0].L, A: o.A, C: o.C[0].C, F: o.C[0].F, V: o.C[0].V, S: o.C[0].S}
			}
			if o.A != n.A || o.K == "cycle" {
				continue
			}
			if c.take(fmt.Sprintf("[...%d]", o.S)) || c.take(fmt.Sprintf("map[...%d]", o.S)) {
				c.count(n, equal)
			} else {
				c.value(o)
			}
			return
		}
		c.bad = fmt.Sprintf("%.60q, not a cycle", c.s)
		return
	case n.K == "deep": // beyond what the program told
		c.skip()
		c.count(n, cut)
		return
	}
	c.open = append(c.open, n)
	o := c.of(n)
	c.open = c.open[:len(c.open)-1]
	c.count(n, o)
}

// of compares a value of which there is something.
func (c *comparer) of(n *told) verdict {
	switch n.K {
	case "own":
		if strings.HasPrefix(c.s, "{") && n.F != nil && !strings.HasPrefix(n.V, "{") {
			c.members(n) // not all that the text needs is known
			return cut
		}
		if strings.HasPrefix(n.V, "\"") {
			return c.quoted(n.V)
		}
		c.want(n.V)
	case "bool", "integer", "float", "complex":
		c.want(n.V)
	case "string":
		return c.quoted(n.V)
	case "[]byte":
		if n.S == 0 && c.take("\"\"") {
			return equal
		}
		return c.quoted(n.V)
	case "ptr", "unsafe.Pointer", "cycle":
		return c.pointer(n)
	case "slice":
		switch {
		case n.S < 0:
			c.want("nil")
		case strings.HasPrefix(c.s, "[..."):
			c.want(fmt.Sprintf("[...%d]", n.S))
			return cut
		default:
			return c.list(n.S, func(i int) { c.value(n.C[i]) })
		}
	case "array":
		return c.list(n.S, func(i int) { c.value(n.C[i]) })
	case "struct":
		if c.take("{...}") {
			return cut
		}
		return c.members(n)
	case "map":
		return c.mapping(n)
	case "chan":
		return c.channel(n)
	case "func":
		switch {
		case n.A == 0:
			c.want("nil")
		case strings.HasPrefix(c.s, "0x"):
			c.word()
			return cut
		default:
			c.function(n.V)
		}
	case "interface", "error":
		return c.dynamic(n)
	case "context":
		return c.context(n)
	default:
		c.bad = "a value of the unknown kind " + n.K
	}
	return equal
}

// function compares the name of a function, of which the runtime leaves type arguments out.
func (c *comparer) function(name string) {
	before, behind, generic := strings.Cut(name, "[...]")
	c.want(before)
	if generic {
		i := strings.Index(c.s, "]")
		if !strings.HasPrefix(c.s, "[") || i < 0 {
			c.want("[")
			return
		}
		c.s = c.s[i+1:]
		c.want(behind)
	}
}

// word passes over what stands before the next sign.
func (c *comparer) word() (w string) {
	n := strings.IndexAny(c.s, " ,]})")
	if n < 0 {
		n = len(c.s)
	}
	w, c.s = c.s[:n], c.s[n:]
	return w
}

// numbered is what stands behind the constant that a number is.
var numbered = regexp.MustCompile(`^ \(-?[0-9]+\)`)

// skip passes over a value.
func (c *comparer) skip() {
	depth, quoted := 0, false
	for i := 0; i < len(c.s); i++ {
		switch b := c.s[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("{[(", b) >= 0:
			depth++
		case depth == 0 && strings.IndexByte(" ,}])", b) >= 0 && !numbered.MatchString(c.s[i:]):
			c.s = c.s[i:]
			return
		case strings.IndexByte("}])", b) >= 0:
			depth--
		}
	}
	c.s = ""
}

// quoted compares a text in quotes; goText is it as Go writes it.
func (c *comparer) quoted(goText string) verdict {
	s, err := strconv.Unquote(goText)
	if err != nil {
		c.bad = err.Error()
		return wrong
	}
	full := textfmt.Quote(s, 8*len(s)+8, true)
	if c.take(full) {
		return equal
	}
	end := strings.Index(c.s, "\"...")
	if end < 0 || !strings.HasPrefix(full, c.s[:end]) {
		c.want(full)
		return wrong
	}
	c.s = c.s[end+4:]
	return cut
}

func (c *comparer) pointer(n *told) verdict {
	switch {
	case n.A == 0:
		c.want("nil")
	case c.take("&{...0x"):
		c.s = "0x" + c.s
		c.address(n)
		c.want("}")
		if n.K != "cycle" && !c.within(n) {
			c.bad = "a cycle where there is none"
		}
	case strings.HasPrefix(c.s, "("):
		i := strings.Index(c.s, ")(0x")
		if i < 0 {
			c.want("(*T)(0x")
			return wrong
		}
		c.s = c.s[i+2:]
		c.address(n)
		c.want(")")
		return cut
	case strings.HasPrefix(c.s, "0x"):
		c.address(n)
		if len(n.C) > 0 {
			return cut
		}
	case len(n.C) == 0:
		c.address(n)
	default:
		if c.want("&") {
			c.named(n.C[0])
		}
	}
	return equal
}

// within reports whether n lies in a value with its address.
func (c *comparer) within(n *told) bool {
	for _, o := range c.open[:len(c.open)-1] {
		if o.A == n.A {
			return true
		}
	}
	return false
}

// named compares a value before which the name of its type may stand: that of what a pointer in an interface leads to.
func (c *comparer) named(n *told) {
	name := c.typeName(n.N)
	switch {
	case name == "":
		c.value(n)
	case strings.HasPrefix(c.s, "{") || strings.HasPrefix(c.s, "...") || strings.HasPrefix(c.s, "?"):
		c.value(n)
	case c.take("("):
		c.value(n)
		c.want(")")
	default:
		c.bad = fmt.Sprintf("%.60q behind %s", c.s, name)
	}
}

// typeName takes the name of a type, as package reflect and as the program's run-time types write it.
func (c *comparer) typeName(name string) string {
	if name != "" && c.bad == "" {
		if rest, ok := strings.CutPrefix(c.s, name); ok && rest != "" && strings.IndexByte("{(.?", rest[0]) >= 0 {
			c.s = rest
			return name
		}
	}
	return ""
}

// list compares n elements, of which read compares the i-th.
func (c *comparer) list(n int, read func(i int)) verdict {
	if !c.want("[") {
		return wrong
	}
	for i := range n {
		if i > 0 && !c.want(" ") {
			return wrong
		}
		if more := fmt.Sprintf("...%d more", n-i); c.take(more) {
			c.want("]")
			return cut
		}
		if read(i); c.bad != "" {
			return wrong
		}
	}
	c.want("]")
	return equal
}

func (c *comparer) members(n *told) verdict {
	if !c.want("{") {
		return wrong
	}
	for i, f := range n.F {
		if i > 0 && !c.want(", ") {
			return wrong
		}
		if c.take("...") {
			c.want("}")
			return cut
		}
		if !c.want(f + ":") {
			return wrong
		}
		c.value(n.C[i])
	}
	c.want("}")
	return equal
}

// mapping compares the elements of a map, in any order.
func (c *comparer) mapping(n *told) verdict {
	switch {
	case n.S < 0:
		c.want("nil")
		return equal
	case c.take("map[...]"):
		return cut
	case strings.HasPrefix(c.s, "map[..."):
		c.want(fmt.Sprintf("map[...%d]", n.S))
		return cut
	}
	c.want("map")
	left := make([]int, n.S)
	for i := range left {
		left[i] = i
	}
	return c.list(n.S, func(int) {
		for k, i := range left {
			try := comparer{s: c.s, counts: map[string][wrong]int{}, open: c.open}
			try.value(n.C[2*i])
			try.want(":")
			if try.value(n.C[2*i+1]); try.bad != "" || try.s != "" && strings.IndexByte(" ]", try.s[0]) < 0 {
				continue
			}
			for name, counts := range try.counts {
				all := c.counts[name]
				for o, n := range counts {
					all[o] += n
				}
				c.counts[name] = all
			}
			c.s, left = try.s, append(left[:k:k], left[k+1:]...)
			return
		}
		c.bad = fmt.Sprintf("%.60q is no element of the map", c.s)
	})
}

func (c *comparer) channel(n *told) verdict {
	if n.A == 0 {
		c.want("nil")
		return equal
	}
	if strings.HasPrefix(c.s, "(") {
		return c.pointer(n)
	}
	head := fmt.Sprintf("chan(%d/%d", len(n.C), n.S)
	if n.V != "" {
		head += ", " + n.V
	}
	if !c.want(head + ")") {
		return wrong
	}
	if len(n.C) == 0 || !strings.HasPrefix(c.s, "[") {
		if len(n.C) > 0 && n.C[0].K != "struct" { // elements of no size are not listed
			return cut
		}
		return equal
	}
	return c.list(len(n.C), func(i int) { c.value(n.C[i]) })
}

// context compares a context of package context: what it is derived from, and how.
func (c *comparer) context(n *told) verdict {
	if c.take("{...}") {
		return cut
	}
	if len(n.C) > 0 {
		c.value(n.C[0])
	}
	c.want(n.V)
	if len(n.C) > 1 {
		c.want("(")
		c.value(n.C[1])
		c.want(", ")
		c.value(n.C[2])
		c.want(")")
	}
	return equal
}

// dynamic compares what an interface holds.
func (c *comparer) dynamic(n *told) verdict {
	if len(n.C) == 0 {
		c.want("nil")
		return equal
	}
	in := n.C[0]
	if in.K == "context" {
		c.value(in)
		return equal
	}
	if in.E != "" && strings.HasPrefix(c.s, in.N+"(\"") {
		c.want(in.N + "(")
		o := c.quoted(in.E)
		switch {
		case c.bad != "":
		case c.take(" <- "):
			if in.W == nil {
				c.bad = "wraps nothing"
				return wrong
			}
			if name := in.W.C[0].N; c.take(name + ")") { // how it goes on is left out
				return cut
			}
			c.value(in.W)
		case in.W != nil:
			o = cut
		}
		c.want(")")
		return o
	}
	switch {
	case in.K == "string" && in.N == "string", in.K == "bool" && in.N == "bool":
		c.value(in)
	case in.K == "struct" && c.take(in.N+"{"):
		c.s = "{" + c.s
		c.value(in)
	case strings.HasPrefix(c.s, "&"):
		c.value(in)
	case c.want(in.N + "("):
		c.value(in)
		c.want(")")
	}
	return equal
}
