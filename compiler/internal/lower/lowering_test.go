package lower

import (
	"testing"

	"github.com/gostap/gostap/compiler/intrinsic"
)

// TestLowerings: each function that is translated here is in the table, and no other.
func TestLowerings(t *testing.T) {
	n := 0
	for _, f := range intrinsic.All() {
		if f.Where != intrinsic.Lowered {
			continue
		}
		if n++; lowerings[f.Name].write == nil {
			t.Errorf("%s is not translated", f.Name)
		}
	}
	if n != len(lowerings) {
		t.Errorf("%d functions are translated, the rows have %d", len(lowerings), n)
	}
}
