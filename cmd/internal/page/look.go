package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gostap/gostap"
	"github.com/gostap/gostap/cmd/internal/page/state"
)

// How often the session is asked at most, however many look on; how many elements of an array and how many stacks an
// answer has.
const (
	fresh      = 200 * time.Millisecond
	mostRows   = 200
	mostStacks = 3000
)

// look asks a session how it is, for all who look on.
type look struct {
	log lines

	mu      sync.Mutex
	session *gostap.Session
	now     state.State // without lines
	asked   time.Time
	stacks  map[string][]int
	folded  map[int64]string
	viewed  time.Time // when somebody looked on last
	kept    bool      // somebody looks on who needs the end
	final   int       // how many have seen the end
	changed chan struct{}
}

func newLook() *look {
	return &look{folded: map[int64]string{}, changed: make(chan struct{}, 1),
		now: state.State{State: state.Starting, Probes: []state.Probe{}, Globals: []state.Global{}}}
}

func (l *look) begin(s *gostap.Session, name string, sources []state.Source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.stacks = s, s.StackKeys()
	l.now.Name, l.now.Sources = name, sources
}

// end says that the session has ended.
func (l *look) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if globals, err := l.session.Globals(); err == nil {
		l.now.Globals = l.globals(globals)
	}
	for i, t := range l.session.Times() {
		if i < len(l.now.Probes) {
			l.now.Probes[i].Hits, l.now.Probes[i].Took = t.Hits, int64(t.Took)
		}
	}
	l.now.State, l.now.Now = state.Ended, time.Now().UnixMilli()
	if err != nil {
		l.now.Error = err.Error()
	}
}

// seen waits until those who look on have seen the end, at most for a time.
func (l *look) seen(most time.Duration) {
	l.mu.Lock()
	watched, kept := l.kept || time.Since(l.viewed) < 2*time.Second, l.kept
	l.mu.Unlock()
	if !watched {
		return
	}
	limit := time.After(most)
	for {
		l.mu.Lock()
		done := l.final > 0
		l.mu.Unlock()
		if done && kept {
			return
		}
		if done {
			select { // the rest of its requests, and others who look on
			case <-time.After(time.Second):
			case <-limit:
			}
			return
		}
		select {
		case <-l.changed:
		case <-limit:
			return
		}
	}
}

// state implements source.
func (l *look) state(since uint64, most int, keeps bool) *state.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.viewed, l.kept = now, l.kept || keeps
	if l.now.State != state.Ended && now.Sub(l.asked) >= fresh {
		l.ask(now)
	}
	out := l.now
	if out.Lines, out.Last = l.log.after(since, most); out.Lines == nil {
		out.Lines = []state.Line{}
	}
	if out.State == state.Ended {
		l.final++
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
	return &out
}

// ask asks the session.
func (l *look) ask(now time.Time) {
	if l.session == nil {
		return
	}
	probes, err := l.session.Probes()
	if err != nil {
		return // it has not begun, or ends
	}
	globals, err := l.session.Globals()
	if err != nil {
		return
	}
	if l.asked = now; l.now.State == state.Starting {
		l.now.State, l.now.Began = state.Running, now.UnixMilli()
	}
	l.now.Now = now.UnixMilli()
	l.now.Probes = make([]state.Probe, 0, len(probes))
	for _, p := range probes {
		place := ""
		if p.File != "" {
			place = where(p.File, p.Line, p.Column)
		}
		l.now.Probes = append(l.now.Probes, state.Probe{Point: p.Point, Place: place,
			Places: p.Places, Hits: p.Hits, Took: int64(p.Took), On: p.On, Fixed: p.Fixed})
	}
	l.now.Globals = l.globals(globals)
}

// where is a place of the script.
func where(file string, line, column int) string { return fmt.Sprintf("%s:%d:%d", file, line, column) }

// reset implements source.
func (l *look) reset() error { return l.session.Reset() }

