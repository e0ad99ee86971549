package texttest

import (
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/ir/textfmt"
)

// nowhere is where programs print that print nothing.
type nowhere struct{ t *testing.T }

func (n nowhere) Print([]byte)           {}
func (n nowhere) Warn(string)            {}
func (n nowhere) Log(string)             {}
func (n nowhere) Error(f *textfmt.Fault) { n.t.Error(f) }
func (n nowhere) Exit()                  {}

// TestInterpreter: the interpreter gives what the table says.
func TestInterpreter(t *testing.T) {
	p, _ := Program(true)
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	store := interp.NewMemStore(p)
	m, err := interp.New(p, store, nowhere{t})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i, g := range p.Globals {
		out[g.Name] = i
	}
	for i, pr := range p.Probes {
		if _, err := m.Run(i, &interp.HostContext{Where: pr.Sites[0]}); err != nil {
			t.Fatal(err)
		}
	}
	n := map[string]int64{}
	for _, c := range Cases() {
		n[c.Func]++
		v, _, err := store.Get(out[c.Func], interp.Key{{Int: n[c.Func]}})
		if err != nil {
			t.Fatal(err)
		}
		if v.Str != c.Want {
			t.Errorf("%s(%q)\n got %s\nwant %s", c.Func, c.Args, v.Str, c.Want)
		}
	}
}
