package cpus

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{"0": "[0]", "0-3": "[0 1 2 3]", "0-1,4,6-7": "[0 1 4 6 7]"} {
		got, err := parse(in)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "3-1", "-1", "0-99999999", "1,"} {
		if got, err := parse(in); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

func TestHere(t *testing.T) {
	on, err := Online()
	n, err2 := Possible()
	if err != nil || err2 != nil || len(on) == 0 || n < len(on) || n <= on[len(on)-1] {
		t.Errorf("online %v (%v), %d possible (%v)", on, err, n, err2)
	}
}
