package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestWarnings: a flood of warnings is cut, whether they have one text or ever new ones, and what was left out is
// counted.
func TestWarnings(t *testing.T) {
	var errs bytes.Buffer
	o := newOutput(nil, &errs, &errs, nil)
	for i := range 3 * mostTexts {
		o.warn("the same")
		o.warn(fmt.Sprintf("number %d", i))
	}
	o.repeated()
	got := errs.String()
	for text, want := range map[string]int{
		"WARNING: the same\n":   3,
		"WARNING: number ":      mostTexts - 1,
		"WARNING: number 998\n": 1,
		fmt.Sprintf("WARNING: the same (%d more times)\n", 3*mostTexts-3):                                        1,
		fmt.Sprintf("WARNING: %d more warnings, with other texts than the first %d\n", 2*mostTexts+1, mostTexts): 1,
	} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%d times %q, want %d", n, text, want)
		}
	}
}
