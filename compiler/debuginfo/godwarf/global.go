package godwarf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/funcname"
	"github.com/gostap/gostap/compiler/debuginfo/pclntab"
	"github.com/gostap/gostap/compiler/foreign"
)

// Global finds a variable of a package by its full name: "main.answer",
// "net/http.DefaultClient". "name@unit" gives the package apart.
func (im *Image) Global(name string) (v *debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	d, err := im.variables()
	if err != nil {
		return nil, err
	}
	full := name
	if n, unit, ok := strings.Cut(name, "@"); ok {
		full = unit + "." + n
	}
	units, err := im.registry().packageUnits(d, packageOf(full))
	if err != nil {
		return nil, err
	}
	refs, err := d.FindGlobalsIn(units, full)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		all, err := d.Units()
		if err != nil {
			return nil, err
		}
		// A C file of the program may have a variable of the same name.
		all = slices.DeleteFunc(slices.Clone(all), func(u *dw.Unit) bool { return u.Lang() != dw.LangGo })
		if refs, err = d.FindGlobalsIn(all, full); err != nil {
			return nil, err
		}
	}
	if len(refs) == 0 {
		e := &debuginfo.NotFoundError{What: "variable", Name: name}
		if len(units) == 0 {
			e.Detail = fmt.Sprintf("the program has no package %q", packageOf(full))
		}
		return nil, e
	}
	t, err := d.Entry(refs[0].Die)
	if err != nil {
		return nil, err
	}
	typ, err := im.types.TypeOf(t)
	if err != nil {
		return nil, err
	}
	v = &debuginfo.Var{Name: full, Kind: debuginfo.GlobalVar, Type: typ}
	v.Place, v.Err = refs[0].Unit.VarPlace(t, typ, refs[0].Unit.Env(nil, 0), 0)
	return v, nil
}

// packageOf is the import path of a qualified name: what comes before the first dot behind the
// last slash.
func packageOf(name string) string {
	name = string(funcname.StripArgs([]byte(name)))
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}

// packageUnits are the units of a package. Go's linker writes one for the compiled files and one for
// each assembly file.
func (im registry) packageUnits(d *dw.Data, pkg string) ([]*dw.Unit, error) {
	units, err := d.Units()
	if err != nil {
		return nil, err
	}
	var out []*dw.Unit
	for _, u := range units {
		if n := u.Name(); n == pkg || string(pclntab.Unescape([]byte(n))) == pkg {
			out = append(out, u)
		}
	}
	return out, nil
}
