package opt_test

import (
	"testing"

	"github.com/gostap/gostap/compiler"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
	"github.com/gostap/gostap/compiler/ir/valuetest"
	"github.com/gostap/gostap/compiler/layout"
)

// TestSpelledValues: the functions that are made of tables give the texts that are printed elsewhere, for all tables of
// the library.
func TestSpelledValues(t *testing.T) {
	tables := valuetest.Tables(t)
	for _, most := range []int{511, 20, 3} {
		p, values := valuetest.Program(tables, most)
		if err := ir.Verify(p); err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Probes {
			for _, b := range f.Handler.Blocks {
				for _, in := range b.Instrs {
					if in.Name == "value_text" {
						t.Fatalf("%s stays with the host", in.Args[1].Str)
					}
				}
			}
		}
		store := interp.NewMemStore(p)
		var out printed
		m, err := interp.New(p, store, &out)
		if err != nil {
			t.Fatal(err)
		}
		for i, table := range tables {
			if _, err := m.Run(i, &interp.HostContext{}); err != nil {
				t.Fatal(err)
			}
			for _, v := range values[i] {
				want := textfmt.Decode(table, v)
				want = want[:min(len(want), most)]
				got, ok, err := store.Get(i, []interp.Val{{Int: v}})
				if err != nil || !ok || got.Str != want {
					t.Errorf("%q of %d: %q, want %q (%v)", table, v, got.Str, want, err)
				}
			}
		}
		if len(out) > 0 {
			t.Errorf("%s", out)
		}
	}
}

// TestResultsJoined: handlers that tell the results of all system calls in one way are one, but for those that read
// anything else.
func TestResultsJoined(t *testing.T) {
	for _, script := range []string{`global n probe syscall.*.return { n[name, retstr]++ }`,
		`probe syscall.*.return { println(name, " ", retstr) }`} {
		res, ds := compiler.Compile(t.Context(),
			compiler.Options{Limits: layout.Default(), Scripts: []compiler.Script{{Name: "t", Text: []byte(script)}}})
		defer res.Close()
		if ds.HasErrors() {
			t.Fatal(ds[0].Message)
		}
		if n := len(res.Program.Probes); n > 16 {
			t.Errorf("%s: %d probes", script, n)
		}
	}
}
