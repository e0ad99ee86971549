package layout

import (
	"math"
	"testing"
)

// TestHistRanges: the ranges of the buckets cover all numbers once, and each number lies in the range of its bucket.
func TestHistRanges(t *testing.T) {
	check := func(name string, buckets int, of func(int64) int, span func(int) (int64, int64)) {
		next := int64(math.MinInt64)
		covered := false
		for i := range buckets {
			from, to := span(i)
			if from > to { // of a bucket that no number is in
				continue
			}
			if covered || from != next {
				t.Fatalf("%s: bucket %d is %d to %d, wanted from %d", name, i, from, to, next)
			}
			if of(from) != i || of(to) != i {
				t.Fatalf("%s: bucket %d is %d to %d, which lie in %d and %d", name, i, from, to, of(from), of(to))
			}
			if covered = to == math.MaxInt64; !covered {
				next = to + 1
			}
		}
		if !covered {
			t.Errorf("%s: nothing from %d on", name, next)
		}
	}
	check("log", HistLogBuckets, HistLogBucket, HistLogRange)
	for _, c := range [][3]int64{{0, 100, 10}, {0, 105, 10}, {-50, 50, 7}, {5, 5, 1},
		{math.MinInt64 + 1, math.MinInt64 + 9, 2}, {math.MaxInt64 - 10, math.MaxInt64, 3},
		{-1 << 61, 1 << 61, 1 << 60}} {
		l, h, w := c[0], c[1], c[2]
		check("linear", HistLinearBuckets(l, h, w), func(v int64) int { return HistLinearBucket(v, l, h, w) },
			func(i int) (int64, int64) { return HistLinearRange(i, l, h, w) })
	}
}
