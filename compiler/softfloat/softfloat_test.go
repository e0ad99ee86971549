package softfloat_test

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

var update = flag.Bool("update", false, "write float.ir")

// calls has each function called twice: what is called once is inlined.
const calls = `probe timer.s(1) { n = gettimeofday_s()
 println(_float_add(n, n), _float_mul(n, n), _float_div(n, n), _float_cmp(n, n), _float_trunc(n), _float_wide(n), _float_norm(n, n, n), _float_pack(n, n, n))
 println(_float_add(n, n), _float_mul(n, n), _float_div(n, n), _float_cmp(n, n), _float_trunc(n), _float_wide(n), _float_norm(n, n, n), _float_pack(n, n, n)) }`

// TestText: float.ir is what float.stp compiles to.
func TestText(t *testing.T) {
	src, err := os.ReadFile("float.stp")
	if err != nil {
		t.Fatal(err)
	}
	res, ds := compiler.Compile(context.Background(), compiler.Options{Limits: layout.Default(),
		Scripts: []compiler.Script{{Name: "float.stp", Text: append(src, calls...)}}})
	defer res.Close()
	for _, d := range ds {
		t.Error(d.Message)
	}
	if t.Failed() {
		t.FailNow()
	}
	p := &ir.Program{Limits: res.Program.Limits}
	for _, f := range res.Program.Funcs {
		if !strings.HasPrefix(f.Name, "_float_") {
			continue
		}
		for _, b := range f.Blocks {
			b.Instrs = slices.DeleteFunc(b.Instrs, func(in ir.Instr) bool { return in.Op == ir.OpBudget })
		}
		p.Funcs = append(p.Funcs, f)
	}
	got := p.String()
	if *update {
		if err := os.WriteFile("float.ir", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("float.ir")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("float.ir is not made of float.stp: go test -update")
	}
}
