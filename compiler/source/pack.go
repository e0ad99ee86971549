package source

import (
	"encoding/binary"
	"errors"
)

// A packed FileSet resolves the same positions as the one it was made from, but of the texts it holds
// only the lines that some positions lie in; all other bytes are spaces. It is for programs that leave the
// machine they were translated on. The form, with numbers as in encoding/binary's Uvarint:
//
//	number of files, then of each: name, why (both a length and bytes), from, flags (1 library),
//	1 + number of the file it is a view of or 0, offset in that, length of its text,
//	then of files that are no views: parts (a number), each as offset, length, bytes

// maxPacked bounds the texts of a packed set.
const maxPacked = 64 << 20

// Pack appends the packed form of s with the lines of the positions in keep to b.
func (s *FileSet) Pack(b []byte, keep []Pos) []byte {
	lines := map[*File]map[int]bool{}
	for _, p := range keep {
		for f := s.File(p); f != nil; f = s.File(f.From) {
			real, off := f, f.Offset(p)
			if f.view != nil {
				real, off = f.view, off+f.voff
			}
			if lines[real] == nil {
				lines[real] = map[int]bool{}
			}
			n := real.lineOf(off)
			if lines[real][n] || !f.From.IsValid() {
				lines[real][n] = true
				break
			}
			lines[real][n] = true
			p = f.From
		}
	}
	number := map[*File]int{}
	text := func(t string) { b = append(binary.AppendUvarint(b, uint64(len(t))), t...) }
	b = binary.AppendUvarint(b, uint64(len(s.files)))
	for i, f := range s.files {
		number[f] = i + 1
		text(f.Name)
		text(f.Why)
		b = binary.AppendUvarint(b, uint64(f.From))
		flags := uint64(0)
		if f.Library {
			flags = 1
		}
		b = binary.AppendUvarint(b, flags)
		b = binary.AppendUvarint(b, uint64(number[f.view]))
		b = binary.AppendUvarint(b, uint64(f.voff))
		b = binary.AppendUvarint(b, uint64(len(f.Text)))
		if f.view != nil {
			continue
		}
		var parts [][2]int
		f.index()
		for n, start := range f.lines {
			end := len(f.Text)
			if n+1 < len(f.lines) {
				end = f.lines[n+1]
			}
			if !lines[f][n] {
				if n+1 == len(f.lines) {
					continue
				}
				start = end - 1 // the line's end only
			}
			if start == end {
				continue
			}
			if k := len(parts); k > 0 && parts[k-1][1] == start {
				parts[k-1][1] = end
			} else {
				parts = append(parts, [2]int{start, end})
			}
		}
		b = binary.AppendUvarint(b, uint64(len(parts)))
		at := 0
		for _, p := range parts {
			b = binary.AppendUvarint(b, uint64(p[0]-at))
			text(string(f.Text[p[0]:p[1]]))
			at = p[1]
		}
	}
	return b
}

var errPacked = errors.New("damaged list of script files")

// Unpack reads what Pack wrote, and gives what follows it.
func Unpack(b []byte) (*FileSet, []byte, error) {
	bad := false
	num := func(most uint64) uint64 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > most {
			bad = true
			return 0
		}
		b = b[k:]
		return n
	}
	text := func() []byte {
		n := num(uint64(len(b)))
		if bad || n > uint64(len(b)) {
			bad = true
			return nil
		}
		t := b[:n]
		b = b[n:]
		return t
	}
	s := new(FileSet)
	total := uint64(0)
	for range num(1 << 20) {
		f := &File{Name: string(text()), Why: string(text()), From: Pos(num(1<<31 - 1))}
		f.Library = num(1) == 1
		view := num(uint64(len(s.files)))
		off := num(maxPacked)
		size := num(maxPacked)
		if total += size; bad || total > maxPacked {
			return nil, nil, errPacked
		}
		if view > 0 {
			f.view, f.voff = s.files[view-1], int(off)
			if f.view.view != nil || off+size > uint64(len(f.view.Text)) {
				return nil, nil, errPacked
			}
			f.Text = f.view.Text[off : off+size]
			s.add(f)
			continue
		}
		f.Text = make([]byte, size)
		for i := range f.Text {
			f.Text[i] = ' '
		}
		at := uint64(0)
		for range num(size) {
			at += num(maxPacked)
			t := text()
			if bad || at+uint64(len(t)) > size {
				return nil, nil, errPacked
			}
			at += uint64(copy(f.Text[at:], t))
		}
		if bad {
			return nil, nil, errPacked
		}
		s.add(f)
	}
	if bad {
		return nil, nil, errPacked
	}
	return s, b, nil
}