// flip implements source.
func (l *look) flip(on bool, probe int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []int{probe}
	if probe < 0 {
		list = list[:0]
		for i, p := range l.now.Probes {
			if !p.Fixed {
				list = append(list, i)
			}
		}
	}
	l.asked = time.Time{}
	return l.session.Switch(on, list...)
}

// globals makes rows of globals.
func (l *look) globals(all gostap.Globals) []state.Global {
	out := []state.Global{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g := all[name]
		to := state.Global{Name: name, Keys: g.Keys, Of: len(g.Elements), Rows: []state.Row{}}
		if g.Keys > 0 {
			slices.SortStableFunc(g.Elements, func(a, b gostap.Element) int { return cmp.Compare(size(&b), size(&a)) })
		}
		columns := l.stacks[name]
		if len(columns) > 0 {
			to.Stacks = l.added(g.Elements, columns)
		}
		for i := range g.Elements[:min(len(g.Elements), mostRows)] {
			row := l.row(&g.Elements[i], columns)
			to.Stat = to.Stat || row.Stats != nil
			to.Rows = append(to.Rows, row)
		}
		out = append(out, to)
	}
	return out
}

// size is what an array is sorted by.
func size(e *gostap.Element) float64 {
	switch {
	case e.Stats != nil:
		return float64(e.Stats.Count)
	case e.Value.IsFloat:
		return finite(e.Value.Float)
	}
	return float64(e.Value.Int)
}

// finite is a number that JSON has: of what is none it is 0.
func finite(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, -math.MaxFloat64), math.MaxFloat64)
}

func (l *look) row(e *gostap.Element, stacks []int) state.Row {
	r := state.Row{Key: []string{}, Number: size(e)}
	for i, k := range e.Key {
		if slices.Contains(stacks, i) {
			list := strings.Split(l.folded[k.Int], ";")
			slices.Reverse(list)
			r.Key = append(r.Key, strings.Join(list[:min(len(list), 3)], " < "))
			continue
		}
		r.Key = append(r.Key, k.String())
	}
	if e.Stats == nil {
		r.Value = e.Value.String()
		return r
	}
	s := e.Stats
	r.Stats = &state.Stats{Count: s.Count, Sum: s.Sum, Min: s.Min, Max: s.Max, Avg: s.Avg()}
	if len(s.Histograms) > 0 {
		h := &s.Histograms[0]
		r.Stats.Linear = h.Linear
		for _, b := range h.Buckets {
			r.Stats.Buckets = append(r.Stats.Buckets, [3]int64{b.From, b.To, b.Count})
		}
	}
	return r
}

// added gives the stacks of an array: where there are several keys, those that differ by the others are added up.
func (l *look) added(elems []gostap.Element, columns []int) []state.Stack {
	var missing []int64
	asked := map[int64]bool{}
	for i := range elems {
		for _, c := range columns {
			n := elems[i].Key[c].Int
			if _, ok := l.folded[n]; !ok && n != 0 && !asked[n] {
				asked[n] = true
				missing = append(missing, n)
			}
		}
	}
	if len(missing) > 0 {
		texts, err := l.session.Folded(missing)
		for i, t := range texts {
			if err == nil {
				l.folded[missing[i]] = t
			}
		}
	}
	sums := map[string]float64{}
	for i := range elems {
		var parts []string
		for _, c := range slices.Backward(columns) { // the program's below the kernel's
			if t := l.folded[elems[i].Key[c].Int]; t != "" {
				parts = append(parts, t)
			}
		}
		if len(parts) > 0 {
			sums[strings.Join(parts, ";")] += size(&elems[i])
		}
	}
	out := make([]state.Stack, 0, len(sums))
	for text, v := range sums {
		out = append(out, state.Stack{Functions: text, Value: finite(v)})
	}
	slices.SortFunc(out, func(a, b state.Stack) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Functions, b.Functions))
	})
	return out[:min(len(out), mostStacks)]
}
