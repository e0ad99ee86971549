package gomap_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

var update = flag.Bool("update", false, "write find.ir")

// TestTexts: the functions are what their sources compile to.
func TestTexts(t *testing.T) {
	t.Run("find", func(t *testing.T) {
		texts(t, "find", "_go_map_find(n, n, execname(), n, n, n, n, n, n, n, n, n, n, n)")
	})
	t.Run("step", func(t *testing.T) { texts(t, "step", "_go_map_step(n, n, n, n, n, n, n, n, n, n)") })
}

func texts(t *testing.T, name, call string) {
	src, err := os.ReadFile(name + ".stp")
	if err != nil {
		t.Fatal(err)
	}
	// What is called once is inlined.
	use := strings.Replace("probe timer.s(1) { n = gettimeofday_s(); println(CALL); println(CALL) }", "CALL", call, 2)
	res, ds := compiler.Compile(context.Background(), compiler.Options{Limits: layout.Default(),
		Scripts: []compiler.Script{{Name: name + ".stp", Text: append(src, use...)}}})
	defer res.Close()
	for _, d := range ds {
		t.Error(d.Message)
	}
	if t.Failed() {
		t.FailNow()
	}
	p := &ir.Program{Limits: res.Program.Limits}
	for _, f := range res.Program.Funcs {
		if f.Name != "_go_map_"+name {
			continue
		}
		for _, b := range f.Blocks {
			b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpBudget })
		}
		p.Funcs = append(p.Funcs, f)
	}
	if len(p.Funcs) != 1 {
		t.Fatal("the function is not there")
	}
	got := p.String()
	if *update {
		if err := os.WriteFile(name+".ir", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name + ".ir")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s.ir is not made of %s.stp: go test -update", name, name)
	}
}
