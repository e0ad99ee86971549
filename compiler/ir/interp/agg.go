package interp

import (
	"math/big"
	"math/bits"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// Add puts one value into a, which keeps what needs asks for.
func (a *Agg) Add(v int64, needs *ir.StatNeeds) {
	if a.Count == 0 {
		a.Min, a.Max = v, v
	}
	a.Count++
	a.Sum += v
	a.Min, a.Max = min(a.Min, v), max(a.Max, v)
	if needs.Variance {
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		hi, lo := bits.Mul64(u, u)
		var c uint64
		a.SqLo, c = bits.Add64(a.SqLo, lo, 0)
		a.SqHi, _ = bits.Add64(a.SqHi, hi, c)
	}
	if len(needs.Hists) == 0 {
		return
	}
	a.grow(needs.Hists)
	for i, h := range needs.Hists {
		if h.Linear {
			a.Hists[i][layout.HistLinearBucket(v, h.Low, h.High, h.Width)]++
		} else {
			a.Hists[i][layout.HistLogBucket(v)]++
		}
	}
}

func (a *Agg) grow(hists []ir.Hist) {
	if len(a.Hists) == len(hists) {
		return
	}
	a.Hists = make([][]int64, len(hists))
	for i, h := range hists {
		a.Hists[i] = make([]int64, h.Buckets())
	}
}

// Merge adds what b holds to a.
func (a *Agg) Merge(b *Agg) {
	if b.Count != 0 {
		a.join(b, true)
	}
}

// join adds what b holds to a, even if its count says nothing of that.
func (a *Agg) join(b *Agg, bounds bool) {
	if bounds && a.Count == 0 {
		a.Min, a.Max = b.Min, b.Max
	}
	a.Count += b.Count
	a.Sum += b.Sum
	if bounds {
		a.Min, a.Max = min(a.Min, b.Min), max(a.Max, b.Max)
	}
	var c uint64
	a.SqLo, c = bits.Add64(a.SqLo, b.SqLo, 0)
	a.SqHi, _ = bits.Add64(a.SqHi, b.SqHi, c)
	if a.Hists == nil {
		a.Hists = make([][]int64, len(b.Hists))
	}
	for i, h := range b.Hists {
		if i >= len(a.Hists) {
			break
		}
		if len(a.Hists[i]) < len(h) {
			a.Hists[i] = append(a.Hists[i], make([]int64, len(h)-len(a.Hists[i]))...)
		}
		for j, n := range h {
			a.Hists[i][j] += n
		}
	}
}

// clone copies a with its histograms.
func (a *Agg) clone() *Agg {
	c := *a
	c.Hists = nil
	for _, h := range a.Hists {
		c.Hists = append(c.Hists, append([]int64(nil), h...))
	}
	return &c
}

// Stat gives a statistic; false when a is empty and the statistic needs a value.
func (a *Agg) Stat(s ir.Stat) (int64, bool) {
	switch s {
	case ir.StatCount:
		return a.Count, true
	case ir.StatSum:
		return a.Sum, true
	}
	if a.Count == 0 {
		return 0, false
	}
	switch s {
	case ir.StatMin:
		return a.Min, true
	case ir.StatMax:
		return a.Max, true
	case ir.StatAvg:
		return a.Sum / a.Count, true
	case ir.StatVariance:
		return a.Variance(), true
	}
	return 0, false
}

// Variance is the sample variance rounded down: the squares of the distances from the mean, by one less than there are
// values, computed exactly, so that stap's shift for precision changes nothing. It is 0 for fewer than two
// values, and means nothing once Sum has wrapped.
func (a *Agg) Variance() int64 {
	if a.Count < 2 {
		return 0
	}
	// (count * squares - sum^2) / (count * (count - 1)), in arbitrary precision: the first product has 191 bits.
	sq := new(big.Int).SetUint64(a.SqHi)
	sq.Lsh(sq, 64).Or(sq, new(big.Int).SetUint64(a.SqLo))
	n := big.NewInt(a.Count)
	sum := big.NewInt(a.Sum)
	sq.Mul(sq, n).Sub(sq, sum.Mul(sum, sum))
	sq.Quo(sq, n.Mul(n, big.NewInt(a.Count-1)))
	if !sq.IsInt64() {
		return 1<<63 - 1
	}
	return max(sq.Int64(), 0)
}
