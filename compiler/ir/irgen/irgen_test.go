package irgen

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
)

// check makes a program and demands that it verifies, runs, and survives its own text form.
func check(t *testing.T, a, b uint64) {
	p := Program(rand.New(rand.NewPCG(a, b)))
	if err := ir.Verify(p); err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	out, err := Run(p, 2, Context{})
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	q, err := ir.ParseText(p.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	if q.String() != p.String() {
		t.Fatalf("text form is not stable:\n%s\n---\n%s", p, q)
	}
	again, err := Run(q, 2, Context{})
	if err != nil || !reflect.DeepEqual(again, out) {
		t.Fatalf("runs differently when read back, %v\n%s\n---\n%v\n---\n%v", err, p, out, again)
	}
}

func TestPrograms(t *testing.T) {
	for i := range uint64(400) {
		check(t, i, 1)
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(check)
}
