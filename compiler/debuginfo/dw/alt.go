package dw

import (
	"debug/dwarf"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
)

// dwz(1) moves what several debug files have in common into one of its own, the supplementary file, which
// .gnu_debugaltlink names: types, abstract functions, names. Entries of it are numbered with altBit, so that an
// offset says which file it is in.

// altBit marks offsets in the supplementary file.
const altBit = dwarf.Offset(1 << 31)

// alt is the supplementary DWARF, nil if there is none or it cannot be had; see altErr.
func (d *Data) alt() *Data {
	if !d.altOK {
		d.altOK = true
		d.altData, d.altErr = d.openAlt()
	}
	return d.altData
}

var errNoAlt = errors.New("it is in the file that .gnu_debugaltlink names (dwz)")

func (d *Data) openAlt() (alt *Data, err error) {
	defer foreign.Guard(&err)()
	link, err := d.src.Section(".gnu_debugaltlink")
	if err != nil {
		return nil, errNoAlt
	}
	name := string(dwread.Name(link, 0))
	id := link[min(len(name)+1, len(link)):]
	if name == "" || d.bit != 0 {
		return nil, errNoAlt
	}
	var paths []string
	if filepath.IsAbs(name) {
		paths = append(paths, name)
	} else {
		paths = append(paths, filepath.Join(filepath.Dir(d.src.Path()), name))
	}
	hex := hexOf(id)
	for _, dir := range elffile.DebugDirs() {
		if len(hex) > 2 {
			paths = append(paths, filepath.Join(dir, ".build-id", hex[:2], hex[2:]+".debug"))
		}
		paths = append(paths, filepath.Join(dir, ".dwz", filepath.Base(name)))
	}
	why := "there is no " + paths[0]
	for _, p := range paths {
		f, err := elffile.OpenSupplement(p)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				why = err.Error()
			}
			continue
		}
		if f.BuildID() != hex {
			why = f.Path() + " is that of another build"
			f.Close()
			continue
		}
		a, err := Open(f)
		if err != nil {
			why = err.Error()
			f.Close()
			continue
		}
		info, _ := f.Section(".debug_info")
		own, _ := d.src.Section(".debug_info")
		if uint64(len(info)) >= uint64(altBit) || uint64(len(own)) >= uint64(altBit) {
			why = "it is too large"
			f.Close()
			continue
		}
		a.bit, a.linked = altBit, false
		d.src.Adopt(f)
		return a, nil
	}
	return nil, errors.New(errNoAlt.Error() + ": " + why)
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// NoAlt says why the supplementary file cannot be had.
func (d *Data) NoAlt() error {
	if d.alt(); d.altErr != nil {
		return d.altErr
	}
	return errNoAlt
}

// AllUnits are the units of d and those of its supplementary file.
func (d *Data) AllUnits() ([]*Unit, error) {
	units, err := d.Units()
	if err != nil || !d.linked {
		return units, err
	}
	if a := d.alt(); a != nil {
		more, err := a.Units()
		if err != nil {
			return nil, err
		}
		units = append(units[:len(units):len(units)], more...)
	}
	return units, nil
}

// entries reads entries one after the other, like a dwarf.Reader, from either file.
type entries struct {
	d    *Data
	r    *dwarf.Reader
	bit  dwarf.Offset // of the file that r reads
	fix  bool         // entries need what follows Next
	from *Data
}

// reader reads entries of d from off on, which may be one in the supplementary file.
func (d *Data) reader(off dwarf.Offset) (*entries, error) {
	x := &entries{d: d, from: d, bit: d.bit, fix: d.bit != 0 || d.linked || d.joined != nil}
	if off&altBit != 0 && d.linked {
		a := d.alt()
		if a == nil {
			return nil, d.NoAlt()
		}
		x.from, x.bit, x.fix = a, altBit, true
	}
	x.r = x.from.d.Reader()
	x.r.Seek(off &^ x.bit)
	return x, nil
}

// SkipChildren is dwarf.Reader's.
func (x *entries) SkipChildren() { x.r.SkipChildren() }

// Next is dwarf.Reader's, with references and names of the supplementary file resolved.
func (x *entries) Next() (*dwarf.Entry, error) {
	e, err := x.r.Next()
	if e == nil || err != nil || !x.fix {
		return e, err
	}
	e.Offset |= x.bit
	if x.from.joined != nil {
		if u, err := x.from.UnitOf(e.Offset); err == nil && u.split != nil && u.Version < 5 {
			u.indexed(e)
		}
	}
	for i := range e.Field {
		f := &e.Field[i]
		switch v := f.Val.(type) {
		case dwarf.Offset:
			f.Val = v | x.bit
		case int64:
			switch f.Class {
			case dwarf.ClassReferenceAlt:
				if a := x.d.alt(); a != nil && v >= 0 && v < int64(altBit) {
					f.Class, f.Val = dwarf.ClassReference, dwarf.Offset(v)|altBit
				}
			case dwarf.ClassStringAlt:
				if s := x.d.altString(uint64(v)); s != nil {
					f.Class, f.Val = dwarf.ClassString, string(s)
				}
			}
		}
	}
	return e, nil
}

// altString is a string of the supplementary file, nil if it cannot be had.
func (d *Data) altString(off uint64) []byte {
	a := d.alt()
	if a == nil {
		return nil
	}
	sec, err := a.src.Optional(".debug_str")
	if err != nil {
		return nil
	}
	return dwread.Name(sec, off)
}

// RawEntry reads the entry at off as it stands, without what its origins say.
func (d *Data) RawEntry(off dwarf.Offset) (*Unit, *dwarf.Entry, error) {
	u, err := d.UnitOf(off)
	if err != nil {
		return nil, nil, err
	}
	if _, err := u.abbrevs(); err != nil { // debug/dwarf takes any
		return nil, nil, err
	}
	r, err := d.reader(off)
	if err != nil {
		return nil, nil, err
	}
	e, err := r.Next()
	if err != nil || e == nil || e.Tag == 0 {
		return nil, nil, d.Corrupt("no type at %#x (%v)", off, err)
	}
	return u, e, nil
}

// EachChild calls f for each direct child of the entry at off. More than most of them are an error.
func (d *Data) EachChild(off dwarf.Offset, most int, f func(k *dwarf.Entry) error) error {
	r, err := d.reader(off)
	if err != nil {
		return err
	}
	if _, err := r.Next(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		k, err := r.Next()
		if err != nil {
			return d.Corrupt("%v", err)
		}
		if k == nil || k.Tag == 0 {
			return nil
		}
		if n > most {
			return d.Corrupt("type at %#x has too many members", off)
		}
		if err := f(k); err != nil {
			return err
		}
		if k.Children {
			r.SkipChildren()
		}
	}
}
