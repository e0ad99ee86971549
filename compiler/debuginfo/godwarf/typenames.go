package godwarf

import (
	"errors"
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

// Type finds a type by the name that Go gives it: "main.Server", "*main.Server", "[]int". Of a package whose
// path has several elements the last one will do, if one type only has that name: "*fs.PathError". Go's other names for
// types will do as well: "[]byte", "*os.PathError".
func (im *Image) Type(name string) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	t, err = typeNamed(im, name)
	var none *debuginfo.NotFoundError
	if full := gotype.Unaliased(name); full != name && errors.As(err, &none) {
		if t, again := typeNamed(im, full); again == nil {
			return t, nil
		}
	}
	return t, err
}

func typeNamed(im *Image, name string) (t *types.Ctype, err error) {
	if im.Bare() {
		return bared(im).Type(strings.TrimSpace(name))
	}
	d, err := im.variables()
	if err != nil {
		return nil, err
	}
	r := im.registry()
	t, err = r.namedType(d, name)
	var none *debuginfo.NotFoundError
	if !errors.As(err, &none) {
		return t, err
	}
	full, err := r.fullName(d, name)
	if err == nil {
		t, err = r.namedType(d, full)
	}
	if !errors.As(err, &none) {
		return t, err
	}
	// Up to Go 1.24 DWARF has no types that only interfaces have: the program itself has them.
	if t, bare := bared(im).Type(strings.TrimSpace(name)); bare == nil && t.RunTime != 0 {
		return t, nil
	}
	return nil, err
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

// fullName finds the type that is meant by a name whose package is given without its path. The error is a
// *debuginfo.NotFoundError with the names that come close, or that could be meant.
func (im registry) fullName(d *dw.Data, name string) (string, error) {
	name = strings.TrimSpace(name)
	base := strings.TrimLeft(name, "*[]")
	lead := name[:len(name)-len(base)]
	none := &debuginfo.NotFoundError{What: "type", Name: name}
	if base == "" || len(name) > 1<<12 {
		return "", none
	}
	units, err := d.AllUnits()
	if err != nil {
		return "", err
	}
	var same, all []string
	seen := map[string]bool{}
	each := func(n []byte) {
		if n[0] == '*' || n[0] == '[' || seen[string(n)] {
			return
		}
		full := string(n)
		seen[full] = true
		all = append(all, full)
		if gotype.ShortName(string(pclntab.Unescape(n))) == base {
			same = append(same, full)
		}
	}
	for _, u := range units {
		if u.Lang() != dw.LangGo {
			continue
		}
		if err := dw.TypeNames(u, each); err != nil {
			return "", err
		}
	}
	switch len(same) {
	case 1:
		return lead + same[0], nil
	case 0:
		for _, n := range diag.Nearest(base, append(all, gotype.ShortNames(all)...), maxNear) {
			none.Near = append(none.Near, lead+n)
		}
	default:
		slices.Sort(same)
		for _, n := range same {
			none.Near = append(none.Near, lead+n)
		}
		none.Detail = "packages of that name have several"
	}
	return "", none
}
