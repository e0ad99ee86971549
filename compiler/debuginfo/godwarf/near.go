package godwarf

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

const maxNear = 5

// NearNames gives up to five names of functions close to name: the same without package or
// receiver marks first, then those that differ in a few letters.
func (im *Image) NearNames(name string) (near []string) {
	var err error
	defer foreign.Guard(&err)()
	return im.registry().near(name)
}

type ranked struct {
	name string
	dist int
}

func (im registry) near(name string) []string {
	if name == "" {
		return nil
	}
	want := plainName([]byte(name))
	last := want
	if i := strings.LastIndexByte(want, '.'); i >= 0 {
		last = want[i+1:]
	}
	limit := min(max(1, len(want)/4), 6)
	var best []ranked
	seen := map[string]bool{}
	consider := func(n string, d int) {
		if seen[n] || len(best) == maxNear && d >= best[maxNear-1].dist {
			return
		}
		seen[n] = true
		best = append(best, ranked{n, d})
		slices.SortStableFunc(best, func(a, b ranked) int {
			if a.dist != b.dist {
				return a.dist - b.dist
			}
			return strings.Compare(a.name, b.name)
		})
		best = best[:min(len(best), maxNear)]
	}
	var row []int
	for i := range im.tab.Len() {
		raw := im.tab.NameBytes(i)
		if len(raw) == 0 || bytes.HasPrefix(raw, []byte("type:")) || bytes.HasPrefix(raw, []byte("go:")) {
			continue
		}
		n := raw
		if bytes.ContainsAny(raw, "%[(") {
			n = []byte(plainName(raw))
		}
		switch {
		case string(n) == want:
			consider(string(pclntab.Unescape(raw)), 0)
		case len(last) > 2 && len(n) > len(last) && n[len(n)-len(last)-1] == '.' &&
			strings.EqualFold(string(n[len(n)-len(last):]), last):
			// A package in between is nearer than another one.
			d := 1
			if len(want) > len(last) && !bytes.HasPrefix(n, []byte(want[:strings.IndexByte(want, '.')+1])) {
				d = 3
			} else if len(want) == len(last) && !bytes.HasPrefix(n, []byte("main.")) {
				d = 2
			}
			consider(string(pclntab.Unescape(raw)), d)
		default:
			if delta := len(n) - len(want); delta > limit || -delta > limit {
				continue
			}
			var d int
			if d, row = debuginfo.Distance(n, want, limit, row); d <= limit {
				consider(string(pclntab.Unescape(raw)), 3+d)
			}
		}
	}
	var out []string
	for _, r := range best {
		out = append(out, r.name)
	}
	return out
}

// plainName leaves escapes, type arguments and the marks of pointer receivers out of a name.
func plainName(name []byte) string {
	s := string(funcname.StripArgs(pclntab.Unescape(name)))
	return strings.NewReplacer("(*", "", "(", "", ")", "").Replace(s)
}
