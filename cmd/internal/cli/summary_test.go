package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestColours: -C is stap's option for colours if it is followed by one of their words, and the table of calls else.
func TestColours(t *testing.T) {
	for in, want := range map[string]string{
		"-C never -e x": "--color=never -e x", "-v -C always -C auto x": "-v --color=always --color=auto x",
		"-C -c x": "-C -c x", "-C": "-C", "-e x -- -C never": "-e x -- -C never", "never": "never",
		"-C nevermore": "-C nevermore",
	} {
		args := strings.Fields(in)
		if got := colours(args); !slices.Equal(got, strings.Fields(want)) || !slices.Equal(args, strings.Fields(in)) {
			t.Errorf("%s: %q, want %s", in, got, want)
		}
	}
}
