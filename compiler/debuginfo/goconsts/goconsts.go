// Package goconsts finds the named constants of a Go program that are whole numbers: the compiler describes those that
// packages declare, used or not (DW_TAG_constant).
//
// In: DWARF of a Go program. Out: values by name, names by type.
package goconsts

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/gotype"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/types"
)

// maxNear is how many names that come close are told.
const maxNear = 5

// Constants are those of one program. It is for one goroutine.
type Constants struct {
	units []*dw.Unit
	typ   func(dwarf.Offset) (*types.Ctype, error)
	// values and short, the whole names of "http.StateNew", are unset as long as no value was asked for.
	values map[string]int64
	short  map[string][]string
	named  map[string][]*declared // by package, those that were asked for
}

// declared are the constants of one type that its package declares.
type declared struct {
	t    *types.Ctype
	list []types.Enumerator
}

// New gives the constants of a program, whose types typ reads.
func New(d *dw.Data, typ func(dwarf.Offset) (*types.Ctype, error)) (*Constants, error) {
	units, err := d.AllUnits()
	if err != nil {
		return nil, err
	}
	isNot := func(u *dw.Unit) bool { return u.Lang() != dw.LangGo }
	return &Constants{units: slices.DeleteFunc(slices.Clone(units), isNot), typ: typ,
		named: map[string][]*declared{}}, nil
}

// Value gives the value of a constant, "main.Green", "net/http.StateNew", or "http.StateNew" if that is one. The error
// is a *debuginfo.NotFoundError with names that come close.
func (c *Constants) Value(name string) (int64, error) {
	if err := c.all(); err != nil {
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

func (c *Constants) all() error {
	if c.values != nil {
		return nil
	}
	values, short := map[string]int64{}, map[string][]string{}
	for _, u := range c.units {
		err := dw.Constants(u, func(name []byte, val int64, _ dwarf.Offset) {
			full := string(pclntab.Unescape(name))
			if _, twice := values[full]; twice {
				return
			}
			values[full] = val
			if s := gotype.ShortName(full); s != "" {
				short[s] = append(short[s], full)
			}
		})
		if err != nil {
			return err
		}
	}
	c.values, c.short = values, short
	return nil
}

// Of are the constants of type t that its own package declares, in the order of the file, with their names in the
// package. There are none for types without a name of their own, as int. t may be one that the program has for itself.
// Those that other packages declare with the type are left out: finding them takes reading all of the program, and
// mostly they are second names.
func (c *Constants) Of(t *types.Ctype) ([]types.Enumerator, error) {
	if t.Kind != types.Int || !t.Go {
		return nil, nil
	}
	full := gotype.Full(string(pclntab.Unescape([]byte(t.Name))), t.Pkg)
	pkg := packageOf(full)
	if pkg == "" {
		return nil, nil
	}
	all, ok := c.named[pkg]
	if !ok {
		var err error
		if all, err = c.in(pkg); err != nil {
			return nil, err
		}
		c.named[pkg] = all
	}
	for _, d := range all {
		if string(pclntab.Unescape([]byte(d.t.Name))) != full {
			continue
		}
		// Types of functions have the names of others, for the program itself.
		if t.Pkg == "" || t.RunTime == d.t.RunTime && !d.t.NoRunTime {
			return d.list, nil
		}
	}
	return nil, nil
}

// in reads the constants of a package.
func (c *Constants) in(pkg string) (out []*declared, err error) {
	by := map[dwarf.Offset]*declared{}
	for _, u := range c.units {
		if string(pclntab.Unescape([]byte(u.Name()))) != pkg {
			continue
		}
		err := dw.Constants(u, func(name []byte, val int64, typ dwarf.Offset) {
			d, known := by[typ]
			if !known {
				t, err := c.typ(typ)
				if err == nil && t.Kind == types.Int && packageOf(string(pclntab.Unescape([]byte(t.Name)))) == pkg {
					d = &declared{t: t}
					out = append(out, d)
				}
				by[typ] = d
			}
			if d == nil {
				return
			}
			in := strings.TrimPrefix(string(pclntab.Unescape(name)), pkg+".")
			d.list = append(d.list, types.Enumerator{Name: in, Val: val})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// packageOf is the path of the package in a type's name, "" if there is none.
func packageOf(full string) string {
	args := strings.IndexByte(full, '[')
	if args < 0 {
		args = len(full)
	}
	dot := strings.LastIndexByte(full[:args], '.')
	if dot < 0 || strings.ContainsAny(full[:dot], "*(){} ") {
		return ""
	}
	return full[:dot]
}
