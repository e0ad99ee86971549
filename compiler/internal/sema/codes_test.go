package sema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/diag/diagtest"
)

// TestCodes: the example of every code gives that code.
func TestCodes(t *testing.T) {
	known := map[diag.Code]bool{}
	for _, c := range diag.SemanticCodes() {
		if known[c.Code] {
			t.Errorf("%s is listed twice", c.Code)
		}
		known[c.Code] = true
		if c.Meaning == "" {
			t.Errorf("%s has no meaning", c.Code)
		}
		if c.Example == "" {
			continue // tested by package load, and by TestInitialValues
		}
		o := Options{}
		if c.Code == diag.Privilege {
			o.Privilege = "stapusr"
		}
		a := analyze(t, "x.stp", c.Example, o)
		found := false
		for _, d := range a.diags {
			if d.Code == c.Code {
				found = true
				if (d.Severity == diag.Warning) != c.Warning {
					t.Errorf("%s: Warning is %v, but it came as %v", c.Code, c.Warning, d.Severity)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s gives\n%s", c.Code, c.Example, a.text())
		}
	}
	// All constants are in the list.
	f, err := parser.ParseFile(token.NewFileSet(), "../../diag/codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			n++
			if s, _ := strconv.Unquote(lit.Value); !known[diag.Code(s)] {
				t.Errorf("%s is not listed", s)
			}
		}
		return true
	})
	if n != len(known) {
		t.Errorf("%d constants, %d listed", n, len(known))
	}
}

// TestInitialValues: -G sets scalars, and is refused where it does not fit.
func TestInitialValues(t *testing.T) {
	const script = `global n = 1, s = "a", u, arr probe begin { println(n, s, u + 1) arr[1] = 2 println(arr[1]) }`
	for _, c := range []struct{ name, value, want string }{
		{"n", "5", ""}, {"n", "0x10", ""}, {"s", "b", ""}, {"s", "5", ""}, {"u", "7", ""},
		{"n", "x", "-G n=x: n is a number"},
		{"m", "1", "-G m=1: the script has no global named m"},
		{"u", "x", "type mismatch: expected a number, but u is a string"},
		{"arr", "1", "arr is no array, but it is indexed here"},
	} {
		a := analyze(t, "x.stp", script, Options{Init: map[string]string{c.name: c.value}})
		got := ""
		for _, d := range a.diags {
			if d.Severity == diag.Error && got == "" {
				got = d.Message
			}
		}
		if strings.HasPrefix(c.want, "-G ") {
			diagtest.Find(t, a.diags, diag.InitialValue)
		}
		if got != c.want {
			t.Errorf("-G %s=%s: %q, want %q", c.name, c.value, got, c.want)
			continue
		}
		if c.want == "" {
			for _, g := range a.prog.Globals {
				if g.Name == c.name && g.Init.Str != c.value && strconv.FormatInt(g.Init.Num, 10) != c.value &&
					g.Init.Text != c.value {
					t.Errorf("-G %s=%s: first value is %+v", c.name, c.value, g.Init)
				}
			}
		}
	}
}
