package pclntab

import (
	"math/rand/v2"
	"testing"
)

// TestValueAt asks for values in any order, as a table that is read from its beginning each time has them.
func TestValueAt(t *testing.T) {
	tab, _ := open(t, build(t))
	r := rand.New(rand.NewPCG(1, 2))
	asked := 0
	for range 3000 {
		i := r.IntN(tab.nfunc)
		rec := tab.record(i)
		if rec == nil {
			continue
		}
		entry, size := tab.Entry(i), tab.End(i)-tab.Entry(i)
		for range 8 {
			pc := entry + r.Uint64N(size+2)
			for _, at := range []int{recPCSP, recPCFile, recPCLine} {
				off := le.Uint32(rec[at:])
				want, found := int32(0), false
				for p := tab.pcvalue(off, entry); p.next(); {
					if pc < p.pc {
						want, found = p.val, true
						break
					}
				}
				if got, ok := tab.valueAt(off, entry, pc); ok != found || got != want {
					t.Fatalf("table %d of function %d at %#x: %d %v, want %d %v", off, i, pc, got, ok, want, found)
				}
				asked++
			}
		}
	}
	if asked < 10000 {
		t.Errorf("only %d questions", asked)
	}
}
