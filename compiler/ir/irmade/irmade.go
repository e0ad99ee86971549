// Package irmade keeps the functions in IR that are embedded in the compiler the same as the scripts that they are made
// of.
//
// In: a file NAME.stp beside the test, and NAME.ir. Out: a failed test where the second is not what the first compiles
// to, or NAME.ir written anew.
package irmade

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// Source is a script with functions whose names begin with Prefix.
type Source struct {
	Name, Prefix string
	// Calls are statements of a handler that calls all of them, of which n is a number. They stand there twice, since
	// what is called once is inlined.
	Calls string
	// Unoptimised: they are kept as they are written.
	Unoptimised bool
}

// Check holds Name.ir against what Name.stp compiles to; with update it writes it before.
func (s Source) Check(t *testing.T, update bool) {
	t.Helper()
	src, err := os.ReadFile(s.Name + ".stp")
	if err != nil {
		t.Fatal(err)
	}
	use := "probe timer.s(1) { n = gettimeofday_s(); " + strings.Repeat(s.Calls+"; ", 2) + "}"
	res, ds := compiler.Compile(context.Background(), compiler.Options{Limits: layout.Default(),
		Unoptimised: s.Unoptimised, Scripts: []compiler.Script{{Name: s.Name + ".stp", Text: append(src, use...)}}})
	defer res.Close()
	for _, d := range ds {
		t.Error(d.Message)
	}
	if t.Failed() {
		t.FailNow()
	}
	p := &ir.Program{Limits: res.Program.Limits}
	for _, f := range res.Program.Funcs {
		if !strings.HasPrefix(f.Name, s.Prefix) {
			continue
		}
		for _, b := range f.Blocks {
			if slices.ContainsFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpSprint }) {
				p.Formats = res.Program.Formats
			}
			b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpBudget })
		}
		p.Funcs = append(p.Funcs, f)
	}
	if len(p.Funcs) == 0 {
		t.Fatalf("%s.stp has no function %s", s.Name, s.Prefix)
	}
	got := []byte(p.String())
	if update {
		if err := os.WriteFile(s.Name+".ir", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(s.Name + ".ir")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s.ir is not made of %s.stp: go test -update", s.Name, s.Name)
	}
}
