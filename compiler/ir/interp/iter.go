package interp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/types"
)

// iter is a loop over an array: its elements when it was opened.
type iter struct {
	elems []Elem
	at    int // 1 + index of the current element
}

func (it *iter) next() int64 {
	if it.at > len(it.elems) {
		return 0
	}
	it.at++
	return truth(it.at <= len(it.elems))
}

// elem is the current element, or a zero one outside of the loop.
func (it *iter) elem() *Elem {
	if it.at < 1 || it.at > len(it.elems) {
		return &Elem{}
	}
	return &it.elems[it.at-1]
}

func (e *Elem) key(n int64) Val {
	if n < int64(len(e.Key)) {
		return e.Key[n]
	}
	return Val{}
}

// match reports whether key fits the operands, of which some may be stars.
func (m *Machine) match(keys []arg, key Key, ints []int64, strs []string) bool {
	for i, a := range keys {
		switch {
		case a.star:
		case i >= len(key):
			return false
		case a.str:
			if cut(strs[a.slot], a.cap) != key[i].Str {
				return false
			}
		case ints[a.slot] != key[i].Int:
			return false
		}
	}
	return true
}

// matching lists the elements that fit in's keys.
func (m *Machine) matching(in *inst, ints []int64, strs []string) ([]Elem, error) {
	elems, err := m.store.Elems(int(in.glob))
	if err != nil || len(in.keys) == 0 {
		return elems, err
	}
	out := elems[:0]
	for _, e := range elems {
		if m.match(in.keys, e.Key, ints, strs) {
			out = append(out, e)
		}
	}
	return out, nil
}

// open fixes the elements of a loop: those that fit the slice, sorted, as many as the limit says.
func (m *Machine) open(it *iter, in *inst, ints []int64, strs []string) error {
	elems, err := m.matching(in, ints, strs)
	if err != nil {
		return err
	}
	SortElems(elems, in.order, m.p.Globals[in.glob])
	if len(in.args) > 0 {
		limit := max(ints[in.args[0].slot], 0)
		elems = elems[:min(int64(len(elems)), limit)]
	}
	*it = iter{elems: elems}
	return nil
}

// SortElems sorts elements of g as a loop with that order does. Elements that are equal in it keep
// the order they have.
func SortElems(elems []Elem, o ir.Order, g *ir.Global) {
	var less func(a, b *Elem) int
	switch {
	case o.By == 0:
		return
	case o.By == 'k':
		if o.Col >= len(g.Keys) {
			return
		}
		str := g.Keys[o.Col].Type == types.String
		less = func(a, b *Elem) int { return compare(a.key(int64(o.Col)), b.key(int64(o.Col)), str) }
	case g.Type == types.Stats:
		s := o.Stat // count for 'v'
		// Once for each element: the variance is not cheap.
		by := make(map[*Agg]int64, len(elems))
		for i := range elems {
			if a := elems[i].Agg; a != nil {
				by[a], _ = a.Stat(s)
			}
		}
		less = func(a, b *Elem) int { return cmp.Compare(by[a.Agg], by[b.Agg]) }
	default:
		str := g.Type == types.String
		less = func(a, b *Elem) int { return compare(a.Val, b.Val, str) }
	}
	sign := 1
	if o.Desc {
		sign = -1
	}
	slices.SortStableFunc(elems, func(a, b Elem) int { return sign * less(&a, &b) })
}

func compare(a, b Val, str bool) int {
	if str {
		return strings.Compare(a.Str, b.Str)
	}
	return cmp.Compare(a.Int, b.Int)
}
