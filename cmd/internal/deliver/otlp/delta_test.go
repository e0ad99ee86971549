package otlp

import (
	"fmt"
	"testing"
	"time"

	"github.com/gostap/gostap/runtime/export/feed"
)

func TestSince(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	counter := func(n int, v any, label string) *feed.Line {
		return &feed.Line{Name: "c", Kind: "counter", Begin: at(0), Time: at(n), Value: feed.Value{V: v},
			Labels: feed.Fields{{Name: "l", Value: feed.Value{V: label}}}}
	}
	sizes := func(n int, count, sum int64, buckets ...feed.Bucket) *feed.Line {
		return &feed.Line{Name: "h", Kind: "histogram", Begin: at(0), Time: at(n), Stats: &feed.Stats{Count: count,
			Sum: sum, Min: -1, Max: 100}, Histograms: []feed.Histogram{{Kind: "log", Buckets: buckets}}}
	}
	b := func(from, to, n int64) feed.Bucket { return feed.Bucket{From: from, To: to, Count: n} }
	d := deltas{}
	for i, c := range []struct {
		line *feed.Line
		want string
	}{
		{counter(1, int64(5), "a"), "0 5"},
		{counter(1, int64(7), "b"), "0 7"},
		{counter(2, int64(5), "a"), "none"},
		{counter(3, int64(9), "a"), "2 4"},
		{counter(4, int64(2), "a"), "3 2"}, // it began again
		{counter(5, 2.5, "a"), "4 0.5"},
		{counter(3, int64(8), "b"), "1 1"},
		{&feed.Line{Name: "c", Kind: "counter", Begin: at(6), Time: at(7), Value: feed.Value{V: int64(10)},
			Labels: feed.Fields{{Name: "l", Value: feed.Value{V: "b"}}}}, "6 10"}, // another session of the machine
		{sizes(1, 3, 10, b(0, 0, 1), b(4, 7, 2)), "0 3/10 [{0 0 1} {4 7 2}]"},
		{sizes(2, 3, 10, b(0, 0, 1), b(4, 7, 2)), "none"},
		{sizes(3, 6, 30, b(0, 0, 1), b(4, 7, 3), b(8, 15, 2)), "2 3/20 [{4 7 1} {8 15 2}]"},
		{sizes(4, 1, 5, b(4, 7, 1)), "0 1/5 [{4 7 1}]"},
		{&feed.Line{Name: "g", Kind: "gauge", Begin: at(0), Value: feed.Value{V: int64(3)}}, "0 3"},
		{&feed.Line{Name: "g", Kind: "gauge", Begin: at(0), Value: feed.Value{V: int64(3)}}, "0 3"},
	} {
		got := "none"
		if l := d.since(c.line); l != nil && l.Stats != nil {
			got = fmt.Sprintf("%d %d/%d %v", l.Begin.Unix(), l.Stats.Count, l.Stats.Sum, l.Histograms[0].Buckets)
		} else if l != nil {
			got = fmt.Sprintf("%d %v", l.Begin.Unix(), l.Value.V)
		}
		if got != c.want {
			t.Errorf("line %d: %s, want %s", i, got, c.want)
		}
	}
}
