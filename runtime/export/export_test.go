package export

import (
	"reflect"
	"testing"
)

func sample(v int64, state string, names ...string) Sample {
	s := Sample{Values: []int64{v}}
	for _, n := range names {
		s.Stack = append(s.Stack, Frame{Func: n})
	}
	if state != "" {
		s.Labels = []Label{{"state", state}}
	}
	return s
}

func TestMerge(t *testing.T) {
	p := &Profile{Types: []Type{{"time", "nanoseconds"}}, Samples: []Sample{
		sample(1, "", "b", "a"), sample(5, "", "c"), sample(2, "", "b", "a"), sample(1, "x", "b", "a"),
		{Stack: []Frame{{Func: "c", Line: 256}}, Values: []int64{4}}, {Stack: []Frame{{Func: "c", Line: 1}},
			Values: []int64{3}},
		{Stack: []Frame{{Func: "c", Line: 1}, {Func: "c"}}, Values: []int64{2}},
	}}
	mine := p.Samples[0].Values
	p.Merge()
	var got []int64
	for _, s := range p.Samples {
		got = append(got, s.Values[0])
	}
	if want := []int64{5, 4, 3, 3, 2, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("values %d, want %d: %+v", got, want, p.Samples)
	}
	if mine[0] != 1 {
		t.Error("Merge wrote into the values that it was given")
	}
	if p.Total(0) != 18 {
		t.Errorf("total %d", p.Total(0))
	}
}

func TestTree(t *testing.T) {
	before := &Profile{Samples: []Sample{sample(4, "", "leaf", "main"), sample(1, "", "gone", "main")}}
	after := &Profile{Samples: []Sample{sample(3, "sleep", "leaf", "main"), sample(2, "", "main"), sample(7, "")}}
	got := Tree(after, before, 0, "state")
	leaf := &Node{Name: "leaf", Total: 3, Before: 4, SelfBefore: 4,
		Calls: []*Node{{Name: "[sleep]", Total: 3, Self: 3}}}
	want := &Node{Name: "all", Total: 12, Before: 5, Self: 7, Calls: []*Node{{Name: "main", Total: 5, Before: 5,
		Self:  2,
		Calls: []*Node{{Name: "gone", Before: 1, SelfBefore: 1}, leaf}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		f    Frame
		want string
	}{{Frame{Func: "f", Module: "m"}, "f"}, {Frame{Module: "libc.so.6"}, "[libc.so.6]"}, {Frame{Addr: 5},
		"[unknown]"}} {
		if got := c.f.Name(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}
