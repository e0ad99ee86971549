package interp

import (
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

func TestBody(t *testing.T) {
	p := &ir.Program{}
	f := p.AddFormat(&ir.Format{Pieces: []ir.Piece{ir.Conv('s'), ir.Literal(" "), ir.Conv('d'), ir.Literal("\n")}})
	h := ir.NewBuilder("")
	h.End()
	p.Probes = []*ir.Probe{{Name: "x", Handler: h.Finish(), Cond: -1}}
	b := ir.NewBuilder("")
	s := b.Param("s", types.String, 3)
	n := b.Param("n", types.Long, 0)
	b.Print(f, ir.R(s), ir.R(n))
	b.End()
	out := &bodyOutput{}
	m, err := New(p, NewMemStore(p), out)
	if err != nil {
		t.Fatal(err)
	}
	i, err := m.AddBody(b.Finish())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RunBody(i, 0, []Val{{Str: "abcdef"}, {Int: 42}}, &HostContext{}); err != nil {
		t.Fatal(err)
	}
	if out.text != "abc 42\n" {
		t.Errorf("printed %q", out.text)
	}
	if _, err := m.RunBody(i, 0, nil, &HostContext{}); err == nil {
		t.Error("a body without its values ran")
	}
}

type bodyOutput struct {
	Output
	text string
}

func (o *bodyOutput) Print(b []byte) { o.text += string(b) }
