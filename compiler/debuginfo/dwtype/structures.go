package dwtype

import (
	"debug/dwarf"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/foreign"
)

// Structures calls each with the structures, classes and unions that have a name, in the order of the file, until each
// says false. Those that several units of C describe come several times; those of functions and inside of others do not
// come. What cannot be read is left out.
func (ts *Types) Structures(each func(debuginfo.Structure) bool) (err error) {
	defer foreign.Guard(&err)()
	units, err := ts.d.AllUnits()
	if err != nil {
		return err
	}
	for _, u := range units {
		var at []dwarf.Offset
		if err := dw.Structures(u, func(off dwarf.Offset) { at = append(at, off) }); err != nil {
			return err
		}
		for _, off := range at {
			t, err := ts.typeAt(off, 0)
			if err != nil {
				continue
			}
			if !each(debuginfo.Structure{Type: t, Declared: func() (string, int) { return ts.declared(off) }}) {
				return nil
			}
		}
	}
	return nil
}

// declared says where the type at off stands in the source.
func (ts *Types) declared(off dwarf.Offset) (file string, line int) {
	var err error
	defer foreign.Guard(&err)()
	u, e, err := ts.d.RawEntry(off)
	if err != nil {
		return "", 0
	}
	n, _ := e.Val(dwarf.AttrDeclLine).(int64)
	index, ok := e.Val(dwarf.AttrDeclFile).(int64)
	if !ok || n <= 0 {
		return "", 0
	}
	return u.FileName(index), int(n)
}
