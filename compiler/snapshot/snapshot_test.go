package snapshot_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

var update = flag.Bool("update", false, "write walk.ir")

// TestWalkText: walk.ir is what walk.stp compiles to.
func TestWalkText(t *testing.T) {
	src, err := os.ReadFile("walk.stp")
	if err != nil {
		t.Fatal(err)
	}
	res, ds := compiler.Compile(context.Background(), compiler.Options{Limits: layout.Default(),
		Scripts: []compiler.Script{{Name: "walk.stp",
			Text: append(src, "probe timer.s(1) { n = gettimeofday_s(); _snap_walk(n, n, n, n, n, n, n) }"...)}}})
	defer res.Close()
	for _, d := range ds {
		t.Error(d.Message)
	}
	p := &ir.Program{Limits: res.Program.Limits}
	for _, f := range res.Program.Funcs {
		if f.Name != "_snap_walk" {
			continue
		}
		for _, b := range f.Blocks {
			kept := b.Instrs[:0]
			for _, in := range b.Instrs {
				if in.Op != ir.OpBudget {
					kept = append(kept, in)
				}
			}
			b.Instrs = kept
		}
		p.Funcs = append(p.Funcs, f)
	}
	got := p.String()
	if *update {
		if err := os.WriteFile("walk.ir", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("walk.ir")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("walk.ir is not made of walk.stp: go test -update")
	}
}
