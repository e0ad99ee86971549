package dwtype

import (
	"debug/dwarf"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/foreign"
)

// Passing is how a value of a class of C++ is handed over.
type Passing uint8

// Ways of passing.
const (
	PassingUnknown Passing = iota
	ByValue                // as a struct of C
	ByReference            // as the address of an object that the caller has made: copying it, or its end, is code
)

// Values of DW_AT_calling_convention for types (DWARF 5, table 7.18).
const (
	passByReference = 4
	passByValue     = 5
)

var gnuCpp = regexp.MustCompile(`^GNU C\+\+\d* (\d+)\.`)

// listsAll reports whether a producer tells of each function that a class declares, and which of them are
// defaulted or deleted, and hands classes over as the C++ ABI has it: g++ from 8 on. Others say how a class is
// passed.
func listsAll(producer string) bool {
	m := gnuCpp.FindStringSubmatch(producer)
	if m == nil || strings.Contains(producer, "-gstrict-dwarf") || strings.Contains(producer, "-fabi-version") {
		return false
	}
	n, err := strconv.Atoi(m[1])
	return err == nil && n >= 8
}

// Passing tells how values of the type that the DW_AT_type of e names are handed over, for a struct, class or
// union of C++. DW_AT_calling_convention of the type says so, where the compiler wrote it. Else it is the rule of
// the Itanium C++ ABI, "non-trivial for the purposes of calls": by reference if a copy or move constructor or the
// destructor is somebody's code, in the class, in a base or in a member. Where a constructor is deleted the rule
// needs more than DWARF has: that is not known.
func (ts *Types) Passing(e godwarf.Entry) (p Passing, err error) {
	defer foreign.Guard(&err)()
	off, ok, err := ts.ref(e, dwarf.AttrType)
	if err != nil || !ok {
		return PassingUnknown, err
	}
	return ts.passing(off, 0)
}

var errTooDeep = errors.New("its type is nested too deeply")

// bare follows the names, qualifiers and arrays around a type.
func (ts *Types) bare(off dwarf.Offset) (e typeEntry, err error) {
	for range maxTypeDepth {
		if e, err = ts.typeEntry(off); err != nil {
			return e, err
		}
		switch e.Tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, tagAtomicType,
			dwarf.TagArrayType:
		default:
			return e, nil
		}
		to, ok, err := ts.ref(e, dwarf.AttrType)
		if err != nil || !ok {
			return e, err
		}
		off = to
	}
	return e, errTooDeep
}

func (ts *Types) passing(off dwarf.Offset, depth int) (Passing, error) {
	e, err := ts.bare(off)
	if err != nil || depth > maxTypeDepth {
		return PassingUnknown, err
	}
	switch e.Tag {
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
	case dwarf.TagRvalueReferenceType:
		return PassingUnknown, nil // a member of this kind deletes constructors
	default:
		return ByValue, nil
	}
	if is(e.Entry, dwarf.AttrDeclaration) {
		return PassingUnknown, nil // another class may have the name of its definition
	}
	if p, ok := ts.passed[e.off]; ok {
		return p, nil
	}
	if ts.passed == nil {
		ts.passed = map[dwarf.Offset]Passing{}
	}
	ts.passed[e.off] = PassingUnknown // for a class that contains itself
	p, err := ts.classPassing(e, depth)
	if err != nil {
		return PassingUnknown, err
	}
	ts.passed[e.off] = p
	return p, nil
}

