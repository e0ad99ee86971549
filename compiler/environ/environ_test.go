package environ

import "testing"

// TestGet: of several variables with one name the last counts; a name is not taken for a longer one.
func TestGet(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3=4", "EMPTY=", "NONE", "=x"}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "EMPTY": "", "NONE": "", "B": "", "": "x"} {
		if got := Get(env, name); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
}
