// Package merge makes one answer of what many machines have counted.
//
// In: snapshots of the globals that package spread found to be of all machines, as they are now on each machine, in
// bytes. Out: their sums in one store, and a backend.Session over it, in which the handlers that are about all machines
// run.
//
// A snapshot has what was counted since its session began, so that one which is lost or comes twice does no harm.
package merge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/interp"
	"github.com/gostap/gostap/compiler/types"
)

// Snapshot has the elements of globals, by their numbers; of a scalar one element without a key.
type Snapshot map[int][]interp.Elem

// Take reads globals of p; those of one lock are of the same moment.
func Take(store interp.Store, p *ir.Program, shared []int) (Snapshot, error) {
	out := Snapshot{}
	byClass := map[int][]int{}
	for _, g := range shared {
		byClass[p.Globals[g].Class] = append(byClass[p.Globals[g].Class], g)
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		if err := take(store, p, class, byClass[class], out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func take(store interp.Store, p *ir.Program, class int, globals []int, out Snapshot) (err error) {
	if class >= 0 {
		if err := store.Lock(class); err != nil {
			return err
		}
		defer store.Unlock(class)
	}
	for _, i := range globals {
		g := p.Globals[i]
		switch {
		case g.IsArray():
			out[i], err = store.Elems(i)
		case g.Type == types.Stats:
			var a interp.Agg
			a, _, err = store.Stat(i, nil)
			out[i] = []interp.Elem{{Agg: &a}}
		default:
			var v interp.Val
			v, _, err = store.Get(i, nil)
			out[i] = []interp.Elem{{Val: v}}
		}
		if err != nil {
			return fmt.Errorf("read global %s: %w", g.Name, err)
		}
	}
	return nil
}

// Told is what a machine tells: elements, what it leaves out of arrays, and the functions of stacks in keys.
type Told struct {
	Snapshot
	Rests  map[int]Rest
	Stacks []Stack
}

// Bytes writes t down: for each global its number, how many elements, and of each the key (numbers, and texts behind
// their length), then the number, or of an aggregate count, sum, min, max, squares and counters of histograms, as
// varints; in front of that how many stacks, and of each the number and the functions, and how many rests, and of each
// the global and what is known.
func (t Told) Bytes(p *ir.Program) []byte {
	b := binary.AppendUvarint([]byte{version}, uint64(len(t.Stacks)))
	for _, x := range t.Stacks {
		b = binary.AppendUvarint(binary.AppendVarint(b, x.Number), uint64(len(x.Folded)))
		b = append(b, x.Folded...)
	}
	b = binary.AppendUvarint(b, uint64(len(t.Rests)))
	for _, i := range slices.Sorted(maps.Keys(t.Rests)) {
		r := t.Rests[i]
		b = binary.AppendUvarint(b, uint64(i))
		for _, n := range []int64{r.Least, r.Greatest, r.Sum} {
			b = binary.AppendVarint(b, n)
		}
	}
	s := t.Snapshot
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, i := range slices.Sorted(maps.Keys(s)) {
		g := p.Globals[i]
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(i)), uint64(len(s[i])))
		for _, e := range s[i] {
			b = appendKey(b, g, e.Key)
			if g.Type != types.Stats {
				b = binary.AppendVarint(b, e.Val.Int)
				continue
			}
			a := e.Agg
			if a == nil {
				a = &interp.Agg{}
			}
			for _, n := range []int64{a.Count, a.Sum, a.Min, a.Max, int64(a.SqHi), int64(a.SqLo)} {
				b = binary.AppendVarint(b, n)
			}
			for h, hist := range g.Stat.Hists {
				for k := range hist.Buckets() {
					n := int64(0)
					if h < len(a.Hists) && k < len(a.Hists[h]) {
						n = a.Hists[h][k]
					}
					b = binary.AppendVarint(b, n)
				}
			}
		}
	}
	return b
}

// appendKey writes a key down, so that different keys give different bytes.
func appendKey(b []byte, g *ir.Global, k interp.Key) []byte {
	for i, v := range k {
		if g.Keys[i].Type == types.String {
			b = append(binary.AppendUvarint(b, uint64(len(v.Str))), v.Str...)
		} else {
			b = binary.AppendVarint(b, v.Int)
		}
	}
	return b
}

const version = 3

// errGarbage says that bytes are no snapshot of the program.
var errGarbage = errors.New("what was sent is no snapshot of this program's globals")

// reader takes pieces from bytes; it is empty behind the first that is not there.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *reader) int() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *reader) text(most int) string {
	n := r.uint()
	if r.bad || n > uint64(most) || n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// Parse reads what Bytes wrote for the same program, of the globals shared alone. The bytes may be anybody's.
func Parse(b []byte, p *ir.Program, shared []int) (t Told, err error) {
	if len(b) == 0 || b[0] != version {
		return t, errGarbage
	}
	r, s := reader{b: b[1:]}, Snapshot{}
	t.Snapshot = s
	for n := r.uint(); n > 0 && !r.bad; n-- {
		t.Stacks = append(t.Stacks, Stack{r.int(), r.text(mostFolded)})
	}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		i := r.uint()
		if i > math.MaxInt32 || !slices.Contains(shared, int(i)) || !Ranked(p.Globals[i]) {
			return t, errGarbage
		}
		if t.Rests == nil {
			t.Rests = map[int]Rest{}
		}
		t.Rests[int(i)] = Rest{r.int(), r.int(), r.int()}
	}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		i := r.uint()
		if i > math.MaxInt32 || !slices.Contains(shared, int(i)) || s[int(i)] != nil {
			return t, errGarbage
		}
		g := p.Globals[i]
		elems := []interp.Elem{}
		for m := r.uint(); m > 0 && !r.bad; m-- {
			elems = append(elems, r.elem(g))
		}
		if !g.IsArray() && len(elems) != 1 {
			return t, errGarbage
		}
		s[int(i)] = elems
	}
	if r.bad || len(r.b) > 0 {
		return t, errGarbage
	}
	return t, nil
}

func (r *reader) elem(g *ir.Global) (e interp.Elem) {
	for _, k := range g.Keys {
		if k.Type == types.String {
			e.Key = append(e.Key, interp.Val{Str: r.text(k.Cap)})
		} else {
			e.Key = append(e.Key, interp.Val{Int: r.int()})
		}
	}
	if g.Type != types.Stats {
		e.Val.Int = r.int()
		return e
	}
	a := &interp.Agg{Count: r.int(), Sum: r.int(), Min: r.int(), Max: r.int()}
	a.SqHi, a.SqLo = uint64(r.int()), uint64(r.int())
	for _, h := range g.Stat.Hists {
		counts := make([]int64, 0, h.Buckets())
		for range h.Buckets() {
			if r.bad {
				break
			}
			counts = append(counts, r.int())
		}
		a.Hists = append(a.Hists, counts)
	}
	e.Agg = a
	return e
}
