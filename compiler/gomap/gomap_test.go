package gomap_test

import (
	"flag"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irmade"
)

var update = flag.Bool("update", false, "write find.ir and step.ir")

// TestTexts: the functions are what their sources compile to.
func TestTexts(t *testing.T) {
	for _, s := range []irmade.Source{
		{Name: "find", Prefix: "_go_map_find",
			Calls: "println(_go_map_find(n, n, execname(), n, n, n, n, n, n, n, n, n, n, n))"},
		{Name: "step", Prefix: "_go_map_step", Calls: "println(_go_map_step(n, n, n, n, n, n, n, n, n, n))"},
	} {
		t.Run(s.Name, func(t *testing.T) { s.Check(t, *update) })
	}
}
