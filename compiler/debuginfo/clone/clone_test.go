package clone

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		symbol, name string
		cold, rest   bool
	}{
		{"f", "f", false, false},
		{"f.isra.0", "f", false, false},
		{"f.constprop.0.isra.0", "f", false, false},
		{"f.part.0", "f", false, true},
		{"f.part.0.isra.0", "f", false, true},
		{"f.cold", "f", true, false},
		{"f.part.0.cold", "f", true, true},
		{"f.other.0", "f.other.0", false, false},
		{".hidden", ".hidden", false, false},
	} {
		name, suffix, cold := Of(c.symbol)
		if name != c.name || cold != c.cold || Rest(suffix) != c.rest || name+suffix != c.symbol {
			t.Errorf("%s: %s, %q, cold %v, rest %v", c.symbol, name, suffix, cold, Rest(suffix))
		}
	}
}
