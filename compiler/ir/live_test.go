package ir

import (
	"slices"
	"testing"
)

func TestRegSet(t *testing.T) {
	s := NewRegSets(2, 130)
	for _, r := range []Reg{129, 0, 64, 63} {
		s[0].Add(r)
	}
	s[0].Del(64)
	if !s[1].Join(s[0]) || s[1].Join(s[0]) {
		t.Error("join does not say whether it changed the set")
	}
	var got []Reg
	s[1].Each(func(r Reg) { got = append(got, r) })
	if want := []Reg{0, 63, 129}; !slices.Equal(got, want) || s[1].Has(64) || !s[1].Has(129) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReached(t *testing.T) {
	fn := func(name string, calls ...string) *Func {
		b := &Block{}
		for _, c := range calls {
			b.Instrs = append(b.Instrs, Instr{Op: OpCall, Name: c})
		}
		return &Func{Name: name, Blocks: []*Block{b}}
	}
	p := &Program{Funcs: []*Func{fn("a", "b", "c"), fn("b", "b", "gone"), fn("c", "a"), fn("d")}}
	for _, c := range []struct {
		from []*Func
		want []string
	}{
		{[]*Func{fn("", "a")}, []string{"", "a", "b", "c"}},
		{[]*Func{p.Funcs[2]}, []string{"c", "a", "b"}},
		{[]*Func{fn("", "b"), fn("", "d", "b")}, []string{"", "", "b", "d"}},
		{nil, nil},
	} {
		var got []string
		for f := range p.Reached(c.from...) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
