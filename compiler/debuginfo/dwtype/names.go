package dwtype

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
)

// typeTags are the tags that a name can mean: "struct x" only structs, "x" typedefs, base types,
// named types of Go and, last, structs, unions and enums without their keyword.
func typeTags(name string) (tags []dwarf.Tag, bare string) {
	for prefix, tag := range map[string]dwarf.Tag{"struct ": dwarf.TagStructType, "union ": dwarf.TagUnionType,
		"enum ": dwarf.TagEnumerationType, "class ": dwarf.TagClassType} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return []dwarf.Tag{tag}, strings.TrimSpace(rest)
		}
	}
	return []dwarf.Tag{dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType,
		dwarf.TagEnumerationType, dwarf.TagPointerType, dwarf.TagArrayType, dwarf.TagSubroutineType}, name
}

// NamedType finds a type by the name that its language gives it: "struct foo", "size_t",
// "main.Server", "*main.Server", and for C pointers to those ("struct foo *"). The error is a
// *debuginfo.NotFoundError if there is none.
func (ts *Types) NamedType(name string) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	name = strings.TrimSpace(name)
	tags, bare := typeTags(name)
	off, err := ts.findType(inAll, bare, tags)
	if err != nil {
		return nil, err
	}
	if off != 0 {
		return ts.Type(off)
	}
	if to, ok := strings.CutSuffix(name, "*"); ok {
		el, err := ts.NamedType(to)
		if err != nil {
			return nil, err
		}
		p := &types.Ctype{Kind: types.Pointer, Name: strings.TrimSpace(to) + " *", Size: 8, Go: el.Go}
		if strings.HasSuffix(el.Name, "*") {
			p.Name = el.Name + "*"
		}
		p.SetElem(el)
		return p, nil
	}
	return nil, &debuginfo.NotFoundError{What: "type", Name: name}
}

// definition finds the complete type that a declaration announces, nil if the file has none. Go's string is a structure
// of that name to DWARF, and not what a C file means by "struct string".
func (ts *Types) definition(e typeEntry) (*types.Ctype, error) {
	name := e.str(dwarf.AttrName)
	if name == "" {
		return nil, nil
	}
	among := inC
	if e.goes() {
		among = inGo
	}
	off, err := ts.findType(among, name, []dwarf.Tag{e.Tag})
	if err != nil || off == 0 || off == e.off {
		return nil, err
	}
	return ts.typeAt(off, 1)
}

// among says which units findType looks through.
type among string

const (
	inAll among = ""
	inGo  among = "Go "
	inC   among = "C " // all but Go's
)

func (a among) has(u *dw.Unit) bool { return a == inAll || (u.Lang() == dw.LangGo) == (a == inGo) }

// findType looks through the units for a complete type with one of the tags, earlier tags
// preferred; 0 if there is none. Types inside of functions are not found.
func (ts *Types) findType(where among, name string, tags []dwarf.Tag) (dwarf.Offset, error) {
	if name == "" || len(name) > 1<<12 {
		return 0, nil
	}
	key := string(where) + tags[0].String() + " " + name
	if off, ok := ts.named[key]; ok {
		return off, nil
	}
	units, err := ts.d.AllUnits()
	if err != nil {
		return 0, err
	}
	if where != inAll {
		units = slices.DeleteFunc(slices.Clone(units), func(u *dw.Unit) bool { return !where.has(u) })
	}
	best, err := dw.FindTypeIn(units, name, tags)
	if err != nil {
		return 0, err
	}
	if ts.named == nil {
		ts.named = map[string]dwarf.Offset{}
	}
	ts.named[key] = best
	return best, nil
}

// NamedTypeIn is NamedType within some units, without types made up from others. Go's linker puts
// all types into the unit of package runtime.
func (ts *Types) NamedTypeIn(units []*dw.Unit, name string) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	tags, bare := typeTags(strings.TrimSpace(name))
	off, err := dw.FindTypeIn(units, bare, tags)
	if err != nil {
		return nil, err
	}
	if off == 0 {
		return nil, &debuginfo.NotFoundError{What: "type", Name: name}
	}
	return ts.Type(off)
}

// EnumWith finds the enumeration type that has a constant called name: the first one in the order of the file. Types
// inside of functions are not found. The error is a *debuginfo.NotFoundError if there is none.
func (ts *Types) EnumWith(name string) (t *types.Ctype, err error) {
	defer foreign.Guard(&err)()
	off, err := ts.d.FindEnumerator(name)
	if err != nil {
		return nil, err
	}
	if off != 0 {
		return ts.Type(off)
	}
	return nil, &debuginfo.NotFoundError{What: "enumerator", Name: name}
}
