package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gostap/gostap/runtime/export"
	"github.com/gostap/gostap/runtime/export/flame"
)

// differenceTable writes the functions whose own value has changed most.
func differenceTable(w io.Writer, before, after *export.Profile) error {
	change := map[string][2]int64{}
	for side, p := range []*export.Profile{before, after} {
		for i := range p.Samples {
			s := &p.Samples[i]
			name := "[unknown]"
			if len(s.Stack) > 0 {
				name = s.Stack[0].Name()
			}
			c := change[name]
			c[side] += s.Values[0]
			change[name] = c
		}
	}
	names := slices.SortedFunc(maps.Keys(change), func(a, b string) int {
		d := func(n string) int64 { c := change[n]; return max(c[1]-c[0], c[0]-c[1]) }
		return cmp.Or(cmp.Compare(d(b), d(a)), cmp.Compare(a, b))
	})
	b := bufio.NewWriter(w)
	unit := after.Types[0].Unit
	fmt.Fprintf(b, "%12s %12s %12s  function\n", "before", "after", "change")
	for _, n := range names[:min(len(names), 20)] {
		c := change[n]
		fmt.Fprintf(b, "%12s %12s %12s  %s\n", flame.Amount(c[0], unit), flame.Amount(c[1], unit),
			flame.Amount(c[1]-c[0], unit), n)
	}
	return b.Flush()
}
