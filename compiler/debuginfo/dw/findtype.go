package dw

import (
	"debug/dwarf"

	"github.com/gostap/gostap/compiler/foreign"
)

// FindTypeIn looks through units for a complete type of that name with one of the tags, earlier tags preferred; 0 if
// there is none. Types inside of functions are not found.
func FindTypeIn(units []*Unit, name string, tags []dwarf.Tag) (off dwarf.Offset, err error) {
	defer foreign.Guard(&err)()
	rank := func(t dwarf.Tag) int {
		for i, x := range tags {
			if x == t {
				return i
			}
		}
		return -1
	}
	best, bestRank := dwarf.Offset(0), len(tags)
	for _, u := range units {
		s, err := u.scan()
		if err != nil {
			return 0, err
		}
		for s.next() {
			if s.depth == 0 || s.a.tag == dwarf.TagNamespace || s.a.tag == dwarf.TagModule {
				continue
			}
			if r := rank(s.a.tag); r >= 0 && r < bestRank && !s.has(slotDecl) && string(s.str(slotName)) == name {
				best, bestRank = s.off, r
			}
			s.skipChildren()
		}
		if err := s.failed(); err != nil {
			return 0, err
		}
		if bestRank == 0 || best != 0 && len(tags) > 1 && s.u.Lang() == LangGo {
			break
		}
	}
	return best, nil
}

// TypeNames calls each with the names of the complete types of a unit, but for those inside of functions. The bytes are
// good during the call only.
func TypeNames(u *Unit, each func(name []byte)) error {
	return u.declared(func(s *scanner) error {
		switch s.a.tag {
		case dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagStructType, dwarf.TagPointerType, dwarf.TagArrayType,
			dwarf.TagSubroutineType:
			if name := s.str(slotName); len(name) > 0 && !s.has(slotDecl) {
				each(name)
			}
		}
		return nil
	})
}

// FindEnumerator looks for the enumeration type that has a constant called name: the first one in the order of the
// file, not in units of Go, whose constants have no type there, and not inside of functions. It is 0 if there is none.
func (d *Data) FindEnumerator(name string) (off dwarf.Offset, err error) {
	defer foreign.Guard(&err)()
	units, err := d.AllUnits()
	if err != nil {
		return 0, err
	}
	for _, u := range units {
		if u.Lang() == LangGo {
			continue // its constants have no type there
		}
		s, err := u.scan()
		if err != nil {
			return 0, err
		}
		within := dwarf.Offset(0)
		for s.next() {
			switch {
			case s.depth == 0:
			case s.a.tag == dwarf.TagEnumerationType:
				within = s.off
			case s.a.tag == dwarf.TagEnumerator:
				if within != 0 && string(s.str(slotName)) == name {
					return within, nil
				}
			case s.a.tag == dwarf.TagNamespace, s.a.tag == dwarf.TagModule, s.a.tag == dwarf.TagStructType,
				s.a.tag == dwarf.TagUnionType, s.a.tag == dwarf.TagClassType:
			default:
				s.skipChildren()
			}
		}
		if err := s.failed(); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// Structures calls each with the offsets of the complete structures, classes and unions of a unit that have a name, but
// for those inside of functions and of other types.
func Structures(u *Unit, each func(off dwarf.Offset)) error {
	return u.declared(func(s *scanner) error {
		switch s.a.tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			if len(s.str(slotName)) > 0 && !s.has(slotDecl) {
				each(s.off)
			}
		}
		return nil
	})
}

// declared calls each for what a unit and its namespaces declare. What is inside of that, of functions and types, is
// left out.
func (u *Unit) declared(each func(s *scanner) error) (err error) {
	defer foreign.Guard(&err)()
	s, err := u.scan()
	if err != nil {
		return err
	}
	for s.next() {
		if s.depth == 0 || s.a.tag == dwarf.TagNamespace || s.a.tag == dwarf.TagModule {
			continue
		}
		if err := each(s); err != nil {
			return err
		}
		s.skipChildren()
	}
	return s.failed()
}
