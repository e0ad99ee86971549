package merge

import (
	"fmt"
	"math"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
)

// A machine may tell the greatest elements of an array alone. Of the others it tells what bounds the error that comes
// of that: an element that is not told has between Least and Greatest.

// Rest is what is known of the elements of an array that were left out: the least and the greatest number, and the sum
// of all.
type Rest struct{ Least, Greatest, Sum int64 }

// Ranked reports whether of a global the greatest elements can be told alone: it is an array of numbers.
func Ranked(g *ir.Global) bool { return g.IsArray() && g.Type == types.Long }

// Top chooses what a machine tells of its arrays: the N greatest elements of each of Of now, and what it has told
// before, of which no more than 4 N while the session runs, so that a sum has as few gaps as can be.
type Top struct {
	N  int
	Of []int

	told map[int]map[string]bool
}

// Cut leaves the other elements out of s, and tells what is known of them. At the end of the session all elements that
// were ever told are told.
func (t *Top) Cut(p *ir.Program, s Snapshot, end bool) map[int]Rest {
	if t == nil {
		return nil
	}
	if t.told == nil {
		t.told = map[int]map[string]bool{}
	}
	var rests map[int]Rest
	for _, g := range t.Of {
		if t.told[g] == nil {
			t.told[g] = map[string]bool{}
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
func (t *Top) choose(g *ir.Global, elems []interp.Elem, told map[string]bool, end bool) ([]interp.Elem, Rest, bool) {
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
		switch {
		case top:
			told[key] = true
			kept = append(kept, e)
		case all && told[key]:
			kept = append(kept, e)
		default:
			rest.Least, rest.Greatest = min(rest.Least, n), max(rest.Greatest, n)
			rest.Sum = plus(rest.Sum, n)
		}
	}
	return kept, rest, len(kept) < len(elems)
}

// plus adds, and stays at the ends of what an int64 can have: of a machine that is not ours anything may come.
func plus(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// gap is what was left out of an array by all machines: how far a number in it can be too low and too high, and what
// the sum of all is less than it was.
type gap struct{ low, high, sum int64 }

// add adds what a machine has left out. several: more than one element there can be the same here.
func (m *gap) add(r Rest, several bool) {
	switch {
	case !several:
		m.low, m.high = plus(m.low, max(r.Greatest, 0)), plus(m.high, -max(min(r.Least, 0), -math.MaxInt64))
	case r.Least >= 0:
		m.low = plus(m.low, r.Sum)
	default:
		m.low, m.high = math.MaxInt64, math.MaxInt64
	}
	m.sum = plus(m.sum, r.Sum)
}

// rests are what machines have left out, by machine and global.
type rests []map[int]*left

// left is what the sessions of a machine have left out of an array: the one that runs, and those before.
type left struct {
	now    Rest
	before gap
}

// take takes what a machine tells: of arrays that it tells all of there is none.
func (r rests) take(machine int, told map[int]Rest, globals Snapshot) {
	for g := range globals {
		if of, ok := told[g]; ok {
			if r[machine] == nil {
				r[machine] = map[int]*left{}
			}
			if r[machine][g] == nil {
				r[machine][g] = &left{}
			}
			r[machine][g].now = of
		} else if l := r[machine][g]; l != nil {
			l.now = Rest{}
		}
	}
}

// restart keeps what a session has left out that is followed by another.
func (r rests) restart(machine int, columns map[int]map[int]bool) {
	for g, l := range r[machine] {
		l.before.add(l.now, len(columns[g]) > 0)
		l.now = Rest{}
	}
}

// bounds says of each array how much can be missing.
func (s *sums) bounds() (out []string) {
	all := map[int]*gap{}
	for _, of := range s.rests {
		for g, l := range of {
			if all[g] == nil {
				all[g] = &gap{}
			}
			m := all[g]
			m.add(l.now, len(s.columns[g]) > 0)
			m.low, m.high, m.sum = plus(m.low, l.before.low), plus(m.high, l.before.high), plus(m.sum, l.before.sum)
		}
	}
	for g, m := range all {
		if *m == (gap{}) {
			continue
		}
		if m.high == 0 {
			m.low = min(m.low, m.sum)
		}
		high := ""
		if m.high > 0 {
			high = fmt.Sprintf(" or %d too high", m.high)
		}
		out = append(out, fmt.Sprintf("%s has the greatest elements of each machine alone (--elements): a number in "+
			"it is at most %d too low%s, an element that is not in it has at most %d, and all that is missing adds up "+
			"to %d",
			s.p.Globals[g].Name, m.low, high, m.low, m.sum))
	}
	return out
}
