package cgen

import (
	"maps"
	"slices"
	"testing"
)

// TestWordsRead: a variable that is only set is not read, whatever has its name within another one.
func TestWordsRead(t *testing.T) {
	got := slices.Sorted(maps.Keys(wordsRead([]string{
		"\tr1 = 5;\n\tr2 = r3 + r31;\n\tif (r4 = r5)\n\t\tr6 = 1;\n",
		"\tr7 = r7 + 1;\n\tL->r8 = 2;\n\t*r9 = 3;\nb1:\n\tr10 == 4;\n",
		"r11 = 6;\n", "\tr12 =7;\n",
	})))
	want := []string{"1", "2", "3", "4", "5", "6", "7", "L", "b1", "if", "r10", "r11", "r12", "r3", "r31", "r4",
		"r5", "r6", "r7", "r8", "r9"}
	if !slices.Equal(got, want) {
		t.Errorf("read: %v, not %v", got, want)
	}
}
