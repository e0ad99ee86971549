package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gostap/gostap/runtime/export/feed"
)

// logOf makes the buckets of values as the compiler's @hist_log has them.
func logOf(values []int64) *feed.Histogram {
	h := &feed.Histogram{Kind: "log"}
	add := func(from, to int64) {
		for i := range h.Buckets {
			if h.Buckets[i].From == from {
				h.Buckets[i].Count++
				return
			}
		}
		h.Buckets = append(h.Buckets, feed.Bucket{From: from, To: to, Count: 1})
	}
	for _, v := range values {
		if v == 0 {
			add(0, 0)
			continue
		}
		low := int64(1)
		for n := max(v, -v); low*2 <= n; low *= 2 {
		}
		if v > 0 {
			add(low, 2*low-1)
		} else {
			add(-(2*low - 1), -low)
		}
	}
	return h
}

// TestCounts: for each bound, as many values are not above it as there are, whatever the values.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b Bounds
		var values []int64
		for range 4 { // moments
			for range r.IntN(30) {
				values = append(values, r.Int64N(1<<r.IntN(40))-r.Int64N(1<<r.IntN(40)))
			}
			h := logOf(values)
			b.Add(h)
			counts, upper := b.Counts(h), b.Upper(1)
			var sum uint64
			for i, bound := range upper {
				sum += counts[i]
				var want uint64
				for _, v := range values {
					if float64(v) <= bound {
						want++
					}
				}
				if sum != want {
					t.Fatalf("%d values up to %g, want %d; of %v", sum, bound, want, values)
				}
			}
			if sum += counts[len(upper)]; sum != uint64(len(values)) {
				t.Fatalf("%d values of %d", sum, len(values))
			}
		}
	}
	var b Bounds
	h := &feed.Histogram{Kind: "linear", Buckets: []feed.Bucket{{From: math.MinInt64, To: -1, Count: 1},
		{From: 0, To: 9, Count: 2}, {From: 20, To: 29, Count: 3}, {From: 101, To: math.MaxInt64, Count: 4}}}
	b.Add(h)
	if got := fmt.Sprint(b.Upper(10), b.Counts(h)); got != "[-0.1 0.9 1.9 2.9 10] [1 2 0 3 0 4]" {
		t.Error(got)
	}
}

// TestExponential: each value is in the bucket of its power of two.
func TestExponential(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var values []int64
		for range 1 + r.IntN(50) {
			values = append(values, r.Int64N(1<<r.IntN(62))-r.Int64N(1<<r.IntN(62)))
		}
		e, ok := ExponentialOf(logOf(values))
		if !ok {
			t.Fatal("no @hist_log")
		}
		sum := e.Zero
		for sign, side := range map[int64]Side{1: e.Positive, -1: e.Negative} {
			for i, n := range side.Counts {
				sum += n
				for _, v := range values {
					if v *= sign; v > 0 && int32(math.Ilogb(float64(v))) == side.Offset+int32(i) && v < 1<<52 {
						n--
					}
				}
				if n != 0 && int(side.Offset)+i < 52 {
					t.Fatalf("%d too many in bucket %d of %v", n, int(side.Offset)+i, values)
				}
			}
		}
		if sum != uint64(len(values)) {
			t.Fatalf("%d of %d values", sum, len(values))
		}
	}
	if _, ok := ExponentialOf(&feed.Histogram{Kind: "linear"}); ok {
		t.Error("@hist_linear is exponential")
	}
	if e, _ := ExponentialOf(&feed.Histogram{Kind: "log", Buckets: []feed.Bucket{{From: math.MinInt64,
		To: math.MinInt64, Count: 1}}}); e.Negative.Offset != 63 {
		t.Errorf("%+v", e)
	}
}
