package textfmt

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/layout"
)

func count(h ir.Hist, vals ...int64) []int64 {
	c := make([]int64, h.Buckets())
	for _, v := range vals {
		if h.Linear {
			c[layout.HistLinearBucket(v, h.Low, h.High, h.Width)]++
		} else {
			c[layout.HistLogBucket(v)]++
		}
	}
	return c
}

func repeat(v int64, n int) []int64 {
	var out []int64
	for range n {
		out = append(out, v)
	}
	return out
}

func TestHist(t *testing.T) {
	lin := ir.Hist{Linear: true, Low: 0, High: 100, Width: 10}
	log := ir.Hist{}
	for _, c := range []struct {
		name string
		h    ir.Hist
		vals []int64
		want string
	}{
		{"log small", log, []int64{1, 2, 3, 3}, `
value |-------------------------------------------------- count
    0 |                                                   0
    1 |@                                                  1
    2 |@@@                                                3
    4 |                                                   0
    8 |                                                   0

`},
		{"log with zero and negatives", log, []int64{0, -1, -5}, `
value |-------------------------------------------------- count
  -16 |                                                   0
   -8 |                                                   0
   -4 |@                                                  1
   -2 |                                                   0
   -1 |@                                                  1
    0 |@                                                  1
    1 |                                                   0
    2 |                                                   0

`},
		{"log elision and scale", log, append(repeat(1<<20, 101), 1), `
  value |-------------------------------------------------- count
      0 |                                                     0
      1 |                                                     1
      2 |                                                     0
      4 |                                                     0
        ~
 262144 |                                                     0
 524288 |                                                     0
1048576 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@                  101
2097152 |                                                     0
4194304 |                                                     0

`},
		{"linear", lin, []int64{5, 15, 15, 95}, `
value |-------------------------------------------------- count
    0 |@                                                  1
   10 |@@                                                 2
   20 |                                                   0
   30 |                                                   0
      ~
   70 |                                                   0
   80 |                                                   0
   90 |@                                                  1
  100 |                                                   0

`},
		{"linear under and over", lin, []int64{-1, 50, 500, 100}, `
value |-------------------------------------------------- count
   <0 |@                                                  1
    0 |                                                   0
   10 |                                                   0
      ~
   30 |                                                   0
   40 |                                                   0
   50 |@                                                  1
   60 |                                                   0
   70 |                                                   0
   80 |                                                   0
   90 |                                                   0
  100 |@                                                  1
 >100 |@                                                  1

`},
	} {
		if got := string(Hist(nil, c.h, count(c.h, c.vals...))); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s: got\n%s\nwant%s", c.name, got, c.want)
		}
	}
}

// TestHistAny: no counters, however odd, break it.
func TestHistAny(t *testing.T) {
	for _, h := range []ir.Hist{{}, {Linear: true, Low: -5, High: 5, Width: 3},
		{Linear: true, Low: 1 << 62, High: 1<<62 + 1, Width: 1 << 61}} {
		Hist(nil, h, nil)
		all := make([]int64, h.Buckets())
		for i := range all {
			all[i] = 1<<63 - 1
		}
		Hist(nil, h, all)
		for i := range all {
			all[i] = -1
		}
		Hist(nil, h, all)
	}
}
