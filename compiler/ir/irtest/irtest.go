// Package irtest makes programs for the tests of other packages.
//
// In: the text form of ir. Out: an ir.Program that ir.Verify has nothing against.
package irtest

import (
	"testing"

	"github.com/gostap/gostap/compiler/ir"
)

// Parse reads a program, and ends the test where the text is none or breaks a rule.
func Parse(t testing.TB, text string) *ir.Program {
	t.Helper()
	p, err := ir.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	return p
}
