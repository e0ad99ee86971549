package textfmt

import (
	"fmt"
	"strconv"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

// HistWidth is the longest bar of a histogram; HistElision is how many zero rows are kept
// beside each row that is not zero before the rest of a run is left out.
const (
	HistWidth   = 50
	HistElision = 2
)

// Hist appends a histogram as text, one row a bucket:
//
//	value |-------------------------------------------------- count
//	    0 |                                                    0
//	    1 |@@@                                                 3
//	    2 |@                                                   1
//	      ~
//
// and an empty line at the end. counts has h.Buckets() counters; missing ones are 0.
func Hist(dst []byte, h ir.Hist, counts []int64) []byte {
	n := h.Buckets()
	if len(counts) < n {
		counts = append(append([]int64(nil), counts...), make([]int64, n-len(counts))...)
	}
	counts = counts[:n]
	low, high, most := -1, 0, int64(0)
	for i, c := range counts {
		if c > 0 {
			if low < 0 {
				low = i
			}
			high = i
		}
		most = max(most, c)
	}
	if low < 0 {
		low = 0
		if !h.Linear {
			low, high = layout.HistLogZero, layout.HistLogZero
		}
	}
	// Two empty rows on either side show that nothing was cut off; a logarithmic one does not go
	// below zero for that.
	for i := 0; i < 2; i++ {
		if low > 0 && (h.Linear || low != layout.HistLogZero) {
			low--
		}
		if high < n-1 {
			high++
		}
	}
	under, over := 0, 0
	if h.Linear {
		if low == 0 && counts[0] == 0 {
			low++
		}
		if high == n-1 && counts[high] == 0 {
			high--
		}
		if low == 0 {
			under = 1
		}
		if high == n-1 {
			over = 1
		}
	}
	scale := int64(1)
	if most > HistWidth {
		scale = most / HistWidth
		if most%HistWidth != 0 {
			scale++
		}
	}
	values := 0
	if h.Linear {
		values = max(len(label(h, h.Low))+under, len(label(h, h.Low+h.Width*int64(high)))+over)
	} else {
		values = max(len(label(h, bucketValue(h, high))), len(label(h, bucketValue(h, low))))
	}
	for i := low; h.Scale > 1 && i <= high; i++ {
		values = max(values, len(label(h, bucketValue(h, i)))+under+over) // between them may be some with more digits
	}
	values = max(values, len("value"))

	dst = fmt.Appendf(dst, "%*s |", values, "value")
	dst = fill(dst, '-', HistWidth)
	dst = append(dst, " count\n"...)
	elided := false
	for i := low; i <= high; i++ {
		keep := false
		for k := max(low, i-HistElision); k <= min(high, i+HistElision); k++ {
			keep = keep || counts[k] != 0
		}
		if !keep {
			elided = true
			continue
		}
		if elided {
			dst = fill(dst, ' ', values)
			dst = append(dst, " ~\n"...)
			elided = false
		}
		val, prefix := label(h, bucketValue(h, i)), ""
		switch {
		case h.Linear && i == 0:
			prefix = "<"
		case h.Linear && i == n-1:
			prefix = ">"
		}
		dst = fmt.Appendf(dst, "%*s%s |", values-len(val), prefix, val)
		bar := int(counts[i] / scale)
		dst = fill(dst, '@', bar)
		dst = fmt.Appendf(dst, "%*d\n", HistWidth-bar+1+digits(most), counts[i])
	}
	return append(dst, '\n')
}

// label writes what bucketValue gives.
func label(h ir.Hist, v int64) string {
	if h.Scale > 1 {
		return strconv.FormatFloat(float64(v)/float64(h.Scale), 'f', -1, 64)
	}
	return strconv.FormatInt(v, 10)
}

// bucketValue is what row i is labelled with.
func bucketValue(h ir.Hist, i int) int64 {
	switch {
	case !h.Linear:
		return layout.HistLogValue(i)
	case i == 0:
		return h.Low
	case i == h.Buckets()-1:
		return h.Low + int64(i-2)*h.Width
	}
	return h.Low + int64(i-1)*h.Width
}

func digits(v int64) int { return len(strconv.FormatInt(v, 10)) }
