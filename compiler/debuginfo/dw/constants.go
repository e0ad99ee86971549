package dw

import (
	"debug/dwarf"

	"github.com/gostap/gostap/compiler/foreign"
)

// Constants calls each with the constants of a unit that have a type, a name and a value that is a number of at most 64
// bits (DWARF 5, 4.1), but for those inside of functions. name is good during the call only.
func Constants(u *Unit, each func(name []byte, val int64, typ dwarf.Offset)) (err error) {
	defer foreign.Guard(&err)()
	s, err := u.scan()
	if err != nil {
		return err
	}
	for s.next() {
		if s.depth == 0 || s.a.tag == dwarf.TagNamespace || s.a.tag == dwarf.TagModule {
			continue
		}
		if s.a.tag == dwarf.TagConstant {
			_, e, err := u.d.RawEntry(s.off)
			if err != nil {
				return err
			}
			typ, typed := e.Val(dwarf.AttrType).(dwarf.Offset)
			val, valued := e.Val(dwarf.AttrConstValue).(int64)
			if name := s.str(slotName); typed && valued && len(name) > 0 {
				each(name, val, typ)
			}
		}
		s.skipChildren()
	}
	return s.failed()
}
