package merge

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/ir/interp"
)

// TestStacks: machines give the same stack other numbers, and other stacks the same; the functions tell. What is told
// of without its functions is refused, and a new session of a machine has numbers of its own.
func TestStacks(t *testing.T) {
	p := program(t)
	s, err := New(Config{Program: p, Shared: shared, Machines: 2, Columns: map[int]map[int]bool{3: {0: true}}})
	if err != nil {
		t.Fatal(err)
	}
	hits := func(counts ...int64) Snapshot { // by number of the stack
		var elems []interp.Elem
		for n, c := range counts {
			elems = append(elems, interp.Elem{Key: interp.Key{{Int: int64(n)}},
				Agg: &interp.Agg{Count: c, Sum: c, Min: 1, Max: 1}})
		}
		return Snapshot{3: elems}
	}
	tell := func(machine int, snap Snapshot, stacks ...Stack) {
		t.Helper()
		if err := s.Tell(machine, Told{Snapshot: snap, Stacks: stacks}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string]int64) {
		t.Helper()
		s.take()
		elems, err := s.Store().Elems(3)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, e := range elems {
			k, ok, err := s.Stack(e.Key[0].Int)
			if err != nil || ok != (e.Key[0].Int != 0) {
				t.Fatal(ok, err)
			}
			got[k.Folded] += e.Agg.Count
		}
		for k, n := range want {
			if got[k] != n {
				t.Errorf("%q: %d, not %d", k, got[k], n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%v, not %v", got, want)
		}
	}
	tell(0, hits(1, 10, 100), Stack{1, "main;a"}, Stack{2, "main;b"})
	// Another place in the same functions, told before the last is taken.
	tell(0, hits(2, 11, 101, 5), Stack{3, "main;a"})
	tell(1, hits(0, 1000, 7), Stack{1, "main;b"}, Stack{2, "other"})
	check(map[string]int64{"": 2, "main;a": 16, "main;b": 1101, "other": 7})
	tell(0, hits(2, 12, 101, 5))
	s.Restart(1)
	tell(1, hits(0, 2), Stack{1, "main;a"})
	check(map[string]int64{"": 2, "main;a": 19, "main;b": 1101, "other": 7})
	tell(1, hits(0, 2, 9))
	check(map[string]int64{"": 2, "main;a": 19, "main;b": 1101, "other": 7})
	if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "machine 2: a: "+errNoStack.Error()) {
		t.Errorf("told: %s", w)
	}
	tell(1, hits(0, 2, 0, 4), Stack{3, "a\n9 forged;\x1b[2J\xff"})
	check(map[string]int64{"": 2, "main;a": 19, "main;b": 1101, "other": 7, "a?9 forged;?[2J\ufffd": 4})
	many := Told{Snapshot: hits(), Stacks: make([]Stack, backend.MaxStacks+1)}
	if err := s.Tell(0, many.Bytes(p)); err != errManyStacks {
		t.Errorf("more stacks than a machine has: %v", err)
	}
	long := strings.Repeat("function;", mostFolded/4) + "leaf"
	if got := Shortened(long); len(got) > mostFolded || !strings.HasPrefix(got, "...;function;") ||
		!strings.HasSuffix(got, ";function;leaf") ||
		Shortened("f;bpf_prog_0b7f778485d71689_probe_0_[k]") != "f;bpf_prog_probe_0_[k]" {
		t.Errorf("%d bytes: %.40s", len(got), got)
	}
}
