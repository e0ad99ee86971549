package hook

import (
	"testing"

	"github.com/gostap/gostap/compiler/probe"
)

// TestHooks: each kind of site has a row, fires in the tracer, or is served there.
func TestHooks(t *testing.T) {
	for k := range probe.NumKinds {
		n := 0
		for _, is := range []bool{hooks[k] != nil, k.OnHost(), k.Served()} {
			if is {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: a row %v, in the tracer %v, served there %v", k, hooks[k] != nil, k.OnHost(), k.Served())
		}
		h := hooks[k]
		if h == nil {
			continue
		}
		if h.program == nil {
			t.Errorf("%s: which kind of program serves it?", k)
		}
		if (h.word != nil) != (k.Words() != probe.NoWords) {
			t.Errorf("%s: arguments: %v, the kind says %v", k, h.word != nil, k.Words())
		}
		if (h.noRegs == "") != (k.Code() != probe.NoCode) {
			t.Errorf("%s: registers are refused with %q, the kind says %v", k, h.noRegs, k.Code())
		}
	}
}
