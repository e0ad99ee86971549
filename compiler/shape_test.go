package compiler

import (
	"context"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
)

// TestShape: what is wrong whatever names mean is told of scripts that are only parsed, and by the same words of those
// that are compiled.
func TestShape(t *testing.T) {
	for script, code := range map[string]diag.Code{
		`probe begin { printf("%q", 1) }`:                                         diag.PrintFormat,
		`probe begin { printf("%5") }`:                                            diag.PrintFormat,
		`probe begin { println(sprintf(x)) }`:                                     diag.PrintFormat,
		`function f() { printf("%z") } probe begin { f() }`:                       diag.PrintFormat,
		`probe a = begin { printf("%z") } probe a { }`:                            diag.PrintFormat,
		`probe begin { printf() }`:                                                diag.PrintArguments,
		`probe begin { print() }`:                                                 diag.PrintArguments,
		`probe begin { printd("-", 1) }`:                                          diag.PrintArguments,
		`probe begin { printd(1, 2, 3) }`:                                         diag.PrintArguments,
		`global s probe begin { s <<< 1 x = @hist_log(s) }`:                       diag.HistogramUse,
		`global s probe begin { s <<< 1 print(@hist_log(s), 1) }`:                 diag.HistogramUse,
		`global s probe begin { s <<< 1 printf("%d", @hist_linear(s, 0, 9, 1)) }`: diag.HistogramUse,
		`global a, a probe begin { a = 1 }`:                                       diag.DuplicateGlobal,
		`%{ int x; %} probe begin { }`:                                            diag.EmbeddedCode,
		`function f:long () %{ %} probe begin { println(f()) }`:                   diag.EmbeddedCode,
		`probe begin { println(%{ 1 %}) }`:                                        diag.EmbeddedCode,
		`probe begin { println(@const("HZ")) }`:                                   diag.EmbeddedCode,
	} {
		var said [2]*diag.Diagnostic
		for i, stop := range []Phase{Parse, 0} {
			_, ds := Compile(context.Background(), Options{Scripts: []Script{{Name: "t", Text: []byte(script)}},
				Stop: stop})
			for _, d := range ds {
				if d.Severity == diag.Error && d.Code == code && said[i] == nil {
					said[i] = d
				}
			}
			if said[i] == nil {
				t.Errorf("%s: -p%d says %v", script, stop, ds)
			}
		}
		if said[0] != nil && said[1] != nil && (said[0].Message != said[1].Message || said[0].Span != said[1].Span) {
			t.Errorf("%s: -p1 says %v, without it %v", script, said[0], said[1])
		}
	}
	for _, script := range []string{
		`global s probe begin { s <<< 1 print(@hist_log(s)) println(sprint(@hist_log(s))) }`,
		`global s probe begin { s <<< 1 foreach (b in @hist_log(s)) { } }`,
		`global s probe begin { s <<< 1 println(@hist_log(s)[64], 64 in @hist_log(s)) }`,
		`probe begin { println() x = sprintln() printf("a%%") printdln("-", 1, 2) y = nothing(z) }`,
	} {
		_, ds := Compile(context.Background(), Options{Scripts: []Script{{Name: "t", Text: []byte(script)}},
			Stop: Parse})
		if ds.HasErrors() {
			t.Errorf("%s: %v", script, ds)
		}
	}
}
