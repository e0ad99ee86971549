package merge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/layout"
)

const text = `global n long init 5
global s stats variance hist_log hist_linear(0, 90, 10)
global k long [string 16, long] size 1000
global a stats [long] size 1000 hist_log
`

func program(tb testing.TB) *ir.Program {
	tb.Helper()
	p, err := ir.ParseText(text)
	if err != nil {
		tb.Fatal(err)
	}
	p.Limits = layout.Default()
	return p
}

var shared = []int{0, 1, 2, 3}

// machine counts into a store of its own and into the one of all.
type machine struct {
	p     *ir.Program
	store *interp.MemStore
}

func (m *machine) count(tb testing.TB, r *rand.Rand, all *interp.MemStore) {
	for range r.IntN(200) {
		v := r.Int64N(1<<r.Int64N(40)+1) - 9
		name := interp.Key{{Str: strings.Repeat("x", r.IntN(4))}, {Int: r.Int64N(5) - 2}}
		num := interp.Key{{Int: r.Int64N(50)}}
		for _, to := range []*interp.MemStore{m.store, all} {
			_, err1 := to.Add(0, nil, 1)
			_, err2 := to.Add(2, name, v)
			if err1 != nil || err2 != nil || to.AddStat(1, nil, v) != nil || to.AddStat(3, num, v) != nil {
				tb.Fatal(err1, err2)
			}
		}
	}
}

// state is what a store has, in an order that does not depend on who came first.
func state(tb testing.TB, p *ir.Program, store interp.Store) string {
	s, err := Take(store, p, shared)
	if err != nil {
		tb.Fatal(err)
	}
	for g := range s {
		slices.SortFunc(s[g], func(a, b interp.Elem) int {
			return bytes.Compare(appendKey(nil, p.Globals[g], a.Key), appendKey(nil, p.Globals[g], b.Key))
		})
	}
	return fmt.Sprintf("%x", Told{Snapshot: s}.Bytes(p))
}

