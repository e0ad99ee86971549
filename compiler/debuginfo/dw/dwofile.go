package dw

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
)

// dwoSections are the sections that .dwo files add to, and those that the indexes of a package name.
var dwoSections = []string{"info", "abbrev", "str", "str_offsets", "loc", "loclists", "rnglists"}

// dwoFile is a .dwo file, or a .dwp package of several.
type dwoFile struct {
	f    *elffile.File
	strs []byte
	sec  map[string][]byte

	units     map[uint64]contribution // of a package, by the number of the skeleton
	typeUnits []contribution
	typed     bool // those have been added
}

// contribution is what one unit, or a file with its type units, has of each section.
type contribution struct {
	file *dwoFile
	sec  map[string][]byte
}

// missing says that there is no such file.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// file opens a .dwo file or a package.
func (j *joiner) file(path string) (*dwoFile, error) {
	f, err := elffile.OpenSupplement(path)
	if err != nil {
		return nil, err
	}
	x := &dwoFile{f: f, sec: map[string][]byte{}}
	for _, name := range dwoSections {
		b, err := f.Optional(".debug_" + name + ".dwo")
		if err != nil {
			f.Close()
			return nil, err
		}
		if len(b) > maxJoined {
			f.Close()
			return nil, fmt.Errorf("%s: %w: section of more than %d MB", path, foreign.ErrCorrupt, maxJoined>>20)
		}
		x.sec[name] = b
	}
	if len(x.sec["info"]) == 0 {
		f.Close()
		return nil, fmt.Errorf("%s has no debug information (.debug_info.dwo)", f.Path())
	}
	x.strs = x.sec["str"]
	if x.sec["info"], err = f.AllOf(".debug_info.dwo", x.sec["info"], maxJoined); err != nil {
		f.Close()
		return nil, err
	}
	j.open = append(j.open, x)
	return x, nil
}

func (f *dwoFile) whole() contribution { return contribution{f, f.sec} }

// index reads the indexes of a package (DWARF 5, 7.3.5; version 2 is that of DWARF 4).
func (f *dwoFile) index() error {
	f.units = map[uint64]contribution{}
	for _, name := range []string{".debug_cu_index", ".debug_tu_index"} {
		b, err := f.f.Optional(name)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			continue
		}
		r := &dwread.Reader{Bytes: b}
		version := r.U32() // of DWARF 5: 2 bytes and 2 of padding
		columns, rows, slots := uint64(r.U32()), uint64(r.U32()), uint64(r.U32())
		names := map[uint32]string{1: "info", 3: "abbrev", 5: "loc", 6: "str_offsets"}
		switch version {
		case 2:
		case 5:
			names[5], names[8] = "loclists", "rnglists"
		default:
			return fmt.Errorf("%s: index of version %d", f.f.Path(), version)
		}
		if columns > 16 || rows > slots || slots > uint64(len(b))/12 || slots*12+columns*4*(1+2*rows)+
			16 > uint64(len(b)) {
			return fmt.Errorf("%s: %w: %s", f.f.Path(), foreign.ErrCorrupt, name)
		}
		ids, index := r.Off, r.Off+int(slots)*8
		head := index + int(slots)*4
		offsets, sizes := head+int(columns)*4, head+int(columns*(1+rows))*4
		for i := range int(slots) {
			row := uint64(dwread.LE32(b[index+4*i:]))
			if row == 0 || row > rows {
				continue
			}
			c := contribution{f, map[string][]byte{}}
			for k := range int(columns) {
				cell := (int(row-1)*int(columns) + k) * 4
				what := names[dwread.LE32(b[head+4*k:])]
				off, size, sec := uint64(dwread.LE32(b[offsets+cell:])), uint64(dwread.LE32(b[sizes+cell:])),
					f.sec[what]
				if what == "" {
					continue
				}
				if off+size > uint64(len(sec)) {
					return fmt.Errorf("%s: %w: %s has a part outside of .debug_%s.dwo", f.f.Path(), foreign.ErrCorrupt,
						name,
						what)
				}
				c.sec[what] = sec[off : off+size]
			}
			if len(c.sec["info"]) == 0 {
				continue // of DWARF 4: .debug_types
			}
			if name == ".debug_cu_index" {
				f.units[dwread.LE64(b[ids+8*i:])] = c
			} else {
				f.typeUnits = append(f.typeUnits, c)
			}
		}
	}
	return nil
}

// dwoUnit is the header of a unit in a .dwo file.
type dwoUnit struct {
	start, end, abbrevAt int // abbrevAt counts from start
	version              int
	abbrev               uint32
	id                   uint64 // of DWARF 5
	types                bool
}

