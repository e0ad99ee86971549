package dwtype

import (
	"debug/dwarf"
	"fmt"
	"strings"
)

// typeName writes a type as its language does.
func (ts *Types) typeName(off dwarf.Offset, depth int) string {
	return ts.declare(off, "", depth)
}

// declare writes the declaration of inner with the type at off: "char (*inner)[3]".
func (ts *Types) declare(off dwarf.Offset, inner string, depth int) string {
	join := func(base string) string {
		switch {
		case inner == "":
			return base
		case base == "":
			return inner
		}
		if inner[0] == '[' {
			return base + inner
		}
		return base + " " + inner
	}
	if depth > maxTypeDepth {
		return join("?")
	}
	e, err := ts.typeEntry(off)
	if err != nil {
		return join("?")
	}
	name := e.str(dwarf.AttrName)
	if e.goes() {
		return join(name)
	}
	next := func(inner string) string { return ts.declareTarget(e, inner, depth+1) }
	pointer := func(mark string) string {
		to, ok, err := ts.ref(e, dwarf.AttrType)
		if ok && err == nil {
			if t, err := ts.typeEntry(to); err == nil &&
				(t.Tag == dwarf.TagArrayType || t.Tag == dwarf.TagSubroutineType) {
				return next("(" + mark + inner + ")")
			}
		}
		return next(mark + inner)
	}
	switch e.Tag {
	case dwarf.TagPointerType:
		return pointer("*")
	case dwarf.TagReferenceType:
		return pointer("&")
	case dwarf.TagRvalueReferenceType:
		return pointer("&&")
	case dwarf.TagConstType, dwarf.TagVolatileType, tagAtomicType, dwarf.TagRestrictType:
		qual := map[dwarf.Tag]string{dwarf.TagConstType: "const", dwarf.TagVolatileType: "volatile",
			tagAtomicType: "_Atomic", dwarf.TagRestrictType: "restrict"}[e.Tag]
		if to, ok, err := ts.ref(e, dwarf.AttrType); ok && err == nil {
			if t, err := ts.typeEntry(to); err == nil && t.Tag == dwarf.TagPointerType {
				return next(strings.TrimSpace(qual + " " + inner)) // char *const p
			}
		}
		to := next(inner)
		if rest, ok := strings.CutPrefix(to, "const "); ok && qual == "volatile" {
			return "const volatile " + rest // the usual order
		}
		return qual + " " + to
	case dwarf.TagArrayType:
		dims, err := ts.dimensions(e)
		if err != nil {
			return join("?")
		}
		return next(inner + bounds(dims))
	case dwarf.TagSubroutineType:
		var params []string
		e.children(ts.d, func(k *dwarf.Entry) error {
			switch k.Tag {
			case dwarf.TagFormalParameter:
				p := "?"
				if to, ok, err := ts.ref(k, dwarf.AttrType); ok && err == nil {
					p = ts.declare(to, "", depth+1)
				}
				params = append(params, p)
			case dwarf.TagUnspecifiedParameters:
				params = append(params, "...")
			}
			return nil
		})
		if len(params) == 0 {
			params = []string{"void"}
		}
		return next(inner + "(" + strings.Join(params, ", ") + ")")
	}
	prefix := map[dwarf.Tag]string{dwarf.TagStructType: "struct ", dwarf.TagUnionType: "union ",
		dwarf.TagEnumerationType: "enum ", dwarf.TagClassType: "class "}[e.Tag]
	if name == "" && prefix != "" {
		name = "{...}"
	}
	if name == "" {
		name = "?"
	}
	return join(prefix + name)
}

// declareTarget declares inner with the type that e's DW_AT_type names.
func (ts *Types) declareTarget(e typeEntry, inner string, depth int) string {
	to, ok, err := ts.ref(e, dwarf.AttrType)
	switch {
	case err != nil:
		return "?"
	case ok:
		return ts.declare(to, inner, depth)
	case inner == "":
		return "void"
	}
	return "void " + inner
}

func bounds(dims []int64) string {
	var s strings.Builder
	for _, n := range dims {
		if n < 0 {
			s.WriteString("[]")
		} else {
			fmt.Fprintf(&s, "[%d]", n)
		}
	}
	return s.String()
}
