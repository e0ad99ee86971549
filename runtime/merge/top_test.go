package merge

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/interp"
)

var bound = regexp.MustCompile(`^k has the greatest elements of each machine alone \(--elements\): a number in it ` +
	`is at most (\d+) too low(?: or (\d+) too high)?, an element that is not in it has at most \d+, and all that ` +
	`is missing adds up to (-?\d+)(?:; before the end a number was at most (\d+) too low(?: or (\d+) too high)?)?$`)

var before = regexp.MustCompile(`^k had the greatest elements of each machine alone \(--elements\) before the end: ` +
	`a number was at most (\d+) too low(?: or (\d+) too high)? then; now nothing is missing$`)

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// TestTop: of arrays that machines tell the greatest elements of, nothing is farther from the truth than is said, with
// machines whose sessions begin anew or are lost, and numbers that go down; nor has it been before the end.
func TestTop(t *testing.T) {
	gaps := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := program(t)
		all := interp.NewMemStore(p)
		s, err := New(Config{Program: p, Shared: shared, Machines: 3, Seen: map[int]bool{2: true}})
		if err != nil {
			t.Fatal(err)
		}
		type teller struct {
			machine
			top *Top
		}
		fresh := func() teller {
			return teller{machine{p, interp.NewMemStore(p)}, &Top{N: 1 + r.IntN(6), Of: []int{2}}}
		}
		list := []teller{fresh(), fresh(), fresh()}
		down := seed%4 == 3
		count := func(m *teller) {
			for range r.IntN(300) {
				k := int64(math.Abs(r.NormFloat64()) * 20)
				v := r.Int64N(5)
				if down {
					v -= 2
				}
				key := interp.Key{{Str: "k"}, {Int: k}}
				for _, to := range []*interp.MemStore{m.store, all} {
					if _, err := to.Add(2, key, v); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		tell := func(i int, end bool) {
			m := &list[i]
			snap, err := Take(m.store, p, shared)
			if err != nil {
				t.Fatal(err)
			}
			before := len(snap[2])
			told := Told{Snapshot: snap, Rests: m.top.Cut(p, snap, end)}
			n := len(snap[2])
			if !end && n > 5*m.top.N || n < min(before, m.top.N) || (n < before) != (len(told.Rests) > 0) {
				t.Fatalf("%d of %d elements are told, rests %v", n, before, told.Rests)
			}
			if err := s.Tell(i, told.Bytes(p)); err != nil {
				t.Fatal(err)
			}
		}
		low, high := int64(0), int64(0) // how far numbers were off
		for range 30 {
			i := r.IntN(3)
			count(&list[i])
			tell(i, false)
			if r.IntN(3) == 0 {
				s.take()
				elems, _ := all.Elems(2)
				for _, e := range elems {
					v, _, err := s.Store().Get(2, e.Key)
					if err != nil {
						t.Fatal(err)
					}
					low, high = max(low, e.Val.Int-v.Int), max(high, v.Int-e.Val.Int)
				}
			}
			if r.IntN(10) == 0 {
				tell(i, seed%8 < 4 || r.IntN(2) == 0) // or the session is lost behind what it has told last
				s.Restart(i)
				list[i] = fresh()
			}
		}
		for i := range list {
			count(&list[i])
			tell(i, seed%8 < 4 || r.IntN(2) == 0)
		}
		s.take()
		was, wasHigh, sum := low, high, int64(0)
		low, high = 0, 0
		if w := strings.Join(s.Warnings(), "\n"); w != "" {
			gaps++
			m := bound.FindStringSubmatch(w)
			if b := before.FindStringSubmatch(w); b != nil {
				m = []string{"", "0", "0", "0", b[1], b[2]}
			}
			if m == nil {
				t.Fatal(w)
			}
			low, high, sum = number(m[1]), number(m[2]), number(m[3])
			if was > max(low, number(m[4])) || wasHigh > max(high, number(m[5])) {
				t.Errorf("seed %d: a number was %d too low and one %d too high: %s", seed, was, wasHigh, w)
			}
		} else if was > 0 || wasHigh > 0 {
			t.Errorf("seed %d: a number was %d too low and one %d too high", seed, was, wasHigh)
		}
		if high > 0 && !down {
			t.Errorf("seed %d: no number goes down, and one may be too high", seed)
		}
		elems, _ := all.Elems(2)
		var truth, got int64
		for _, e := range elems {
			v, _, err := s.Store().Get(2, e.Key)
			if err != nil {
				t.Fatal(err)
			}
			truth, got = truth+e.Val.Int, got+v.Int
			if d := e.Val.Int - v.Int; d > low || -d > high {
				t.Errorf("seed %d: %v is %d, not %d: bounds are %d too low, %d too high", seed, e.Key, v.Int,
					e.Val.Int, low, high)
			}
		}
		if truth != got+sum {
			t.Errorf("seed %d: all is %d, not %d and %d that are missing", seed, truth, got, sum)
		}
	}
	if gaps < 100 {
		t.Errorf("in %d sessions alone something was left out", gaps)
	}
}

// TestTopStacks: stacks that are several on a machine and one here can miss all of them.
func TestTopStacks(t *testing.T) {
	m := gap{}
	m.add(Rest{Least: 1, Greatest: 4, Sum: 9}, true)
	m.add(Rest{Least: 2, Greatest: 3, Sum: 5}, true)
	if m != (gap{14, 0, 14, true}) {
		t.Errorf("%+v", m)
	}
	m.add(Rest{Least: -1, Greatest: 3, Sum: 2}, true)
	if m.low != math.MaxInt64 || m.high != math.MaxInt64 {
		t.Errorf("%+v", m)
	}
}

// TestTopNothing: elements that are left out and have 0 are missing, too; a sum that no number can tell is not told as
// one; and what is missing keeps an array from being reset.
func TestTopNothing(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   string
	}{
		{[]int64{0, 0, 5}, "an element that is not in it has at most 0, and all that is missing adds up to 0"},
		{[]int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 1, -9}, "adds up to more than a number can tell"},
	} {
		p := program(t)
		s, err := New(Config{Program: p, Shared: []int{0, 2}, Machines: 1})
		if err != nil {
			t.Fatal(err)
		}
		m := machine{p, interp.NewMemStore(p)}
		for i, v := range c.values {
			if _, err := m.store.Add(2, interp.Key{{Str: "k"}, {Int: int64(i)}}, v); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.MayReset(); err != nil {
			t.Error(err)
		}
		snap, err := Take(m.store, p, []int{0, 2})
		if err != nil {
			t.Fatal(err)
		}
		top := &Top{N: 1, Of: []int{2}}
		told := Told{Snapshot: snap, Rests: top.Cut(p, snap, true)}
		if err := s.Tell(0, told.Bytes(p)); err != nil {
			t.Fatal(err)
		}
		s.take()
		if w := s.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0], c.want) {
			t.Errorf("%d: %q", c.values, w)
		}
		if err := s.MayReset(); err == nil || !strings.HasPrefix(err.Error(), "k cannot be reset: ") {
			t.Error(err)
		}
	}
}

// TestTopForged: a machine that is not ours says what it likes of its own numbers, and no sum runs over.
func TestTopForged(t *testing.T) {
	p := program(t)
	s, err := New(Config{Program: p, Shared: shared, Machines: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		rest := Rest{math.MinInt64, math.MaxInt64, math.MinInt64}
		b := Told{Snapshot: Snapshot{2: {}}, Rests: map[int]Rest{2: rest}}.Bytes(p)
		if err := s.Tell(i, b); err != nil {
			t.Fatal(err)
		}
		s.take()
		s.Restart(i)
	}
	s.take()
	if w := s.Warnings(); len(w) != 1 || strings.Contains(w[0], "-1 ") {
		t.Errorf("%q", w)
	}
	for _, g := range []int{0, 1, 3, 9} { // no array of numbers
		b := Told{Snapshot: Snapshot{}, Rests: map[int]Rest{2: {}}}.Bytes(p)
		b[3] = byte(g)
		if _, err := Parse(b, p, shared); err == nil {
			t.Errorf("a rest of global %d is taken", g)
		}
	}
}
