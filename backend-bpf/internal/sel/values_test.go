package sel_test

import (
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
	"github.com/gostap/gostap/compiler/ir/texttest"
	"github.com/gostap/gostap/compiler/ir/valuetest"
)

// TestValueTexts: programs give the texts of all tables of the library as the interpreter does.
func TestValueTexts(t *testing.T) {
	needRoot(t)
	for _, most := range []int{511, 40} {
		p, _ := valuetest.Program(valuetest.Tables(t), most)
		for _, may := range forms()[:max(1, len(forms())*(most/511))] {
			m := same(t, p, 1, sel.Features{MayGoto: may})
			t.Logf("instructions: %v", m.insns)
		}
	}
}

// TestTexts: programs give of the text functions what the interpreter gives, with arguments at all edges.
func TestTexts(t *testing.T) {
	needRoot(t)
	for _, may := range forms() {
		p, runs := texttest.Program(false)
		m := same(t, p, runs, sel.Features{MayGoto: may})
		t.Logf("instructions: %v", m.insns)
	}
}
