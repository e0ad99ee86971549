package gostap_test

import (
	"context"
	"testing"

	"github.com/gostap/gostap"
)

// TestFloats: numbers with a fraction are numbers for Go programs too, whether printed or in globals.
func TestFloats(t *testing.T) {
	p, err := gostap.Compile(context.Background(), `global total, m, n, s, seen
probe begin { total = 2.5; m["a"] = -0.25; n = 3; printf("%g %d %.1f\n", total, n, m["a"]) s <<< @scaled(total, 100) }
probe timer.ms(1) { if (total == 7) { seen = 1; exit() } }`, gostap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var got []gostap.Value
	for e, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == gostap.Print {
			got = append(got, e.Args...)
			if err := s.Set("total", 7); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(got) != 3 || !got[0].IsFloat || got[0].Float != 2.5 || got[1].IsFloat || got[1].Int != 3 ||
		got[2].Float != -0.25 || got[0].String() != "2.5" {
		t.Errorf("printed %+v", got)
	}
	g, err := s.Globals()
	if err != nil {
		t.Fatal(err)
	}
	if v := g["total"].Elements[0].Value; !v.IsFloat || v.Float != 7 || g["seen"].Elements[0].Value.Int != 1 {
		t.Errorf("total is %+v, seen %+v", v, g["seen"])
	}
	if v := g["m"].Elements[0].Value; !v.IsFloat || v.Float != -0.25 {
		t.Errorf("m has %+v", v)
	}
	if st := g["s"].Elements[0].Stats; st == nil || st.Scale != 100 || st.Sum != 250 {
		t.Errorf("s has %+v", st)
	}
}
