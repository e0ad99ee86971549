package cgen

import (
	"os/exec"
	"testing"

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
