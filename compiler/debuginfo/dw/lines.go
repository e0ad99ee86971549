package dw

import (
	"debug/dwarf"
	"errors"
	"io"
	"path"

	"github.com/gostap/gostap/compiler/foreign"
)

// Row is one row of a unit's line table (DWARF 5, 6.2.2): the code from PC to the next row's
// PC comes from that line.
type Row struct {
	PC   uint64
	Line int
	file int32
	// View numbers the rows of one address, from 0. gcc's location lists tell apart what holds at
	// the statements that begin there.
	View uint16
	// Stmt: a good place for a breakpoint. PrologueEnd: the compiler says that the
	// function's frame is set up. End: the first address behind a sequence; it has no line.
	Stmt, PrologueEnd, End bool
}

const maxRows = 1 << 22

// Rows gives the line table of u. Within a sequence (up to a row with End) addresses grow;
// sequences may come in any order. It is shared: do not change it.
func (u *Unit) Rows() (rows []Row, err error) {
	defer foreign.Guard(&err)()
	if !u.rowsOK {
		u.rowsOK = true
		u.rows, u.rowsErr = u.readRows()
		u.seqs = seqsOf(u.rows)
		rows, err = u.rows, u.rowsErr
		u.d.keepRows(u)
		return rows, err
	}
	return u.rows, u.rowsErr
}

// FileOf is the file of a row of u, as the compiler recorded it.
func (u *Unit) FileOf(r Row) string {
	if r.file >= 0 && int(r.file) < len(u.files) {
		return u.files[r.file]
	}
	return ""
}

// Files lists the files that the line table of u names, by index; unused indexes are "".
func (u *Unit) Files() (files []string, err error) {
	defer foreign.Guard(&err)()
	if u.filesOK {
		return u.files, nil
	}
	lr, err := u.lineReader()
	if err != nil || lr == nil {
		return nil, err
	}
	u.setFiles(lr)
	return u.files, nil
}

// FileName is the file with the index that DW_AT_decl_file or DW_AT_call_file gives.
func (u *Unit) FileName(index int64) string {
	files, _ := u.Files()
	if index < 0 || index >= int64(len(files)) {
		return ""
	}
	return files[index]
}

func (u *Unit) setFiles(lr *dwarf.LineReader) {
	if u.filesOK {
		return
	}
	u.filesOK = true
	for _, f := range lr.Files() {
		name := ""
		if f != nil {
			name = u.absolute(f.Name)
		}
		u.files = append(u.files, name)
	}
}

// absolute puts the directory of the compilation in front of relative names. (debug/dwarf does so up to DWARF
// 4 only.)
func (u *Unit) absolute(name string) string {
	if name == "" || path.IsAbs(name) || !path.IsAbs(u.CompDir()) {
		return name
	}
	return path.Join(u.CompDir(), name)
}

// lineReader is nil when the unit has no line table.
func (u *Unit) lineReader() (*dwarf.LineReader, error) {
	e, err := u.Entry()
	if err != nil {
		return nil, err
	}
	d, err := u.d.withLines()
	if err != nil {
		return nil, err
	}
	if err := u.checkLineHeader(); err != nil {
		return nil, err
	}
	plain := *e
	plain.Offset &^= u.d.bit
	lr, err := d.LineReader(&plain)
	if err != nil {
		return nil, u.d.Corrupt("line table of unit at %#x: %v", u.Off, err)
	}
	return lr, nil
}

func (u *Unit) readRows() ([]Row, error) {
	lr, err := u.lineReader()
	if err != nil || lr == nil {
		return nil, err
	}
	u.setFiles(lr)
	index := map[*dwarf.LineFile]int32{}
	for i, f := range lr.Files() {
		if _, ok := index[f]; f != nil && !ok {
			index[f] = int32(i)
		}
	}
	var rows []Row
	var e dwarf.LineEntry
	for {
		err := lr.Next(&e)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, u.d.Corrupt("line table of unit at %#x: %v", u.Off, err)
		}
		file := int32(-1)
		if e.File != nil {
			if i, ok := index[e.File]; ok {
				file = i
			} else { // DW_LNE_define_file
				file = int32(len(u.files))
				index[e.File] = file
				u.files = append(u.files, u.absolute(e.File.Name))
			}
		}
		view := uint16(0)
		if n := len(rows); n > 0 && !rows[n-1].End && rows[n-1].PC == e.Address && rows[n-1].View < 1<<16-1 {
			view = rows[n-1].View + 1
		}
		rows = append(rows, Row{View: view, PC: e.Address, Line: e.Line, file: file, Stmt: e.IsStmt,
			PrologueEnd: e.PrologueEnd, End: e.EndSequence})
		if len(rows) > maxRows {
			return nil, u.d.Corrupt("line table of unit at %#x has too many rows", u.Off)
		}
	}
}
