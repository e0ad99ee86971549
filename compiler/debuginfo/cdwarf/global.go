package cdwarf

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/diag"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// Global finds a global or static variable: "name", or "name@unit" with the end of the
// path of a source file where several units have statics of that name.
func (im *Image) Global(name string) (v *debuginfo.Var, err error) {
	defer foreign.Guard(&err)()
	return im.named().global(name, nil)
}

// global prefers the statics of the unit near.
func (im namer) global(full string, near *dw.Unit) (*debuginfo.Var, error) {
	if im.d == nil {
		return nil, im.noTypes()
	}
	name, unit, _ := strings.Cut(full, "@")
	units, err := im.units()
	if err != nil {
		return nil, err
	}
	refs, err := im.d.FindGlobalsIn(units, name)
	if err != nil {
		return nil, err
	}
	var found []dw.GlobalRef
	var declared *dw.GlobalRef
	for _, r := range refs {
		if unit != "" && !dw.MatchFile(r.Home.Path(), unit) {
			continue
		}
		if r.Lost {
			if declared == nil || r.Home == near || declared.Declaration && !r.Declaration {
				declared = &r
			}
			continue
		}
		if r.Home == near {
			found = []dw.GlobalRef{r}
			break
		}
		if near != nil && !r.External {
			continue // a static of another unit
		}
		found = append(found, r)
	}
	switch {
	case len(found) == 1:
		return im.globalAt(found[0])
	case len(found) > 1:
		var where []string
		for _, r := range found {
			where = append(where, name+"@"+r.Home.Path())
		}
		return nil, fmt.Errorf("variable %q exists in several units: %s", name, strings.Join(where, ", "))
	case declared != nil:
		return im.declaredGlobal(*declared, name)
	}
	return nil, &debuginfo.NotFoundError{What: "variable", Name: full, Near: im.nearGlobals(name)}
}

func (im namer) nearGlobals(name string) []string {
	syms, _ := im.f.Symbols()
	var names []string
	for _, s := range syms {
		if !s.Code() {
			names = append(names, s.Name)
		}
	}
	return diag.Nearest(name, names, 3)
}

func newGlobal(t *godwarf.Tree) *debuginfo.Var {
	return &debuginfo.Var{Name: dw.Name(t), Kind: debuginfo.GlobalVar, Line: int(dw.Int(t, dwarf.AttrDeclLine))}
}

func (im namer) globalAt(r dw.GlobalRef) (*debuginfo.Var, error) {
	t, err := im.d.Entry(r.Die)
	if err != nil {
		return nil, err
	}
	v := newGlobal(t)
	if v.Type, err = im.types.TypeOf(t); err != nil {
		return nil, fmt.Errorf("variable %q: %w", v.Name, err)
	}
	v.Place, err = r.Unit.VarPlace(t, v.Type, r.Unit.Env(nil, 0), 0)
	if err == nil && usesRegisters(v.Place) {
		err = &debuginfo.NotLiveError{Name: v.Name, Reason: "it lives in a register"}
	}
	v.Err = err
	return v, err
}

// declaredGlobal is a variable that another file defines. A program that is not relocated has a copy of
// it, for which it has a symbol.
func (im namer) declaredGlobal(r dw.GlobalRef, name string) (*debuginfo.Var, error) {
	t, err := im.d.Entry(r.Die)
	if err != nil {
		return nil, err
	}
	v := newGlobal(t)
	if v.Type, err = im.types.TypeOf(t); err != nil {
		return nil, fmt.Errorf("variable %q: %w", name, err)
	}
	if !r.Declaration {
		v.Err = &debuginfo.NotLiveError{Name: name, Reason: dwexpr.ErrNoLocation.Error()}
		return v, v.Err
	}
	for _, s := range im.f.SymbolsNamed(name) {
		if s.Object() && s.Global {
			v.Place = loc.Place{Type: v.Type, InMemory: true, Addr: loc.Static(s.Addr, im.f.Relocated()),
				Writable: true}
			return v, nil
		}
	}
	v.Err = &debuginfo.NotLiveError{Name: name, Reason: "it is defined in another file"}
	return v, v.Err
}
