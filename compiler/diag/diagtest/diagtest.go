// Package diagtest is how tests say which kind of message they provoke.
//
// In: what the code under test gave, an error or a list of messages, and a code. Out: the message of that code. The
// test TestErrors of package tests looks in the tests that it names for the call.
package diagtest

import (
	"errors"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
)

// Find gives the message of the code that got, an error or a diag.List, is or holds. The test fails at once if there is
// none.
func Find(t testing.TB, got any, code diag.Code) *diag.Diagnostic {
	t.Helper()
	switch got := got.(type) {
	case diag.List:
		for _, d := range got {
			if d.Code == code {
				return d
			}
		}
		for _, d := range got {
			t.Logf("%s: %s", d.Code, d.Message)
		}
		t.Fatalf("%d messages, none of the kind %s", len(got), code)
	case error:
		d, ok := errors.AsType[*diag.Diagnostic](got)
		if !ok {
			t.Fatalf("%v is no message of the kind %s", got, code)
		}
		if d.Code != code {
			t.Fatalf("%s, not %s: %s", d.Code, code, d.Message)
		}
		return d
	default:
		t.Fatalf("%v is no message of the kind %s", got, code)
	}
	return nil
}