// headers reads the headers of the units of c.
func (c contribution) headers() (units []dwoUnit, err error) {
	info := c.sec["info"]
	r := &dwread.Reader{Bytes: info}
	for r.Off < len(info) {
		u := dwoUnit{start: r.Off}
		n, dwarf64 := r.UnitLength()
		if r.Err != nil || dwarf64 || n < 8 || n > uint64(len(info)-r.Off) {
			return nil, fmt.Errorf("%s: %w: unit at %#x has an impossible length", c.file.f.Path(), foreign.ErrCorrupt,
				u.start)
		}
		u.end = r.Off + int(n)
		u.version = int(r.U16())
		size := uint8(0)
		switch u.version {
		case 4:
			u.abbrevAt = r.Off - u.start
			u.abbrev, size = r.U32(), r.U8()
		case 5:
			kind := r.U8()
			size = r.U8()
			u.abbrevAt = r.Off - u.start
			u.abbrev, u.id = r.U32(), r.U64()
			u.types = kind == utSplitType
		default:
			return nil, fmt.Errorf("%s has a unit of DWARF version %d", c.file.f.Path(), u.version)
		}
		if r.Err != nil || size != 8 || r.Off > u.end || len(units) > maxUnits {
			return nil, fmt.Errorf("%s: %w: unit at %#x", c.file.f.Path(), foreign.ErrCorrupt, u.start)
		}
		if len(units) > 0 && units[0].version != u.version {
			return nil, fmt.Errorf("%s has units of different versions of DWARF", c.file.f.Path())
		}
		r.Off = u.end
		units = append(units, u)
	}
	return units, nil
}

// rewriteAbbrevs copies the abbreviations of a unit; those of units also say what the entries of s count from.
// alone says that there is no other unit in the file.
func rewriteAbbrevs(sec []byte, u dwoUnit, s *split, alone bool) (out []byte, err error) {
	if uint64(u.abbrev) >= uint64(len(sec)) {
		return nil, fmt.Errorf("%w: abbreviations at %#x", foreign.ErrCorrupt, u.abbrev)
	}
	r := &dwread.Reader{Bytes: sec, Off: int(u.abbrev)}
	for {
		code := r.Uleb()
		out = binary.AppendUvarint(out, code)
		if code == 0 || r.Err != nil {
			return out, r.Err
		}
		tag := r.Uleb()
		out = append(binary.AppendUvarint(out, tag), r.U8())
		for {
			at, form := r.Uleb(), r.Uleb()
			if at == 0 && form == 0 || r.Err != nil {
				break
			}
			to, err := rewriteForm(form, u.version, alone)
			if err != nil {
				return nil, err
			}
			out = binary.AppendUvarint(binary.AppendUvarint(out, at), to)
			if form == dwread.FormImplicitConst {
				out = appendSLEB(out, r.Sleb())
			}
		}
		if t := dwarf.Tag(tag); u.version >= 5 &&
			(t == dwarf.TagCompileUnit || t == dwarf.TagTypeUnit || t == dwarf.TagPartialUnit) {
			for _, base := range []struct {
				at dwarf.Attr
				n  uint64
			}{
				{dwarf.AttrStrOffsetsBase, s.strs}, {dwarf.AttrAddrBase, s.addrs},
				{dwarf.AttrLoclistsBase, s.locs + loclistsHead},
				{dwarf.AttrRnglistsBase, s.ranges + loclistsHead},
			} {
				out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(base.at)), dwread.FormImplicitConst)
				out = appendSLEB(out, int64(base.n))
			}
		}
		out = append(out, 0, 0)
	}
}

// rewriteForm is the form that a joined unit has instead of one of a .dwo file, of the same size. Indexes of DWARF
// 4 are of GNU forms, which debug/dwarf does not know, nor has it bases for them: it reads formLoclistx as a
// number, and Unit.indexed resolves it.
func rewriteForm(form uint64, version int, alone bool) (uint64, error) {
	switch form {
	case dwread.FormGNUStrIndex, dwread.FormGNUAddrIndex:
		if version < 5 {
			return dwread.FormLoclistx, nil
		}
	case dwread.FormRefAddr:
		if alone {
			return dwread.FormRef4, nil
		}
	case dwread.FormStrp, dwread.FormLineStrp, dwread.FormStrpSup, dwread.FormGNUStrpAlt, dwread.FormGNURefAlt,
		dwread.FormRefSup4, dwread.FormRefSup8, dwread.FormIndirect:
	case dwread.FormLoclistx, dwread.FormRnglistx, dwread.FormStrx, dwread.FormStrx1, dwread.FormStrx2,
		dwread.FormStrx3, dwread.FormStrx4, dwread.FormAddrx, dwread.FormAddrx1,
		dwread.FormAddrx2, dwread.FormAddrx3, dwread.FormAddrx4:
		if version >= 5 {
			return form, nil
		}
	default:
		if form <= math.MaxUint16 {
			return form, nil
		}
	}
	return 0, fmt.Errorf("form %#x is not supported in .dwo files", form)
}

// appendSLEB appends a signed LEB128 number.
func appendSLEB(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func putLE32(b []byte, n uint32) { binary.LittleEndian.PutUint32(b, n) }
