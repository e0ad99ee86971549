package compiler

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/layout"
	"github.com/gostap/gostap/tests/patience"
)

// TestHostile: what multiplies or grows quadratically is refused or done in a reasonable time: each of these took
// minutes of CPU once.
func TestHostile(t *testing.T) {
	const n = 30000
	many := func(s string) string { return strings.Repeat(s, n) }
	for _, c := range []struct{ name, script, want string }{
		{"words", "probe " + many("a.") + "b { }", "more than 64 words"},
		{"points", "probe " + many("begin,") + "begin { println(1) }", "more than 20000 probes"},
		{"members", "probe begin { println($x" + many("->y") + ") }", "more than 500 links"},
		{"braces", "probe " + strings.Repeat("{begin,end}.", 20) + "x { }", "multiply out"},
		{"prints", "probe begin { " + many(`println("x") `) + "}", ""},
		{"warnings", "global a" + many(", a1x") + " probe begin { println(a) a = 1 }", "declared"},
		{"aliases", doubling("probe a%d = a%d, a%d { } ", 39) + "probe a0 = begin { } probe a39 { println(1) }",
			"nested more than 32 deep"},
		{"absent", doubling("probe a%d = a%d ?, a%d ? { } ", 30) + "probe a0 = nosuch ? { } probe a30 { println(1) }",
			"more than 60000 probe points"},
		{"calls", doubling("function f%d(x) { return f%d(x) + f%d(x) } ", 60) +
			"function f0(x) { return x } probe begin { println(f60(1)) }", ""},
		{"chain", doubling("function f%d(x) { return f%d(x) } # %d\n", 10000) +
			"function f0(x) { return x } probe begin { println(f10000(1)) }", ""},
		{"overloads", strings.Repeat("function f(x) { if (x) next return 1 } ", 5000) + "probe begin { println(f(1)) }",
			""},
		{"locals", doubling("probe begin { a%d = b%d println(a%d) } ", 3000), "is not known"},
	} {
		begin := cpuTime()
		ctx, cancel := patience.Context(context.Background(), 5*time.Minute)
		res, ds := Compile(ctx, Options{Scripts: []Script{{Name: "t.stp", Text: []byte(c.script)}},
			Limits: layout.Default(), Runtime: "host"})
		cancel()
		if d := cpuTime() - begin; d > 5*time.Second {
			t.Errorf("%s: took %v", c.name, d)
		}
		switch {
		case c.want == "" && res.Program == nil:
			t.Errorf("%s: %s", c.name, ds[0].Message)
		case c.want != "" && (len(ds) == 0 || !strings.Contains(ds[0].Message, c.want)):
			t.Errorf("%s: %d messages, not %q", c.name, len(ds), c.want)
		}
		res.Close()
	}
}

// doubling writes n lines, each of which names the one before it twice.
func doubling(line string, n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, line, i, i-1, i-1)
	}
	return b.String()
}
