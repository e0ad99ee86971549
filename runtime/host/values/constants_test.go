package values

import (
	"testing"

	"github.com/gostap/gostap/compiler/types"
)

func TestDescribe(t *testing.T) {
	list := []types.Enumerator{{Name: "Top", Val: -1 << 63}, {Name: "None", Val: 0}, {Name: "A", Val: 1},
		{Name: "A2", Val: 1}, {Name: "B", Val: 2}, {Name: "Odd", Val: 7}, {Name: "C", Val: 8}}
	for n, want := range map[int64]string{0: "None", 1: "A", 2: "B", 3: "A|B", 4: "", 7: "Odd", 9: "A|C", 16: "",
		-1 << 63: "Top", -1<<63 + 2: "Top|B", -1: ""} {
		if got := describe(list, n); got != want {
			t.Errorf("%d is %q, not %q", n, got, want)
		}
	}
	if got := describe(nil, 0); got != "" {
		t.Errorf("a number without constants is %q", got)
	}
}
