package elffile

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/usdt"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/loc"
)

// Marks lists the static marks of the file.
func (f *File) Marks() (marks []debuginfo.Mark, err error) {
	defer foreign.Guard(&err)()
	notes, err := f.Section(usdt.Section)
	if errors.Is(err, ErrNoSection) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	u := usdt.File{Machine: f.machine, Symbol: f.symbolPlace}
	u.Base, _, _ = f.SectionAddr(usdt.Base)
	marks, err = u.Read(notes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return marks, nil
}

// symbolPlace is the run-time address of the data that name stands for, if all symbols of that name are at one place.
func (f *File) symbolPlace(name string) (loc.Prog, bool) {
	var addr uint64
	syms := f.SymbolsNamed(name)
	for i, s := range syms {
		if i > 0 && s.Addr != addr {
			return loc.Prog{}, false
		}
		addr = s.Addr
	}
	if len(syms) == 0 {
		return loc.Prog{}, false
	}
	return loc.Static(addr, f.Relocated()), true
}
