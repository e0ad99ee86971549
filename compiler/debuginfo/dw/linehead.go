package dw

import (
	"debug/dwarf"
	"errors"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
)

// checkLineHeader looks at the header of the line program of u before debug/dwarf does, which makes room for as
// many files as a header of DWARF 5 claims to have (DWARF 5, 6.2.4). Anything else that is wrong there is left to
// it.
func (u *Unit) checkLineHeader() error {
	e, err := u.Entry()
	if err != nil {
		return err
	}
	at, ok := e.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return nil
	}
	sec, err := u.d.optional(".debug_line")
	if err != nil || at < 0 || at >= int64(len(sec)) {
		return err
	}
	r := &dwread.Reader{Bytes: sec, Off: int(at)}
	n, dwarf64 := r.UnitLength()
	if n < uint64(len(sec)-r.Off) {
		r.Bytes = sec[:r.Off+int(n)]
	}
	if r.U16() < 5 {
		return nil
	}
	r.Skip(2) // sizes of an address and of a segment selector
	r.Offset(dwarf64)
	r.Skip(5) // up to the line range
	if ops := int(r.U8()); ops > 0 {
		r.Skip(ops - 1)
	}
	for _, what := range []string{"folders", "files"} {
		var forms []uint16
		for i := int(r.U8()); i > 0; i-- {
			r.Uleb()
			forms = append(forms, uint16(r.Uleb()))
		}
		count := r.Uleb()
		switch {
		case r.Err != nil:
			return nil
		// Each takes a byte at least, so that there cannot be more than bytes. (Without any form they take none,
		// and are none.)
		case count > uint64(len(r.Bytes)-r.Off), count > 0 && len(forms) == 0:
			return u.d.Corrupt("line table of unit at %#x claims to have %d %s", u.Off, count, what)
		}
		if what == "files" {
			return nil
		}
		for ; count > 0 && r.Err == nil; count-- {
			for _, f := range forms {
				if err := skipLineForm(r, f, dwarf64); err != nil {
					return nil
				}
			}
		}
	}
	return nil
}

// skipLineForm skips a value in one of the forms that line tables have.
func skipLineForm(r *dwread.Reader, form uint16, dwarf64 bool) error {
	switch form {
	case dwread.FormString:
		for r.Err == nil && r.U8() != 0 {
		}
	case dwread.FormBlock:
		r.Block(r.Uleb())
	case dwread.FormUdata:
		r.Uleb()
	default:
		n := dwread.FixedSize(form, 8, dwarf64, 5)
		if n < 0 {
			return errors.New("a form that line tables do not have")
		}
		r.Skip(n)
	}
	return r.Err
}
