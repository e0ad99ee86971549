package gocontext_test

import (
	"flag"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irmade"
)

var update = flag.Bool("update", false, "write walk.ir")

// TestTexts: the functions are what their source compiles to.
func TestTexts(t *testing.T) {
	irmade.Source{Name: "walk", Prefix: "_go_context_",
		Calls: "println(_go_context_value(n, n, n, n, n, execname(), n, n, n, n, n, n)); " +
			"println(_go_context_does(n)); println(_go_context_same(n, execname()))"}.Check(t, *update)
}
