package godwarf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
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
	name = string(stripArgs([]byte(name)))
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
		if n := u.Name(); n == pkg || string(unescape([]byte(n))) == pkg {
			out = append(out, u)
		}
	}
	return out, nil
}

// Type finds a type by the name that Go gives it: "main.Server", "*main.Server", "[]int".
func (im *Image) Type(name string) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	d, err := im.variables()
	if err != nil {
		return nil, err
	}
	return im.registry().namedType(d, name)
}

// namedType looks in package runtime's unit first: that is where Go's linker puts all types.
func (im registry) namedType(d *dw.Data, name string) (*types.Ctype, error) {
	name = strings.TrimSpace(name)
	if ids := im.tab.Named("runtime.main"); len(ids) > 0 {
		u, err := d.UnitAt(im.tab.Entry(ids[0]))
		if err != nil {
			return nil, err
		}
		if u != nil {
			t, err := im.types.NamedTypeIn([]*dw.Unit{u}, name)
			var nf *debuginfo.NotFoundError
			if err == nil || !errors.As(err, &nf) {
				return t, err
			}
		}
	}
	t, err := im.types.NamedType(name)
	var nf *debuginfo.NotFoundError
	if err == nil || !errors.As(err, &nf) {
		return t, err
	}
	// Pointers and slices that the program has no type for are made of their elements.
	if el, ok := strings.CutPrefix(name, "*"); ok {
		et, err := im.namedType(d, el)
		if err != nil {
			return nil, err
		}
		p := &types.Ctype{Kind: types.Pointer, Name: "*" + et.Name, Size: 8, Go: true}
		p.SetElem(et)
		return p, nil
	}
	if el, ok := strings.CutPrefix(name, "[]"); ok {
		et, err := im.namedType(d, el)
		if err != nil {
			return nil, err
		}
		p := &types.Ctype{Kind: types.GoSlice, Name: "[]" + et.Name, Size: 24, Go: true}
		p.SetElem(et)
		return p, nil
	}
	return nil, nf
}
