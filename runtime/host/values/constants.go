package values

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/types"
)

// number writes a whole number, with the constant of its type that it is, if there is one: "Green (1)".
func (t *texter) number(v value) {
	n, ok := integer(v)
	if !ok {
		t.lost()
		return
	}
	text := strconv.FormatInt(n, 10)
	if !v.t.Signed {
		text = strconv.FormatUint(uint64(n), 10)
	}
	if name := describe(t.constants(v.t), n); name != "" {
		text = name + " (" + text + ")"
	}
	t.lit(text)
}

// constants are those of a type of Go, by their values.
func (t *texter) constants(c *types.Ctype) []types.Enumerator {
	if !c.Go || c.Kind != types.Int || t.p.img == nil || strings.IndexByte(c.Name, '.') < 0 {
		return nil
	}
	list, known := t.p.constants[c]
	if known {
		return list
	}
	if img, ok := t.p.img.(debuginfo.Constants); ok {
		declared, err := img.Constants(c)
		if err == nil {
			list = slices.Clone(declared)
			slices.SortStableFunc(list, func(a, b types.Enumerator) int { return cmp.Compare(a.Val, b.Val) })
		}
	}
	if t.p.constants == nil {
		t.p.constants = map[*types.Ctype][]types.Enumerator{}
	}
	t.p.constants[c] = list
	return list
}

// describe names a number by constants, which are in the order of their values, as Delve does: the first one of that
// value, or those of one bit that make it up together, "Read|Write"; "" if there are none.
func describe(list []types.Enumerator, n int64) string {
	for _, c := range list {
		if c.Val == n {
			return c.Name
		}
	}
	var names []string
	for _, c := range list {
		if bits.OnesCount64(uint64(c.Val)) == 1 && n&c.Val != 0 {
			names = append(names, c.Name)
			n &^= c.Val
		}
	}
	if n != 0 {
		return ""
	}
	return strings.Join(names, "|")
}
