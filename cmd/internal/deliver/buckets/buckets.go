// Package buckets gives the histograms of a session the forms that monitoring has for them.
//
// In: the buckets of an aggregate that are not empty, as its lines have them. Out: upper bounds with counts, where the
// bounds of a metric only become more from one moment to the next; or exponential buckets.
package buckets

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gostap/gostap/runtime/export/feed"
)

// Bounds are those of one metric: the sorted bounds of all buckets that it has had. A count at bounds[i] is of the
// values v with bounds[i-1] < v <= bounds[i].
type Bounds struct{ bounds []int64 }

// ByMetric are the bounds of metrics by their names.
type ByMetric map[string]*Bounds

// Add makes room for the buckets of a series.
func (m ByMetric) Add(l *feed.Line) {
	if l.Stats == nil {
		return
	}
	if m[l.Name] == nil {
		m[l.Name] = &Bounds{}
	}
	for i := range l.Histograms {
		m[l.Name].Add(&l.Histograms[i])
	}
}

// Add makes room for the buckets of h.
func (b *Bounds) Add(h *feed.Histogram) {
	add := func(n int64) {
		if i, found := slices.BinarySearch(b.bounds, n); !found {
			b.bounds = slices.Insert(b.bounds, i, n)
		}
	}
	for _, k := range h.Buckets {
		if k.From > math.MinInt64 {
			add(k.From - 1)
		}
		if k.To < math.MaxInt64 {
			add(k.To)
		}
	}
}

// Upper are the bounds as numbers of 1/scale.
func (b *Bounds) Upper(scale int64) []float64 {
	out := make([]float64, len(b.bounds))
	for i, n := range b.bounds {
		out[i] = float64(n) / float64(max(scale, 1))
	}
	return out
}

// Counts are those of h, whose buckets were added: one for each bound, and one for what is above all of them.
func (b *Bounds) Counts(h *feed.Histogram) []uint64 {
	out := make([]uint64, len(b.bounds)+1)
	for _, k := range h.Buckets {
		i := len(b.bounds)
		if k.To < math.MaxInt64 {
			i, _ = slices.BinarySearch(b.bounds, k.To)
		}
		out[i] += uint64(k.Count)
	}
	return out
}

// Exponential is a histogram whose bucket i of Positive counts the values v with 2^i <= v < 2^(i+1), and of Negative
// those of which -v is such; Zero counts zeros.
type Exponential struct {
	Zero               uint64
	Positive, Negative Side
}

// Side has the counts of the buckets from Offset on.
type Side struct {
	Offset int32
	Counts []uint64
}

// ExponentialOf gives @hist_log that form; ok is false for a histogram that is none.
func ExponentialOf(h *feed.Histogram) (e Exponential, ok bool) {
	if h.Kind != "log" {
		return e, false
	}
	for _, k := range h.Buckets {
		switch {
		case k.From == 0 && k.To == 0:
			e.Zero += uint64(k.Count)
		case k.From > 0:
			e.Positive.add(int32(bits.Len64(uint64(k.From))-1), uint64(k.Count))
		default:
			// Of -3..-2 it is the bucket of 2..3. The smallest number has no opposite, but the bits of one.
			e.Negative.add(int32(bits.Len64(uint64(-k.To))-1), uint64(k.Count))
		}
	}
	return e, true
}

func (s *Side) add(i int32, n uint64) {
	if len(s.Counts) == 0 {
		s.Offset = i
	}
	for i < s.Offset {
		s.Counts = append([]uint64{0}, s.Counts...)
		s.Offset--
	}
	for int(i-s.Offset) >= len(s.Counts) {
		s.Counts = append(s.Counts, 0)
	}
	s.Counts[i-s.Offset] += n
}
