package sel_test

import (
	"testing"

	"github.com/gostap/gostap/backend-bpf/internal/sel"
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
