package compiler

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/layout"
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
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
		res, ds := Compile(ctx, Options{Scripts: []Script{{Name: "t.stp", Text: []byte(c.script)}}, Limits: layout.Default(), Runtime: "host"})
		cancel()
		switch {
		case c.want == "" && res.Program == nil:
			t.Errorf("%s: %s", c.name, ds[0].Message)
		case c.want != "" && (len(ds) == 0 || !strings.Contains(ds[0].Message, c.want)):
			t.Errorf("%s: %d messages, not %q", c.name, len(ds), c.want)
		}
		res.Close()
	}
}
