package merge

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
)

// A machine may tell the greatest elements of an array alone. Of the others it tells what bounds the error that comes
// of that: an element that is not told has between Least and Greatest.

// Rest is what is known of the elements of an array that were left out, of what each has that was not told of it
// before: the least and the greatest number, and the sum of all.
type Rest struct{ Least, Greatest, Sum int64 }

// Ranked reports whether of a global the greatest elements can be told alone: it is an array of numbers.
func Ranked(g *ir.Global) bool { return g.IsArray() && g.Type == types.Long }

// Top chooses what a machine tells of its arrays: the N greatest elements of each of Of now, and what it has told
// before, of which no more than 4 N while the session runs, so that a sum has as few gaps as can be.
type Top struct {
	N  int
	Of []int

	told map[int]map[string]int64 // what was told of each element last
}

// Cut leaves the other elements out of s, and tells what is known of them. At the end of the session all elements that
// were ever told are told.
func (t *Top) Cut(p *ir.Program, s Snapshot, end bool) map[int]Rest {
	if t == nil {
		return nil
	}
	if t.told == nil {
		t.told = map[int]map[string]int64{}
	}
	var rests map[int]Rest
	for _, g := range t.Of {
		if t.told[g] == nil {
			t.told[g] = map[string]int64{}
		}
		kept, rest, some := t.choose(p.Globals[g], s[g], t.told[g], end)
		if !some {
			continue
		}
		if rests == nil {
			rests = map[int]Rest{}
		}
		s[g], rests[g] = kept, rest
	}
	return rests
}

// choose gives the elements that are told, and what is known of the others, if there are some.
func (t *Top) choose(g *ir.Global, elems []interp.Elem, told map[string]int64, end bool) ([]interp.Elem, Rest, bool) {
	// What is greater than least is told, and so many that have as much.
	least, ties := int64(math.MinInt64), len(elems)
	if len(elems) > t.N {
		nums := make([]int64, len(elems))
		for i, e := range elems {
			nums[i] = e.Val.Int
		}
		slices.Sort(nums)
		least = nums[len(nums)-t.N]
		above, _ := slices.BinarySearchFunc(nums, least, func(n, least int64) int {
			if n > least {
				return 1
			}
			return -1
		})
		ties = above - (len(nums) - t.N)
	}
	all := end || len(told) <= 4*t.N
	var kept []interp.Elem
	rest := Rest{Least: math.MaxInt64, Greatest: math.MinInt64}
	for _, e := range elems {
		key := string(appendKey(nil, g, e.Key))
		n := e.Val.Int
		top := n > least || n == least && ties > 0
		if top && n == least {
			ties--
		}
		was, known := told[key]
		if top || all && known {
			told[key] = n
			kept = append(kept, e)
			continue
		}
		n = plus(n, -max(was, -math.MaxInt64))
		rest.Least, rest.Greatest, rest.Sum = min(rest.Least, n), max(rest.Greatest, n), plus(rest.Sum, n)
	}
	return kept, rest, len(kept) < len(elems)
}

// keep adds to t what a snapshot before, which nobody has taken, has of elements that t leaves out. Of an array there
// are no more than size.
func (t *Told) keep(before Told, p *ir.Program, size map[int]int) error {
	for g := range t.Rests {
		if len(before.Snapshot[g]) == 0 {
			continue
		}
		now := map[string]bool{}
		for _, e := range t.Snapshot[g] {
			now[string(appendKey(nil, p.Globals[g], e.Key))] = true
		}
		for _, e := range before.Snapshot[g] {
			if now[string(appendKey(nil, p.Globals[g], e.Key))] {
				continue
			}
			if len(t.Snapshot[g]) >= size[g] {
				return fmt.Errorf("%s: %w", p.Globals[g].Name, errMore)
			}
			t.Snapshot[g] = append(t.Snapshot[g], e)
		}
	}
	return nil
}

