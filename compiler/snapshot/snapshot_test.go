package snapshot_test

import (
	"flag"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irmade"
)

var update = flag.Bool("update", false, "write walk.ir")

// TestWalkText: walk.ir is what walk.stp compiles to.
func TestWalkText(t *testing.T) {
	irmade.Source{Name: "walk", Prefix: "_snap_walk", Calls: "_snap_walk(n, n, n, n, n, n, n)"}.Check(t, *update)
}
