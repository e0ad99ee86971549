package lateregexp

import "testing"

// TestNew: an expression is compiled once, and not before it is used.
func TestNew(t *testing.T) {
	wrong := New("(")
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was compiled")
		}
	}()
	re := New(`^a(b+)$`)
	once := re()
	if re() != once || once.FindStringSubmatch("abb")[1] != "bb" {
		t.Errorf("%v", once)
	}
	wrong()
}