// TestSums: what machines count is the sum of all, however often each is heard of, also twice, and when sessions begin
// anew; a handler that takes what it has read in between misses nothing.
func TestSums(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := program(t)
		all := interp.NewMemStore(p)
		s, err := New(Config{Program: p, Shared: shared, Machines: 4})
		if err != nil {
			t.Fatal(err)
		}
		taken := int64(0)
		list := make([]machine, 4)
		for i := range list {
			list[i] = machine{p, interp.NewMemStore(p)}
		}
		for range 60 {
			i := r.IntN(4)
			m := &list[i]
			m.count(t, r, all)
			snap, err := Take(m.store, p, shared)
			if err != nil {
				t.Fatal(err)
			}
			for range r.IntN(3) { // lost, or told twice
				if err := s.Tell(i, Told{Snapshot: snap}.Bytes(p)); err != nil {
					t.Fatal(err)
				}
			}
			switch r.IntN(6) {
			case 0:
				s.take()
			case 1:
				if err := s.Tell(i, Told{Snapshot: snap}.Bytes(p)); err != nil {
					t.Fatal(err)
				}
				s.Restart(i)
				m.store = interp.NewMemStore(p)
			case 2:
				v, _, _ := s.Store().Get(0, nil)
				taken += v.Int
				if err := s.Store().Set(0, nil, interp.Val{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, m := range list {
			snap, err := Take(m.store, p, shared)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Tell(i, Told{Snapshot: snap}.Bytes(p)); err != nil {
				t.Fatal(err)
			}
		}
		s.take()
		if _, err := s.Store().Add(0, nil, taken); err != nil {
			t.Fatal(err)
		}
		if got, want := state(t, p, s.Store()), state(t, p, all); got != want {
			t.Fatalf("seed %d: %s, not %s", seed, got, want)
		}
		if w := s.Warnings(); len(w) > 0 {
			t.Errorf("seed %d: %q", seed, w)
		}
	}
}

// TestTorn: of an aggregate that a handler was just adding to, nothing is told twice and nothing is forgotten.
func TestTorn(t *testing.T) {
	p := program(t)
	s, err := New(Config{Program: p, Shared: shared, Machines: 1})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(a interp.Agg) {
		a.Hists = [][]int64{make([]int64, p.Globals[1].Stat.Hists[0].Buckets()),
			make([]int64, p.Globals[1].Stat.Hists[1].Buckets())}
		if err := s.Tell(0, Told{Snapshot: Snapshot{1: {{Agg: &a}}}}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
		s.take()
	}
	tell(interp.Agg{Count: 1, Sum: 5, Min: 5, Max: 5})
	tell(interp.Agg{Count: 1, Sum: 12, Min: 5, Max: 7}) // the count comes last
	tell(interp.Agg{Count: 2, Sum: 12, Min: 5, Max: 7})
	tell(interp.Agg{Count: 3, Sum: 12, Min: 5, Max: 7}) // of another processor it came first
	tell(interp.Agg{Count: 3, Sum: 13, Min: 1, Max: 7})
	tell(interp.Agg{Count: 4, Sum: 14, Min: 1, Max: 7})
	tell(interp.Agg{Count: 4, Sum: 19, Min: 1, Max: 9})
	if a, _, _ := s.Store().Stat(1, nil); a.Count != 4 || a.Sum != 19 || a.Min != 1 || a.Max != 9 {
		t.Errorf("%+v", a)
	}
	if err := s.Tell(0, Told{Snapshot: Snapshot{1: {{Agg: &interp.Agg{Count: 1}}}}}.Bytes(p)); err != nil {
		t.Fatal(err)
	}
	s.take()
	if w := s.Warnings(); !reflect.DeepEqual(w, []string{"machine 1: s: what it has counted went back"}) {
		t.Errorf("%q", w)
	}
}

// TestTaken: what a handler has deleted comes back with what is counted from then on, and not before, be it a number or
// an aggregate.
func TestTaken(t *testing.T) {
	p := program(t)
	s, err := New(Config{Program: p, Shared: shared, Machines: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := machine{p, interp.NewMemStore(p)}
	name, num := interp.Key{{Str: "k"}, {Int: 1}}, interp.Key{{Int: 1}}
	for _, c := range []struct{ count, want int }{{2, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}} {
		for range c.count {
			if _, err := m.store.Add(2, name, 1); err != nil || m.store.AddStat(3, num, 1) != nil {
				t.Fatal(err)
			}
		}
		snap, err := Take(m.store, p, shared)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Tell(0, Told{Snapshot: snap}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
		s.take()
		for _, g := range []int{2, 3} {
			elems, err := s.Store().Elems(g)
			if err != nil || len(elems) != c.want {
				t.Errorf("%s has %d elements (%v) when %d were counted", p.Globals[g].Name, len(elems), err, c.count)
			}
			for _, e := range elems {
				got := e.Val.Int
				if e.Agg != nil {
					got = e.Agg.Count
				}
				if got != int64(c.count) {
					t.Errorf("%s: %d, not %d", p.Globals[g].Name, got, c.count)
				}
			}
			if err := s.Store().Clear(g); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFull: elements that there is no room for are counted.
func TestFull(t *testing.T) {
	p := program(t)
	p.Globals[2].Size = 2
	s, err := New(Config{Program: p, Shared: shared, Machines: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, machine := range []int{0, 0, 1} {
		if i == 1 {
			s.Restart(0) // another session of it
		}
		elems := []interp.Elem{}
		for k := range 2 {
			key := interp.Key{{Str: "k"}, {Int: int64(10*i + k)}}
			elems = append(elems, interp.Elem{Key: key, Val: interp.Val{Int: 1}})
		}
		if err := s.Tell(machine, Told{Snapshot: Snapshot{2: elems}}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
	}
	s.take()
	want := "2 times there was no room for an element of k of all machines (MAXMAPENTRIES)"
	if w := s.Warnings(); !reflect.DeepEqual(w, []string{want}) {
		t.Errorf("%q", w)
	}
}

// TestGreedy: a machine that says that it has more than it can have, or counts backwards, takes no more memory for
// that, however often it says so, and is told once.
func TestGreedy(t *testing.T) {
	p := program(t)
	p.Globals[2].Size = 2
	s, err := New(Config{Program: p, Shared: shared, Machines: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		elems := []interp.Elem{}
		for k := range 10 {
			key := interp.Key{{Str: "k"}, {Int: int64(10*i + k)}}
			elems = append(elems, interp.Elem{Key: key, Val: interp.Val{Int: 1}})
		}
		agg := interp.Agg{Count: int64(1000 - i)}
		if err := s.Tell(0, Told{Snapshot: Snapshot{1: {{Agg: &agg}}, 2: elems}}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
		s.take()
	}
	if n := len(s.sums.told[0][2]); n != 2 {
		t.Errorf("%d elements of an array of 2 are kept", n)
	}
	want := []string{"machine 1: k: it has more elements than there is room for on a machine",
		"machine 1: s: what it has counted went back"}
	if w := s.Warnings(); !reflect.DeepEqual(w, want) && !reflect.DeepEqual(w, want[:1]) {
		t.Errorf("%q", w)
	}
}

// TestSlow: machines that do not begin are not waited for for ever, and what they count later comes in.
func TestSlow(t *testing.T) {
	p := program(t)
	s, err := New(Config{Program: p, Shared: shared, Machines: 2, Start: func() {}, Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	n := func(v int64) []byte { return Told{Snapshot: Snapshot{0: {{Val: interp.Val{Int: v}}}}}.Bytes(p) }
	time.AfterFunc(150*time.Millisecond, func() { s.Tell(0, n(5+7)) })
	if err := s.Attach(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "machines that had not begun when the session did: 1; what they count comes later"
	if w := s.Warnings(); len(w) != 1 || w[0] != want {
		t.Errorf("%q", w)
	}
	if err := s.Tell(1, n(5+4)); err != nil {
		t.Fatal(err)
	}
	s.take()
	if v, _, _ := s.Store().Get(0, nil); v.Int != 5+7+4 {
		t.Errorf("n is %d", v.Int)
	}
}

// TestJoin: machines that come while a session runs count like those that were there, their arrays have room, and the
// session ends only when it is shut and the last of them has ended.
func TestJoin(t *testing.T) {
	p := program(t)
	p.Globals[2].Size = 2
	started := false
	s, err := New(Config{Program: p, Shared: shared, Open: true, Start: func() { started = true }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Attach(t.Context()); err != nil || !started || s.over() {
		t.Fatalf("without machines: %v, started %v, over %v", err, started, s.over())
	}
	for i := range 3 {
		m, ok := s.Join()
		if m != i || !ok {
			t.Fatalf("machine %d is %d, %v", i, m, ok)
		}
		elems := []interp.Elem{}
		for k := range 2 {
			key := interp.Key{{Str: "k"}, {Int: int64(10*i + k)}}
			elems = append(elems, interp.Elem{Key: key, Val: interp.Val{Int: 1}})
		}
		if err := s.Tell(m, Told{Snapshot: Snapshot{0: {{Val: interp.Val{Int: 7}}}, 2: elems}}.Bytes(p)); err != nil {
			t.Fatal(err)
		}
		s.take()
		s.End(m)
		if s.over() {
			t.Error("it is over while machines may join")
		}
	}
	if v, _, _ := s.Store().Get(0, nil); v.Int != 5+3*2 {
		t.Errorf("n is %d", v.Int)
	}
	if list, _ := s.Store().Elems(2); len(list) != 6 || len(s.Warnings()) > 0 {
		t.Errorf("%d elements, %q", len(list), s.Warnings())
	}
	s.Shut()
	if _, ok := s.Join(); ok || !s.over() {
		t.Errorf("joined after the end: %v; over: %v", ok, s.over())
	}
}

// FuzzParse: whatever comes is refused or understood, and what was understood is written the same.
func FuzzParse(f *testing.F) {
	p := program(f)
	r := rand.New(rand.NewPCG(1, 1))
	m := machine{p, interp.NewMemStore(p)}
	for range 3 {
		snap, err := Take(m.store, p, shared)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(Told{snap, map[int]Rest{2: {-1, 7, 20}}, []Stack{{1, "main;leaf"}}}.Bytes(p))
		m.count(f, r, interp.NewMemStore(p))
	}
	f.Add([]byte{})
	f.Add([]byte{version, 1, 2, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		told, err := Parse(b, p, shared)
		if err != nil {
			return
		}
		again, err := Parse(told.Bytes(p), p, shared)
		if err != nil || !reflect.DeepEqual(again, told) {
			t.Errorf("%v: %v, then %v", err, told, again)
		}
		s, err := New(Config{Program: p, Shared: shared, Machines: 1, Columns: map[int]map[int]bool{3: {0: true}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Tell(0, b); err != nil && err != errManyStacks {
			t.Fatal(err)
		}
		s.take()
	})
}
