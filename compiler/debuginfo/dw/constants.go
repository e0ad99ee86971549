package dw

import "debug/dwarf"

// Constants calls each with the constants of a unit that have a type, a name and a value that is a number of at most 64
// bits (DWARF 5, 4.1), but for those inside of functions. name is good during the call only.
func Constants(u *Unit, each func(name []byte, val int64, typ dwarf.Offset)) error {
	return u.declared(func(s *scanner) error {
		if s.a.tag != dwarf.TagConstant {
			return nil
		}
		_, e, err := u.d.RawEntry(s.off)
		if err != nil {
			return err
		}
		typ, typed := e.Val(dwarf.AttrType).(dwarf.Offset)
		val, valued := e.Val(dwarf.AttrConstValue).(int64)
		if name := s.str(slotName); typed && valued && len(name) > 0 {
			each(name, val, typ)
		}
		return nil
	})
}