// plus adds. What leaves the numbers of an int64 stays at their end, whatever is added: it says that nothing is known.
func plus(a, b int64) int64 {
	s := a + b
	switch {
	case endless(a):
		return a
	case endless(b):
		return b
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

func endless(n int64) bool { return n == math.MaxInt64 || n == math.MinInt64 }

// gap is what was left out of an array by all machines: how far a number in it can be too low and too high, and what
// the sum of all is less than it was. some: there is such an element, though it may have 0.
type gap struct {
	low, high, sum int64
	some           bool
}

// add adds what a machine has left out. several: more than one element there can be the same here.
func (m *gap) add(r Rest, several bool) {
	switch {
	case !several:
		m.low, m.high = plus(m.low, max(r.Greatest, 0)), plus(m.high, -max(min(r.Least, 0), -math.MaxInt64))
	case r.Least >= 0 && r.Sum >= 0:
		m.low = plus(m.low, r.Sum)
	default:
		m.low, m.high = math.MaxInt64, math.MaxInt64
	}
	m.sum, m.some = plus(m.sum, r.Sum), true
}

// rests are what machines have left out, by machine and global.
type rests []map[int]*left

// left is what the sessions of a machine have left out of an array: the one that runs, if it has, and those before.
// most is how far numbers were off at any time.
type left struct {
	now          *Rest
	before, most gap
}

// all is what l comes to.
func (l *left) all(several bool) gap {
	m := l.before
	if l.now != nil {
		m.add(*l.now, several)
	}
	return m
}

// take takes what a machine tells: of arrays that it tells all of there is none.
func (r rests) take(machine int, told map[int]Rest, globals Snapshot, columns map[int]map[int]bool) {
	for g := range globals {
		if of, ok := told[g]; ok {
			if r[machine] == nil {
				r[machine] = map[int]*left{}
			}
			if r[machine][g] == nil {
				r[machine][g] = &left{}
			}
			l := r[machine][g]
			l.now = &of
			is := l.all(len(columns[g]) > 0)
			l.most = gap{max(l.most.low, is.low), max(l.most.high, is.high), 0, true}
		} else if l := r[machine][g]; l != nil {
			l.now = nil
		}
	}
}

// restart keeps what a session has left out that is followed by another.
func (r rests) restart(machine int, columns map[int]map[int]bool) {
	for g, l := range r[machine] {
		l.before, l.now = l.all(len(columns[g]) > 0), nil
	}
}

// gap is how much of an array is missing, and how far numbers in it were off at most while the session ran.
func (s *sums) gap(g int) (m, most gap) {
	for _, of := range s.rests {
		l := of[g]
		if l == nil {
			continue
		}
		n := l.all(len(s.columns[g]) > 0)
		m = gap{plus(m.low, n.low), plus(m.high, n.high), plus(m.sum, n.sum), m.some || n.some}
		most = gap{plus(most.low, l.most.low), plus(most.high, l.most.high), 0, true}
	}
	if m.high == 0 && m.sum >= 0 {
		m.low = min(m.low, m.sum)
	}
	return m, most
}

// off says how far a number can be off.
func (m gap) off() string {
	if m.high > 0 {
		return fmt.Sprintf("at most %d too low or %d too high", m.low, m.high)
	}
	return fmt.Sprintf("at most %d too low", m.low)
}

// bounds says of each array how much can be missing; of those in seen also while the session ran.
func (s *sums) bounds(seen map[int]bool) (out []string) {
	for g, gl := range s.p.Globals {
		m, most := s.gap(g)
		then := seen[g] && most.some && (!m.some || most.low > m.low || most.high > m.high)
		switch {
		case m.some:
			sum := strconv.FormatInt(m.sum, 10)
			if endless(m.sum) {
				sum = "more than a number can tell"
			}
			text := fmt.Sprintf("%s has the greatest elements of each machine alone (--elements): a number in it is "+
				"%s, an element that is not in it has at most %d, and all that is missing adds up to %s", gl.Name,
				m.off(), m.low, sum)
			if then {
				text += "; before the end a number was " + most.off()
			}
			out = append(out, text)
		case then:
			out = append(out, fmt.Sprintf("%s had the greatest elements of each machine alone (--elements) before the "+
				"end: a number was %s then; now nothing is missing", gl.Name, most.off()))
		}
	}
	return out
}
