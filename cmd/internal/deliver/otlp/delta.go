package otlp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/runtime/export/feed"
)

// deltas has the last line of each series, of which the next is told as what came since (delta temporality).
type deltas map[string]*feed.Line

// all gives what came to series, without those to which nothing did.
func (d deltas) all(lines []*feed.Line) (out []*feed.Line) {
	for _, l := range lines {
		if l = d.since(l); l != nil {
			out = append(out, l)
		}
	}
	return out
}

// since gives what came to a series of a counter or a histogram since the line before, nil if that is nothing. Of a
// gauge it is the line.
func (d deltas) since(l *feed.Line) *feed.Line {
	if l.Kind == "gauge" {
		return l
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%q", l.Name)
	for _, f := range l.Labels {
		fmt.Fprintf(&key, "%q%q", f.Name, f.String())
	}
	before := d[key.String()]
	d[key.String()] = l
	if before == nil || !l.Begin.Equal(before.Begin) {
		return l // it begins, or has begun again
	}
	out := *l
	out.Begin = before.Time
	if l.Stats == nil {
		out.Value.V = less(l.Number(), before.Number())
		if out.Value.V == int64(0) || out.Value.V == float64(0) {
			return nil
		}
		return &out
	}
	if before.Stats == nil || l.Stats.Count < before.Stats.Count {
		return l
	}
	if l.Stats.Count == before.Stats.Count {
		return nil
	}
	// The extrema of what came since are not known.
	out.Stats = &feed.Stats{Count: l.Stats.Count - before.Stats.Count, Sum: l.Stats.Sum - before.Stats.Sum, Min: 1,
		Scale: l.Stats.Scale}
	out.Histograms = nil
	for i, h := range l.Histograms {
		if i < len(before.Histograms) {
			h.Buckets = slices.Clone(h.Buckets)
			for _, b := range before.Histograms[i].Buckets {
				at := slices.IndexFunc(h.Buckets, func(c feed.Bucket) bool { return c.From == b.From && c.To == b.To })
				if at >= 0 {
					h.Buckets[at].Count -= b.Count
				}
			}
			h.Buckets = slices.DeleteFunc(h.Buckets, func(b feed.Bucket) bool { return b.Count == 0 })
		}
		out.Histograms = append(out.Histograms, h)
	}
	return &out
}

// less gives a - b of two values of a counter, a where it has begun again.
func less(a, b any) any {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if x < y {
				return x
			}
			return x - y
		}
	}
	x, y := feed.Float(a), feed.Float(b)
	if x < y {
		return a
	}
	return x - y
}
