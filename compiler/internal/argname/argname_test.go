package argname

import (
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/source"
	"github.com/gostap/gostap/grammar"
)

// TestNames: the fields of a statement, by its arguments.
func TestNames(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`n, pid(), execname()`, "n pid execname"},
		{`calls[c], @count(s), @entry(n)`, "calls @count n"},
		{`$o->ID, $cents, $return`, "$o->ID $cents $return"},
		{`user_string($s), text_str(execname()), symname(addr())`, "$s execname addr"},
		{`text_str(user_string($name)), substr(args, 0, 80)`, "$name args"},
		{`text_str("x"), substr(a . b, 0, 1)`, "text_str substr"},
		{`n, n, n + 1, (n)`, "n 2 3 4"},
		{`fd < 0 ? -1 : fd, ok ? name : "", a ? b : c, "" != x ? "" : ""`, "fd name 3 "},
		{`"text", 1, -1, n`, "   n"},
		{`strlen(s), ctime(when)`, "strlen when"},
	} {
		files := new(source.FileSet)
		tree, ds := grammar.Parse(files.Add("x.stp", []byte("probe begin { println("+c.args+") }")),
			grammar.Options{Files: files})
		if ds.HasErrors() {
			t.Fatalf("%s: %v", c.args, ds)
		}
		var l List
		n := 0
		ast.Inspect(tree.Decls[0], func(node ast.Node) bool {
			call, ok := node.(*ast.Call)
			if !ok || call.Fun.Name != "println" {
				return true
			}
			for _, a := range call.Args {
				l.Next(a)
				l.Value(n)
				n++
			}
			return false
		})
		if got := strings.Join(l.Names(), " "); got != c.want || n != len(slices.Clone(l.Names())) {
			t.Errorf("println(%s): %q, not %q", c.args, got, c.want)
		}
	}
}
