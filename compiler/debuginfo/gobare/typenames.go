package gobare

import (
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/types"
)

// Type finds a type by its name, as debuginfo.Image.Type, by what the program has for itself at run time.
func (t *Teller) Type(name string) (*types.Ctype, error) {
	rtt := t.p.RunTimeTypes()
	if rtt == nil {
		return nil, bareErrorf("%s: it is not known how the types of its Go release lie", t.p.NoTypes())
	}
	none := &debuginfo.NotFoundError{What: "type", Name: name}
	addrs := rtt.Types.Named(name)
	if len(addrs) == 0 && strings.Contains(name, ".") {
		base := strings.TrimLeft(name, "*[]")
		lead := name[:len(name)-len(base)]
		var same, all []string
		rtt.Types.Names(func(full string) {
			if n, ok := strings.CutPrefix(full, lead); ok && strings.TrimLeft(n, "*[]") == n {
				if all = append(all, n); gotype.ShortName(n) == base {
					same = append(same, full)
				}
			}
		})
		slices.Sort(same)
		slices.Sort(all)
		switch len(same) {
		case 1:
			addrs = rtt.Types.Named(same[0])
		case 0:
			for _, n := range diag.Nearest(base, append(all, gotype.ShortNames(all)...), 5) {
				none.Near = append(none.Near, lead+n)
			}
		default:
			none.Near, none.Detail = same, "packages of that name have several"
			return nil, none
		}
	}
	switch len(addrs) {
	case 0:
		if el, ok := strings.CutPrefix(name, "*"); ok { // the program may have no type for a pointer
			if et, err := t.Type(el); err == nil {
				p := &types.Ctype{Kind: types.Pointer, Name: "*" + et.Name, Size: 8, Go: true}
				p.SetElem(et)
				return p, nil
			}
		}
		return nil, none
	case 1:
		found, err := rtt.Types.At(addrs[0])
		if err != nil {
			return nil, none
		}
		return found.Ctype, nil
	}
	none.Detail = "several types of the program have that name, which functions declare"
	return nil, none
}
