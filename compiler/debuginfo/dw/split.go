package dw

import (
	"debug/dwarf"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// With -gsplit-dwarf a program has skeleton units only: where their code is, and which .dwo file has the rest
// (DWARF 5, 3.1.2 and 7.3.2; for DWARF 4 the GNU extension of the same design). What those files, or the .dwp
// package that they were put into, have is joined to the sections of the program in memory when it is opened, so
// that all else reads one set of sections. An entry keeps its place within its unit; what its attributes count from
// (strings, addresses, lists) is told by attributes that the copied abbreviation of the unit's entry gets, and by
// Unit.split.

const (
	attrGNUDwoID      = dwarf.Attr(0x2131)
	attrGNURangesBase = dwarf.Attr(0x2132)
	attrGNUAddrBase   = dwarf.Attr(0x2133)
	attrCallReturnPC  = dwarf.Attr(0x7d)
	attrCallPC        = dwarf.Attr(0x81)
	maxJoined         = 1 << 30 // bytes of any joined section
)

// split is what a unit of a .dwo file counts from.
type split struct {
	skel *Unit // the skeleton, nil for a type unit
	file string
	// Offsets in the joined sections of what indexes and offsets count from.
	strs, addrs, locs, ranges uint64
}

// joined are the sections of a program with those of its .dwo files.
type joined struct {
	sec      map[string][]byte
	units    map[dwarf.Offset]*split       // by header
	replaced map[dwarf.Offset]dwarf.Offset // the header of a skeleton: that of its unit
	missing  map[dwarf.Offset]string       // by header of a skeleton: why there is no unit
}

// section is a debug section with what .dwo files add to it.
func (d *Data) section(name string) ([]byte, error) {
	if d.joined != nil {
		if b, ok := d.joined.sec[name]; ok {
			return b, nil
		}
	}
	return d.src.Section(name)
}

// optional is section, with nothing instead of an error for a section that does not exist.
func (d *Data) optional(name string) ([]byte, error) {
	if d.joined != nil {
		if b, ok := d.joined.sec[name]; ok {
			return b, nil
		}
	}
	return d.src.Optional(name)
}

// mayBeSkeleton says, by the header, whether u may have the rest of it in a .dwo file.
func (u *Unit) mayBeSkeleton() bool {
	return u.skeleton || u.Version < 5 && !u.typeUnit && u.d.src.HasSection(".debug_addr")
}

// dwoName is the file that has the rest of u, "" if u has all of it.
func (u *Unit) dwoName() string {
	if s := u.str(attrDwoName); s != "" {
		return s
	}
	return u.str(attrGNUDwoName)
}

// dwoID is the number that a skeleton and the unit in the .dwo file share.
func (u *Unit) dwoID() uint64 {
	if u.Version >= 5 {
		return u.sig
	}
	e, err := u.Entry()
	if err != nil {
		return 0
	}
	id, _ := e.Val(attrGNUDwoID).(int64)
	return uint64(id)
}

// Split reports whether u only points to a .dwo file that cannot be had, and why.
func (u *Unit) Split() (why string, is bool) {
	if u.split != nil || u.dwoName() == "" {
		return "", false
	}
	if u.d.joined != nil {
		why = u.d.joined.missing[u.Off]
	}
	return why, true
}

// joinSplit looks for the .dwo files of d and joins what they have. What is missing is not an error before it is
// asked for.
func (d *Data) joinSplit(line []byte) error {
	units, err := d.Units()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(units, func(u *Unit) bool { return u.mayBeSkeleton() && u.dwoName() != "" }) {
		return nil
	}
	j := &joiner{d: d, sections: map[string][]byte{}, strs: map[*dwoFile]uint64{}, joined: &joined{
		sec: map[string][]byte{}, units: map[dwarf.Offset]*split{}, replaced: map[dwarf.Offset]dwarf.Offset{},
		missing: map[dwarf.Offset]string{},
	}}
	defer j.close()
	for _, name := range dwoSections {
		b, err := d.src.Optional(".debug_" + name)
		if err != nil {
			return err
		}
		j.sections[name] = slices.Clone(b)
	}
	for _, u := range units {
		if u.mayBeSkeleton() && u.dwoName() != "" {
			if err := j.join(u); err != nil {
				j.joined.missing[u.Off] = err.Error()
			}
		}
	}
	for name, b := range j.sections {
		if len(b) > 0 {
			j.joined.sec[".debug_"+name] = b
		}
	}
	d.joined = j.joined
	d.units, d.unitsOK, d.unitsErr, d.abbrevs = nil, false, nil, nil
	_, err = d.Units()
	var x *dwarf.Data
	if err == nil {
		x, err = d.newDwarf(line)
	}
	if err != nil { // the program is as it was without them
		none := &joined{missing: map[dwarf.Offset]string{}}
		for _, u := range units {
			none.missing[u.Off] = err.Error()
		}
		d.joined, d.units, d.unitsOK, d.unitsErr, d.abbrevs = none, units, true, nil, nil
		return nil
	}
	if d.d = x; d.linesOK {
		d.lines = d.d
	}
	// The number of a unit of DWARF 4 is in its entry.
	units, _ = d.Units()
	stale := map[dwarf.Offset]bool{}
	for _, u := range units {
		if u.split == nil || u.split.skel == nil || u.Version >= 5 {
			continue
		}
		if _, err := u.Entry(); err != nil {
			stale[u.Off], d.joined.missing[u.split.skel.Off] = true, err.Error()
		} else if u.dwoID() != u.split.skel.dwoID() {
			stale[u.Off], d.joined.missing[u.split.skel.Off] = true, u.split.file+" is that of another build"
		}
	}
	for off := range stale {
		delete(d.joined.replaced, d.joined.units[off].skel.Off)
		d.joined.units[off] = nil
	}
	if len(stale) > 0 {
		d.units, d.unitsOK = nil, false
	}
	return nil
}

// known drops the units that are not to be read, and tells those of .dwo files where they belong.
func (j *joined) known(units []*Unit) []*Unit {
	return slices.DeleteFunc(units, func(u *Unit) bool {
		if s, ok := j.units[u.Off]; ok {
			u.split = s
			return s == nil
		}
		_, gone := j.replaced[u.Off]
		return gone
	})
}

// complete adds to the entry of a unit of a .dwo file what its skeleton says.
func (u *Unit) complete(e *dwarf.Entry) {
	e.Field = slices.DeleteFunc(e.Field, func(f dwarf.Field) bool { return f.Attr == dwarf.AttrStmtList })
	if u.split.skel == nil {
		return
	}
	skel, err := u.split.skel.Entry()
	if err != nil {
		return
	}
	for _, f := range skel.Field {
		switch f.Attr {
		case attrDwoName, attrGNUDwoName, dwarf.AttrStrOffsetsBase, dwarf.AttrLoclistsBase, dwarf.AttrRnglistsBase:
			continue
		}
		if e.AttrField(f.Attr) == nil {
			e.Field = append(e.Field, f)
		}
	}
}

// indexed resolves the indexes in an entry of DWARF 4, which abbreviations of joined units have in a form that
// debug/dwarf reads as a number (see rewriteForm).
func (u *Unit) indexed(e *dwarf.Entry) {
	for i := range e.Field {
		f := &e.Field[i]
		n, ok := f.Val.(uint64)
		if f.Class != dwarf.ClassLocList || !ok {
			continue
		}
		switch f.Attr {
		case dwarf.AttrLowpc, dwarf.AttrHighpc, dwarf.AttrEntrypc, attrCallReturnPC, attrCallPC:
			if a, err := u.Addrx(n); err == nil {
				f.Class, f.Val = dwarf.ClassAddress, a
			}
		default:
			if off, ok := u.strx(n); ok {
				if sec, err := u.d.optional(".debug_str"); err == nil {
					f.Class, f.Val = dwarf.ClassString, string(dwread.Name(sec, off))
				}
			}
		}
	}
}

// joiner appends what .dwo files have to copies of the sections of the program.
type joiner struct {
	d        *Data
	sections map[string][]byte // without ".debug_"
	joined   *joined
	strs     map[*dwoFile]uint64 // where the strings of a file begin
	open     []*dwoFile
	packages []*dwoFile
	looked   bool // for packages
}

func (j *joiner) close() {
	for _, f := range j.open {
		f.f.Close()
	}
}

// join finds the unit that u is the skeleton of.
func (j *joiner) join(u *Unit) (err error) {
	defer foreign.Guard(&err)()
	if _, err := u.Entry(); err != nil {
		return err
	}
	id := u.dwoID()
	if !j.looked {
		j.looked = true
		for _, p := range slices.Compact([]string{j.d.f.Path(), j.d.src.Path()}) {
			if f, err := j.file(p + ".dwp"); err == nil && f.index() == nil {
				j.packages = append(j.packages, f)
			}
		}
	}
	for _, f := range j.packages {
		if c, ok := f.units[id]; ok {
			if !f.typed {
				f.typed = true
				for _, t := range f.typeUnits {
					if err := j.add(t, nil, 0); err != nil {
						return err
					}
				}
			}
			return j.add(c, u, id)
		}
	}
	name := u.dwoName()
	paths := []string{name}
	if !filepath.IsAbs(name) {
		paths = nil
		if filepath.IsAbs(u.CompDir()) {
			paths = append(paths, filepath.Join(u.CompDir(), name))
		}
		paths = append(paths, filepath.Join(filepath.Dir(j.d.f.Path()), name))
	}
	paths = append(paths, filepath.Join(filepath.Dir(j.d.f.Path()), filepath.Base(name)))
	why := fmt.Errorf("there is no %s", paths[0])
	for i, p := range paths {
		if slices.Contains(paths[:i], p) {
			continue
		}
		f, err := j.file(p)
		if err == nil {
			err = j.add(f.whole(), u, id)
			f.f.Close()
			j.open = slices.DeleteFunc(j.open, func(x *dwoFile) bool { return x == f })
			if err == nil {
				return nil
			}
		}
		if !missing(err) {
			why = err
		}
	}
	return why
}

// grow appends b to a section.
func (j *joiner) grow(name string, b []byte) (at uint64, err error) {
	at = uint64(len(j.sections[name]))
	if at+uint64(len(b)) > maxJoined {
		return 0, fmt.Errorf("the .dwo files of %s have more than %d MB of .debug_%s", j.d.f.Path(), maxJoined>>20,
			name)
	}
	j.sections[name] = append(j.sections[name], b...)
	return at, nil
}

// add appends the units of c: types, and the one that skel is the skeleton of.
func (j *joiner) add(c contribution, skel *Unit, id uint64) error {
	units, err := c.headers()
	if err != nil {
		return err
	}
	units = slices.DeleteFunc(units, func(u dwoUnit) bool {
		return !u.types && (skel == nil || u.version != skel.Version || u.version >= 5 && u.id != id)
	})
	main := 0
	for _, u := range units {
		if !u.types {
			main++
		}
	}
	switch {
	case skel != nil && main == 0:
		return fmt.Errorf("%s is that of another build", c.file.f.Path())
	case main > 1:
		return fmt.Errorf("%s has several units, which is not supported for DWARF 4", c.file.f.Path())
	}
	s := split{skel: skel, file: c.file.f.Path()}
	first, ok := j.strs[c.file]
	if !ok {
		if first, err = j.grow("str", append(slices.Clone(c.file.strs), 0)); err != nil {
			return err
		}
		j.strs[c.file] = first
	}
	if skel != nil {
		s.addrs = skel.bases.addr
		if !skel.bases.hasAddr && skel.Version >= 5 {
			s.addrs = 8
		}
	}
	version := units[0].version
	offsets, head := slices.Clone(c.sec["str_offsets"]), 0
	if version >= 5 {
		head = min(8, len(offsets))
	}
	clear(offsets[:head])
	for i := head; i+4 <= len(offsets); i += 4 {
		putLE32(offsets[i:], uint32(first)+dwread.LE32(offsets[i:]))
	}
	if s.strs, err = j.grow("str_offsets", offsets); err != nil {
		return err
	}
	s.strs += uint64(head)
	lists := "loc"
	if version >= 5 {
		lists = "loclists"
	}
	if s.locs, err = j.grow(lists, c.sec[lists]); err != nil {
		return err
	}
	if version >= 5 {
		if s.ranges, err = j.grow("rnglists", c.sec["rnglists"]); err != nil {
			return err
		}
	} else if skel != nil {
		if e, err := skel.Entry(); err == nil {
			base, _ := e.Val(attrGNURangesBase).(int64)
			s.ranges = uint64(base)
		}
	}
	tables := map[uint32]uint32{}
	for _, u := range units {
		at, ok := tables[u.abbrev]
		if !ok {
			table, err := rewriteAbbrevs(c.sec["abbrev"], u, &s, u.start == 0 && u.end == len(c.sec["info"]))
			if err != nil {
				return fmt.Errorf("%s: %w", c.file.f.Path(), err)
			}
			n, err := j.grow("abbrev", table)
			if err != nil {
				return err
			}
			at = uint32(n)
			tables[u.abbrev] = at
		}
		body := slices.Clone(c.sec["info"][u.start:u.end])
		putLE32(body[u.abbrevAt:], at)
		off, err := j.grow("info", body)
		if err != nil {
			return err
		}
		own := s
		if u.types {
			own.skel = nil
		} else {
			j.joined.replaced[skel.Off] = dwarf.Offset(off)
		}
		j.joined.units[dwarf.Offset(off)] = &own
	}
	return nil
}