// classPassing is passing for the entry of a complete class.
func (ts *Types) classPassing(e typeEntry, depth int) (Passing, error) {
	switch n, _ := e.Val(dwarf.AttrCalling).(int64); n {
	case passByValue:
		return ByValue, nil
	case passByReference:
		return ByReference, nil
	}
	if !listsAll(e.u.Producer()) {
		return PassingUnknown, nil
	}
	unclear, reference := false, false
	moves := false // it has a move assignment of its own
	shapes := 0    // copy and move constructors of its own
	err := e.children(ts.d, func(k *dwarf.Entry) error {
		virtual := k.Val(dwarf.AttrVirtuality) != nil
		switch k.Tag {
		case dwarf.TagInheritance, dwarf.TagMember:
			if is(k, dwarf.AttrExternal) || is(k, dwarf.AttrDeclaration) {
				return nil // static
			}
			name, _ := k.Val(dwarf.AttrName).(string)
			reference = reference || virtual || strings.HasPrefix(name, "_vptr")
			to, ok, err := ts.ref(k, dwarf.AttrType)
			if err != nil || !ok {
				unclear = true
				return err
			}
			p, err := ts.passing(to, depth+1)
			if e.Tag == dwarf.TagUnionType && p != ByValue {
				p = PassingUnknown // its own functions are deleted then
			}
			reference = reference || p == ByReference
			unclear = unclear || p == PassingUnknown
			return err
		case dwarf.TagSubprogram:
			reference = reference || virtual
			f, err := ts.special(e, k)
			if err != nil || f == ordinary {
				return err
			}
			defaulted, _ := k.Val(dwarf.AttrDefaulted).(int64)
			own := !is(k, dwarf.AttrArtificial) && defaulted != 1 // DW_DEFAULTED_in_class
			switch {
			case f == moveAssignment:
				moves = true
			case is(k, dwarf.AttrDeleted), f == perhapsCopies:
				unclear = true
			default:
				reference = reference || own
			}
			if f == copies {
				shapes++
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return PassingUnknown, err
	case reference && !(unclear && e.Tag == dwarf.TagUnionType):
		return ByReference, nil
	case unclear || moves && shapes == 0:
		return PassingUnknown, nil
	}
	return ByValue, nil
}

func is(e *dwarf.Entry, a dwarf.Attr) bool { b, _ := e.Val(a).(bool); return b }

// special says what a function of a class is to the copying of its objects.
type special uint8

const (
	ordinary special = iota
	copies           // a copy or move constructor
	perhapsCopies
	destroys
	moveAssignment
)

func (ts *Types) special(class typeEntry, k *dwarf.Entry) (special, error) {
	name, _ := k.Val(dwarf.AttrName).(string)
	plain, _, _ := strings.Cut(class.str(dwarf.AttrName), "<")
	switch {
	case strings.HasPrefix(name, "~"):
		return destroys, nil
	case name != "operator=" && (name != plain || plain == ""):
		return ordinary, nil
	}
	f, err := ts.typeEntry(k.Offset)
	if err != nil {
		return ordinary, err
	}
	n, what := 0, ordinary
	err = f.children(ts.d, func(p *dwarf.Entry) error {
		if p.Tag == dwarf.TagUnspecifiedParameters {
			n++
		}
		if p.Tag != dwarf.TagFormalParameter || is(p, dwarf.AttrArtificial) {
			return nil
		}
		if n++; n > 1 {
			return nil
		}
		off, ok, err := ts.ref(p, dwarf.AttrType)
		if err != nil || !ok {
			return err
		}
		r, err := ts.bare(off)
		if err != nil || r.Tag != dwarf.TagReferenceType && r.Tag != dwarf.TagRvalueReferenceType {
			return err
		}
		if off, ok, err = ts.ref(r, dwarf.AttrType); err != nil || !ok {
			return err
		}
		to, err := ts.bare(off)
		its := to.str(dwarf.AttrName)
		if err != nil || to.off != class.off && (its == "" || its != class.str(dwarf.AttrName)) {
			return err
		}
		switch {
		case name != "operator=":
			what = copies
		case r.Tag == dwarf.TagRvalueReferenceType:
			what = moveAssignment
		}
		return nil
	})
	if what == copies && n > 1 {
		what = perhapsCopies // if the others have defaults
	}
	return what, err
}
