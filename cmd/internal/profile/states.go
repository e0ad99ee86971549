package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gostap/gostap/runtime/export"
)

// The states that are not reasons to wait.
const (
	running  = "running"
	runnable = "runnable"
)

// timeline is one thread or goroutine: what it does since when.
type timeline struct {
	state string // "" before it is known
	since int64
	stack []export.Frame
	label string
	// labels are those of pprof.
	labels []export.Label
	// begin is when it was first seen; spent what has been added up since.
	begin, spent int64
	sums         map[place]*export.Sample
	ended        bool
	// process is that of a thread, name what it was called if its number is another one's by now.
	process int64
	name    string
}

// set ends the state that t has, and begins another one. Events of different processors may come some
// nanoseconds out of order: a time before the last one is taken for that.
func (t *timeline) set(state string, now int64, stack []export.Frame) {
	if t.state == "" {
		t.begin, t.since = now, now
	}
	t.flush(now)
	t.state, t.stack = state, stack
}

// flush adds the time until now to the state that t has.
func (t *timeline) flush(now int64) {
	d := now - t.since
	if d <= 0 || t.state == "" {
		return
	}
	t.since, t.spent = now, t.spent+d
	if t.sums == nil {
		t.sums = map[place]*export.Sample{}
	}
	key := placeOf(t.state, t.stack, t.labels)
	s := t.sums[key]
	if s == nil {
		s = &export.Sample{Stack: t.stack, Values: []int64{0, 0}, Labels: with(t.labels, export.Label{
			Key: "state", Text: t.state})}
		t.sums[key] = s
	}
	s.Values[0] += d
	s.Values[1]++
}

// place is a state with a stack. Stacks of the same addresses are one slice, since the namer keeps them, so that its
// first frame tells them apart; where it keeps no more, samples are put together by Merge.
type place struct {
	state string
	stack *export.Frame
	n     int
	// labels are the text of those of pprof.
	labels string
}

func placeOf(state string, stack []export.Frame, labels []export.Label) place {
	p := place{state: state, labels: textOf(labels)}
	if len(stack) > 0 {
		p.stack, p.n = &stack[0], len(stack)
	}
	return p
}

// profileOf puts timelines together; keep says which states are wanted, and what the label of t is called.
func profileOf[K cmp.Ordered](all map[K]*timeline, title, key string, end int64,
	keep func(state string) bool) *export.Profile {
	p := &export.Profile{Title: title, Types: []export.Type{{Name: "time", Unit: "nanoseconds"}, {Name: "times",
		Unit: "count"}}}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		t := all[k]
		t.flush(end)
		for _, s := range t.sums { // Merge orders them
			if !keep(s.Label("state")) {
				continue
			}
			s.Labels = with(s.Labels, export.Label{Key: key, Text: cmp.Or(t.label, fmt.Sprint(k))})
			p.Samples = append(p.Samples, *s)
		}
	}
	return p
}
