package cgen

import (
	"os/exec"
	"testing"

	"github.com/gostap/gostap/compiler/ir/texttest"
	"github.com/gostap/gostap/compiler/ir/valuetest"
)

// TestValueTexts: modules give the texts of all tables of the library as the interpreter does.
func TestValueTexts(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	tables := valuetest.Tables(t)
	for n, most := range map[int]int{len(tables): 511, 20: 20} {
		p, _ := valuetest.Program(tables[:n], most)
		if !compare(t, 0, p) {
			t.Error("refused")
		}
	}
}

// TestTexts: modules give of the text functions what the interpreter gives, with arguments at all edges.
func TestTexts(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	if p, _ := texttest.Program(true); !compare(t, 0, p) {
		t.Error("refused")
	}
}
