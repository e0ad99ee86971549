package gobare

import "testing"

// TestIsMethod: what takes a receiver, by its name.
func TestIsMethod(t *testing.T) {
	for _, c := range []struct {
		pointer bool
		name    string
		want    bool
	}{
		{true, "Insert", true}, {false, "Area", true}, {true, "func1", true}, {false, "func1", false},
		{true, "Insert-range1", false}, {false, "All-range2", false}, {true, "Close-fm", false},
		{false, "Close-fm", false},
	} {
		if got := isMethod(c.pointer, c.name); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
