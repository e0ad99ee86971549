package loc

import "testing"

// TestChecked: a value and the condition under which it is one are taken apart.
func TestChecked(t *testing.T) {
	when := Register(3).With(Constant(7), Step{Op: Xor})
	p := Register(0).Plus(8).With(when, Step{Op: Check, Text: "no"})
	if val, cond := p.Checked(); val.String() != Register(0).Plus(8).String() || cond.String() != when.String() {
		t.Errorf("%s: %s, %s", p, val, cond)
	}
	for _, p := range []Prog{{}, Register(0), p.Plus(1)} {
		if val, cond := p.Checked(); !cond.Empty() || val.String() != p.String() {
			t.Errorf("%s: %s, %s", p, val, cond)
		}
	}
}
