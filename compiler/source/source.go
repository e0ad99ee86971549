// Package source holds the text of scripts and answers where a byte of it is.
//
// In: file names and their bytes. Out: small integer positions (Pos) that every
// later pass carries, resolved to file, line and column only when something is
// printed. A File may be a view: text that was pasted or expanded somewhere else,
// with a chain back to the place that asked for it.
package source

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// Pos is one byte of one file of a FileSet. 0 is no position.
type Pos int32

// NoPos says that something has no place in any script.
const NoPos Pos = 0

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p > 0 }

// Span is a half-open range of positions within one file.
type Span struct{ From, To Pos }

// At makes an empty span at p.
func At(p Pos) Span { return Span{p, p} }

// File is one piece of script text.
type File struct {
	// Name is what messages call it: a path, "<input>" for -e text, "<stdin>".
	Name string
	// Text is all of it, as read.
	Text []byte
	// From is the place that pasted or expanded this text, NoPos for real files.
	From Pos
	// Why says how it came there: "argument $1", "expansion of macro @foo". Empty for real files.
	Why string
	// Library marks text of the tapset library.
	Library bool

	base  Pos
	lines []int // byte offset of each line's first byte
	marks []mark
	view  *File // the file whose text this is a part of
	voff  int   // where in view it begins
}

// Pos gives the position of byte offset off.
func (f *File) Pos(off int) Pos { return f.base + Pos(off) }

// Offset gives the byte offset of p, which must lie in f.
func (f *File) Offset(p Pos) int { return int(p - f.base) }

// Size is the length of the text in bytes.
func (f *File) Size() int { return len(f.Text) }

// Position is a resolved Pos.
type Position struct {
	File *File
	// Line and Col count from 1; Col counts characters, not bytes.
	Line, Col int
}

func (p Position) String() string {
	if p.File == nil {
		return "-"
	}
	return fmt.Sprintf("%s:%d:%d", p.File.Name, p.Line, p.Col)
}

// FileSet numbers the bytes of a set of files. The zero value is ready for use.
// It is not safe for use by several goroutines that add files.
type FileSet struct {
	files []*File
	next  Pos
}

// Add enters a file.
func (s *FileSet) Add(name string, text []byte) *File {
	return s.add(&File{Name: name, Text: text})
}

// AddView enters text[off:end] of f once more, as it stands where from asked for
// it. Positions inside print as positions of f, with a note that leads to from.
func (s *FileSet) AddView(f *File, off, end int, from Pos, why string) *File {
	v := &File{Name: f.Name, Text: f.Text[off:end], From: from, Why: why, Library: f.Library, view: f, voff: off}
	if f.view != nil {
		v.view, v.voff = f.view, f.voff+off
	}
	return s.add(v)
}

// AddPaste enters text that stands in no file, such as a script argument.
func (s *FileSet) AddPaste(name string, text []byte, from Pos, why string) *File {
	return s.add(&File{Name: name, Text: text, From: from, Why: why})
}

func (s *FileSet) add(f *File) *File {
	if s.next == 0 {
		s.next = 1
	}
	f.base = s.next
	s.next += Pos(len(f.Text)) + 1
	s.files = append(s.files, f)
	return f
}

// File finds the file that p lies in, nil if none.
func (s *FileSet) File(p Pos) *File {
	if !p.IsValid() || p >= s.next {
		return nil
	}
	i := sort.Search(len(s.files), func(i int) bool { return s.files[i].base > p }) - 1
	if i < 0 {
		return nil
	}
	return s.files[i]
}

// Position resolves p. The zero Position comes back for NoPos.
func (s *FileSet) Position(p Pos) Position {
	f := s.File(p)
	if f == nil {
		return Position{}
	}
	off := f.Offset(p)
	if f.view != nil {
		off, f = off+f.voff, f.view
	}
	line := f.lineOf(off)
	start := f.lines[line]
	return Position{File: f, Line: line + 1, Col: f.runes(start, off) + 1}
}

// A mark is a place in the text with the number of characters before it. Texts with long lines have one every few
// thousand bytes, so that finding a column does not take longer the further right it is.
type mark struct{ off, runes int }

const markEvery = 4096

// runes counts the characters from one byte to another.
func (f *File) runes(from, to int) int {
	if to-from <= markEvery || len(f.marks) == 0 {
		return utf8.RuneCount(f.Text[from:to])
	}
	before := func(off int) int {
		m := f.marks[max(0, sort.Search(len(f.marks), func(i int) bool { return f.marks[i].off > off })-1)]
		return m.runes + utf8.RuneCount(f.Text[m.off:off])
	}
	return before(to) - before(from)
}

// mark lays the marks.
func (f *File) mark() {
	m := mark{}
	for {
		f.marks = append(f.marks, m)
		next := m.off + markEvery
		for next < len(f.Text) && !utf8.RuneStart(f.Text[next]) {
			next++
		}
		if next >= len(f.Text) {
			return
		}
		m = mark{next, m.runes + utf8.RuneCount(f.Text[m.off:next])}
	}
}

// Below says whether p lies in another line than q, of the same file. A nil set has no lines.
func (s *FileSet) Below(p, q Pos) bool {
	if s == nil {
		return false
	}
	a, b := s.Position(p), s.Position(q)
	return a.File != nil && a.File == b.File && a.Line != b.Line
}

// Line gives the text of line n (from 1) without its end.
func (f *File) Line(n int) string {
	f.index()
	if n < 1 || n > len(f.lines) {
		return ""
	}
	start, end := f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Text[end-1] == '\r' {
		end--
	}
	return string(f.Text[start:end])
}

func (f *File) lineOf(off int) int {
	f.index()
	return sort.SearchInts(f.lines, off+1) - 1
}

func (f *File) index() {
	if f.lines != nil {
		return
	}
	f.lines = []int{0}
	last, long := 0, false
	for i, c := range f.Text {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
			long = long || i-last > markEvery
			last = i
		}
	}
	if long || len(f.Text)-last > markEvery {
		f.mark()
	}
}

// Chain lists the places that led to p, innermost first: the views it came
// through, each with the reason. Empty for text of a real file.
func (s *FileSet) Chain(p Pos) []Link {
	var chain []Link
	for f := s.File(p); f != nil && f.From.IsValid() && len(chain) < 16; f = s.File(f.From) {
		chain = append(chain, Link{Pos: f.From, Why: f.Why})
	}
	return chain
}

// Link is one step of a Chain.
type Link struct {
	Pos Pos
	Why string
}

// Named finds the first real file (no view, no paste) of that name, nil if there is none.
func (s *FileSet) Named(name string) *File {
	for _, f := range s.files {
		if f.Name == name && !f.From.IsValid() && f.view == nil {
			return f
		}
	}
	return nil
}

// At gives the position of a line and column, counted from 1, where a tab goes on to the next multiple of tab columns
// (as compilers count). Columns behind the line's end are its end; NoPos for lines that f does not have.
func (f *File) At(line, col, tab int) Pos {
	f.index()
	if line < 1 || line > len(f.lines) {
		return NoPos
	}
	off, at := f.lines[line-1], 1
	for at < col && off < len(f.Text) && f.Text[off] != '\n' {
		if f.Text[off] == '\t' {
			at += tab - (at-1)%tab
			off++
			continue
		}
		_, n := utf8.DecodeRune(f.Text[off:])
		at++
		off += n
	}
	return f.Pos(off)
}
