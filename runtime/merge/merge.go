package merge

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
)

// sums adds up what machines tell. It is for one goroutine.
type sums struct {
	p     *ir.Program
	store *interp.MemStore
	// told is what each machine has told last, by global and key.
	told []map[int]map[string]interp.Elem
	// full counts elements that there was no room for, by global.
	full map[int]uint64
	// size is how many elements a machine has, by array.
	size map[int]int
	// columns are those of keys that have stacks, by global.
	columns map[int]map[int]bool
	names   names
	rests   rests
}

func newSums(p *ir.Program, store *interp.MemStore, machines int, size map[int]int,
	columns map[int]map[int]bool) *sums {
	return &sums{p: p, store: store, told: make([]map[int]map[string]interp.Elem, machines), full: map[int]uint64{},
		size: size, columns: columns, rests: make(rests, machines),
		names: names{numbers: map[string]int64{}, of: make([]map[int64]int64, machines)}}
}

// room makes room for machines that have joined.
func (s *sums) room(machines int) {
	for len(s.told) < machines {
		s.told, s.names.of, s.rests = append(s.told, nil), append(s.names.of, nil), append(s.rests, nil)
	}
}

// restart says that another session of a machine begins: it counts from nothing.
func (s *sums) restart(machine int) {
	s.told[machine], s.names.of[machine] = nil, nil
	s.rests.restart(machine, s.columns)
}

// What no session does: a machine counts backwards, or has more elements than its array has room for.
var (
	errBack = errors.New("what it has counted went back")
	errMore = errors.New("it has more elements than there is room for on a machine")
)

// add enters what a machine has counted since it was heard of last.
func (s *sums) add(machine int, now Told) error {
	if s.told[machine] == nil {
		s.told[machine] = map[int]map[string]interp.Elem{}
	}
	s.rests.take(machine, now.Rests, now.Snapshot, s.columns)
	var wrong error
	for g, elems := range now.Snapshot {
		gl := s.p.Globals[g]
		before := s.told[machine][g]
		if before == nil {
			before = map[string]interp.Elem{}
			s.told[machine][g] = before
			if !gl.IsArray() && gl.Type != types.Stats { // each session begins with it, and so did the sum
				before[""] = interp.Elem{Val: interp.Val{Int: gl.InitInt}}
			}
		}
		for _, e := range elems {
			key := string(appendKey(nil, gl, e.Key))
			was, had := before[key]
			if !had && gl.IsArray() && len(before) >= s.size[g] {
				wrong = fmt.Errorf("%s: %w", gl.Name, errMore)
				break
			}
			here, err := s.names.translate(machine, e.Key, s.columns[g])
			if err != nil {
				// it is not added
			} else if gl.Type == types.Stats {
				err = s.stat(g, here, e.Agg, was.Agg)
			} else if n := e.Val.Int - was.Val.Int; n != 0 || !had {
				_, err = s.store.Add(g, here, n)
			}
			switch {
			case errors.Is(err, interp.ErrFull):
				s.full[g]++
			case err != nil:
				wrong = fmt.Errorf("%s: %w", gl.Name, err)
				continue
			}
			before[key] = e
		}
	}
	return wrong
}

// stat adds the difference of two states of an aggregate, if there is one: a handler may have deleted it here. Its
// count, sum and counters are read one by one while handlers add to them, so that one may be ahead of the others; what
// is missing is in the next difference.
func (s *sums) stat(g int, key interp.Key, now, was *interp.Agg) error {
	d := *now
	if was != nil {
		if now.Count < was.Count {
			return errBack
		}
		d.Count, d.Sum = now.Count-was.Count, now.Sum-was.Sum
		var borrow uint64
		d.SqLo, borrow = bits.Sub64(now.SqLo, was.SqLo, 0)
		d.SqHi, _ = bits.Sub64(now.SqHi, was.SqHi, borrow)
		d.Hists = make([][]int64, len(now.Hists))
		for h := range now.Hists {
			d.Hists[h] = make([]int64, len(now.Hists[h]))
			for k, n := range now.Hists[h] {
				d.Hists[h][k] = n - was.Hists[h][k]
			}
		}
		if d.Count == 0 && d.Sum == 0 && d.SqLo == 0 && d.SqHi == 0 && now.Min == was.Min && now.Max == was.Max &&
			!slices.ContainsFunc(d.Hists, func(h []int64) bool {
				return slices.ContainsFunc(h, func(n int64) bool { return n != 0 })
			}) {
			return nil
		}
	}
	return s.store.MergeStat(g, key, &d, now.Count > 0)
}
