package godwarf

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// constants are the named constants of a program that are whole numbers: the compiler describes those that packages
// declare, used or not (DW_TAG_constant).
type constants struct {
	values map[string]int64
	short  map[string][]string           // the whole names of "http.StateNew"
	of     map[string][]types.Enumerator // by the name of their type
}

// Constant gives the value of a named constant, "main.Green", "net/http.StateNew", or "http.StateNew" if that is one.
// The error is a *debuginfo.NotFoundError with names that come close.
func Constant(im *Image, name string) (val int64, err error) {
	defer foreign.Guard(&err)()
	c, err := constantsOf(im)
	if err != nil {
		return 0, err
	}
	if v, ok := c.values[name]; ok {
		return v, nil
	}
	none := &debuginfo.NotFoundError{What: "constant", Name: name}
	switch full := c.short[name]; len(full) {
	case 1:
		return c.values[full[0]], nil
	case 0:
		var all []string
		for n := range c.values {
			all = append(all, n)
		}
		for n := range c.short {
			all = append(all, n)
		}
		slices.Sort(all)
		none.Near = diag.Nearest(name, all, maxNear)
	default:
		none.Near, none.Detail = full, "packages of that name have several"
		slices.Sort(none.Near)
	}
	return 0, none
}

// ConstantsOf are the constants that are declared with a type, "main.Color", in the order of the file, with their names
// in its package. There are none for types without a name of their own, as int.
func ConstantsOf(im *Image, t *types.Ctype) (list []types.Enumerator, err error) {
	defer foreign.Guard(&err)()
	c, err := constantsOf(im)
	if err != nil {
		return nil, err
	}
	return c.of[t.Name], nil
}

func constantsOf(im *Image) (*constants, error) {
	if im.constants != nil {
		return im.constants, nil
	}
	d, err := im.variables()
	if err != nil {
		return nil, err
	}
	units, err := d.AllUnits()
	if err != nil {
		return nil, err
	}
	c := &constants{map[string]int64{}, map[string][]string{}, map[string][]types.Enumerator{}}
	names := map[dwarf.Offset]string{}
	for _, u := range units {
		if u.Lang() != dw.LangGo {
			continue
		}
		err := dw.Constants(u, func(name []byte, val int64, typ dwarf.Offset) {
			full := string(pclntab.Unescape(name))
			if _, twice := c.values[full]; twice {
				return
			}
			c.values[full] = val
			if s := gotype.ShortName(full); s != "" {
				c.short[s] = append(c.short[s], full)
			}
			of, known := names[typ]
			if !known {
				if t, err := im.types.Type(typ); err == nil {
					of = t.Name
				}
				names[typ] = of
			}
			if dot := strings.LastIndexByte(of, '.'); dot >= 0 {
				c.of[of] = append(c.of[of], types.Enumerator{Name: strings.TrimPrefix(full, of[:dot+1]), Val: val})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	im.constants = c
	return c, nil
}
