package sema

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ast"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/internal/elab"
)

func names(gs []*elab.Global) string {
	var out []string
	for _, g := range gs {
		out = append(out, g.Name)
	}
	return strings.Join(out, " ")
}

// TestAutoPrint: globals whose value nobody looks at are printed at the end.
func TestAutoPrint(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`global a, b, c probe begin { a++; --b; c = 1 }`, "a b c"},
		{`global a, b probe begin { b = a++ println(b) }`, ""},
		{`global a, b probe begin { a[1]++ b[2] += 3 a[2] = 5 }`, "a b"},
		{`global a, s probe begin { s <<< 1 a[1] <<< 2 }`, "a s"},
		{`global a, s probe begin { s <<< 1 a[1] <<< 2 println(@count(s)) }`, "a"},
		{`global a, b probe begin { a[1] = 1 b[1] = 2 foreach (k in a) println(k) }`, "b"},
		{`global a, b probe begin { a[1] = 1 b[1] = 2 if (1 in a) next }`, "b"},
		{`global a probe begin { a = 1 delete a }`, "a"},
		{`global a probe begin { (a++) }`, "a"},
		{`global a probe begin { for (a = 0; pid() < 3; a++) next }`, "a"},
		{`global a probe begin { return_it() } function return_it() { a = 5 return a }`, ""},
		{`global a, b probe begin { b = (a += 2) }`, "b"},
		{`global a = 5 probe begin { println(a) }`, ""},
		{`global a probe begin { println(tokenize("x", "y")) a = 1 }`, "a"},
		{`private global a probe begin { a = 1 }`, "a"},
	} {
		a := analyze(t, "x.stp", c.script, Options{})
		if a.diags.HasErrors() {
			t.Errorf("%s", a.text())
			continue
		}
		if got := names(AutoPrint(a.prog)); got != c.want {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
	}
}

// TestRecursive: what can reach itself, also in a circle and by overloads.
func TestRecursive(t *testing.T) {
	a := analyze(t, "x.stp", `
function self(n) { return n ? self(n - 1) : 0 }
function a(n) { return n ? b(n - 1) : plain(n) }
function b(n) { return c(n) }
function c(n) { return a(n) }
function plain(n) { return n }
function over(n) { if (n) next return plain(n) }
function over(n) { return over(n - 1) }
function above(n) { return self(n) + a(n) + over(n) }
probe begin { println(above(3)) }`, Options{})
	if a.diags.HasErrors() {
		t.Fatal(a.text())
	}
	rec := Recursive(a.prog)
	want := map[string]bool{"self": true, "a": true, "b": true, "c": true, "over": true, "over__x": true}
	for _, f := range a.prog.Funcs {
		if rec[f] != want[f.Name] {
			t.Errorf("%s: recursive is %v", f.Name, rec[f])
		}
	}
}

// TestInspectLive: arms that are never taken are not walked, nor what folded.
func TestInspectLive(t *testing.T) {
	a := analyze(t, "x.stp", `probe begin {
	if (@defined($missing)) dead(1) else live(2)
	x = @defined($x) ? live(3) : dead(4)
	y = @defined($missing) && dead(5)
	z = @defined($x) && live(6)
	if (0) dead($missing)
	w = 1 || dead($missing)
	if (0) live(7)
	v = 0 && live(8)
	if (x + y + z + w + v) live(9)
	if (!@defined($missing) == 1) { live(10) } else { dead(11) }
}
function live(n) { return n }`, Options{})
	if a.diags.HasErrors() {
		t.Fatal(a.text())
	}
	var got []string
	in := &a.prog.Probes[0].Info
	InspectLive(in, a.prog.Probes[0].Decl.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.Call); ok {
			got = append(got, c.Fun.Name+ast.LiteralText(c.Args[0].(*ast.Literal)))
		}
		return true
	})
	if s := strings.Join(got, " "); s != "live2 live3 live6 live7 live8 live9 live10" {
		t.Errorf("walked %s", s)
	}
}

// TestUnknownTargets: what was not resolved is refused, never taken for 0.
func TestUnknownTargets(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"p->next", "what p points to is not known"},
		{"pid()->x", "what the result of pid() points to is not known"},
		{`@cast(p, "task_struct")->pid`, "@cast is not available in this version"},
		{`@var("x")`, "@var is not available in this version"},
		{"$x", "$x is a variable of a probed function; it cannot be used in a function of the script"},
	} {
		a := analyze(t, "x.stp", "function f(p:long) { return "+c.body+" } probe begin { println(f(1)) }",
			Options{Resolve: func(*elab.Func) diag.List { return nil }})
		if a.diags.Errors() != 1 || a.diags[0].Message != c.want {
			t.Errorf("%s:\n%s", c.body, a.text())
		}
	}
}
