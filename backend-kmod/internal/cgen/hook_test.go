package cgen

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/probe"
)

// TestHooks: each kind has a row, or fires in the tracer; each table has a header of its name and is attached.
func TestHooks(t *testing.T) {
	attached := map[*hook]bool{&files: true}
	for _, h := range tables {
		attached[h] = true
		if h.row == nil {
			t.Errorf("table %s: nobody writes its rows", h.table)
		}
		if _, err := os.Stat("../../../runtime/kmod/gs_" + h.table + ".h"); err != nil {
			t.Error(err)
		}
	}
	for k := range probe.NumKinds {
		switch h := hooks[k]; {
		case (h == nil) != (k.OnHost() || Refused(k) != ""):
			t.Errorf("%s: a row: %v, in the tracer: %v, refused: %q", k, h != nil, k.OnHost(), Refused(k))
		case h != nil && !attached[h]:
			t.Errorf("%s: its table is never attached", k)
		}
	}
}
