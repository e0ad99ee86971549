package dw

import (
	"debug/dwarf"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
)

// Data is the DWARF of one file.
type Data struct {
	f   *elffile.File // the program
	src *elffile.File // the file with the debug sections: f, or its detached debug file
	d   *dwarf.Data
	// lines is like d with .debug_line, which is inflated only when asked for.
	lines    *dwarf.Data
	linesErr error
	linesOK  bool

	units    []*Unit
	unitsErr error
	unitsOK  bool
	pcs      pcIndex

	joined  *joined      // with what .dwo files have, nil if there are none; see split.go
	linked  bool         // entries may refer to a supplementary file, see alt.go
	bit     dwarf.Offset // of all offsets of a supplementary file
	altData *Data
	altErr  error
	altOK   bool

	// what is kept, see limits.go
	treeOwners, rowOwners []*Unit
	treesHeld, rowsHeld   int

	abbrevs map[abbrevKey]*abbrevTable
}

// Open reads the DWARF of f, which is in the file or in its detached debug file. The error wraps
// debuginfo.ErrNoTypes when there is none, and says more otherwise.
func Open(f *elffile.File) (d *Data, err error) {
	defer foreign.Guard(&err)()
	src := f
	if !f.HasSection(".debug_info") {
		if src = f.Detached(); src == nil || !src.HasSection(".debug_info") {
			return nil, fmt.Errorf("%s: %w", f.Path(), debuginfo.ErrNoTypes)
		}
	}
	d = &Data{linked: src.HasSection(".gnu_debugaltlink"), f: f, src: src}
	src.Prefetch(".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_addr", ".debug_rnglists",
		".debug_ranges", ".debug_str_offsets")
	if _, err := d.Units(); err != nil { // debug/dwarf reads their headers without a limit
		return nil, err
	}
	// An uncompressed .debug_line costs nothing; a compressed one waits for Unit.Rows.
	var line []byte
	if src.HasSection(".debug_line") && !src.Compressed(".debug_line") {
		if line, err = src.Optional(".debug_line"); err != nil {
			return nil, err
		}
		d.linesOK = true
	}
	d.d, err = d.newDwarf(line)
	if err != nil {
		return nil, err
	}
	if d.linesOK {
		d.lines = d.d
	}
	return d, d.joinSplit(line)
}

func (d *Data) newDwarf(line []byte) (*dwarf.Data, error) {
	path := d.src.Path()
	sec := map[string][]byte{}
	for _, n := range []string{"info", "abbrev", "str", "ranges", "addr", "line_str", "str_offsets", "rnglists"} {
		b, err := d.optional(".debug_" + n)
		if err != nil {
			return nil, err
		}
		if n == "abbrev" && len(b) > maxAbbrevSection {
			return nil, fmt.Errorf("%s: %w: %d MB of abbreviations", path, foreign.ErrCorrupt, len(b)>>20)
		}
		if (n == "str" || n == "line_str") && longName(b) {
			return nil, fmt.Errorf("%s: %w: a name in .debug_%s has more than %d bytes", path, foreign.ErrCorrupt, n,
				1<<20)
		}
		sec[n] = b
	}
	x, err := dwarf.New(sec["abbrev"], nil, nil, sec["info"], line, nil, sec["ranges"], sec["str"])
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, foreign.ErrCorrupt, err)
	}
	for _, n := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if len(sec[n]) > 0 {
			if err := x.AddSection(".debug_"+n, sec[n]); err != nil {
				return nil, fmt.Errorf("%s: %w: %v", path, foreign.ErrCorrupt, err)
			}
		}
	}
	return x, nil
}

// DWARF gives the standard library's view.
func (d *Data) DWARF() *dwarf.Data { return d.d }

// File is the program that d describes.
func (d *Data) File() *elffile.File { return d.f }

// withLines gives a dwarf.Data that has .debug_line.
func (d *Data) withLines() (*dwarf.Data, error) {
	if !d.linesOK {
		d.linesOK = true
		line, err := d.src.Optional(".debug_line")
		if err == nil {
			d.lines, err = d.newDwarf(line)
		}
		d.linesErr = err
	}
	return d.lines, d.linesErr
}
