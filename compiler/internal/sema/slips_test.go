package sema

import "testing"

// TestSlips: what people write who come from other tools is told how it is written here.
func TestSlips(t *testing.T) {
	for script, want := range map[string]string{
		`probe begin { printn("x") }`:        "did you mean println?",
		`probe begin { printdn(",", 1, 2) }`: "did you mean printdln?",
		`global n = 1 probe begin { println("a" + n) }`: "strings are joined by a dot, a . b; strtol(s, 10) reads a " +
			"number from a string",
		`global n = 1 probe begin { println("a" - n) }`: "strtol(s, 10) reads a number from a string",
	} {
		a := analyze(t, "t.stp", script, Options{})
		if len(a.diags) != 1 || a.diags[0].Hint != want {
			t.Errorf("%s: %d messages", script, len(a.diags))
			for _, d := range a.diags {
				t.Errorf("%s, hint %s", d.Message, d.Hint)
			}
		}
	}
}
