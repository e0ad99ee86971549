package elftest

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"math/rand/v2"
	"strings"
)

// Mutator damages copies of one file where its structure says that it hurts.
type Mutator struct {
	good     []byte
	sections []region
	dies     []uint64 // entries in .debug_info, by their place in it
	units    []uint64 // and units
	programs []uint64 // line programs in .debug_line
	info     region
	line     region
	shoff    uint64
	shnum    int
	phoff    uint64
	phnum    int
}

// region is a section in the file.
type region struct {
	name     string
	off, len int
}

// NewMutator looks at a sound file.
func NewMutator(good []byte) (*Mutator, error) {
	f, err := elf.NewFile(bytes.NewReader(good))
	if err != nil {
		return nil, err
	}
	m := &Mutator{good: good, shoff: le.Uint64(good[0x28:]), shnum: len(f.Sections), phoff: le.Uint64(good[0x20:]),
		phnum: len(f.Progs)}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOBITS || s.FileSize == 0 || s.Offset+s.FileSize > uint64(len(good)) {
			continue
		}
		r := region{s.Name, int(s.Offset), int(s.FileSize)}
		m.sections = append(m.sections, r)
		switch {
		case s.Flags&elf.SHF_COMPRESSED != 0:
		case s.Name == ".debug_info":
			m.info = r
		case s.Name == ".debug_line":
			m.line = r
		}
	}
	if d, err := f.DWARF(); err == nil && m.info.len > 0 {
		r := d.Reader()
		for len(m.dies) < 50000 {
			e, err := r.Next()
			if err != nil || e == nil {
				break
			}
			m.dies = append(m.dies, uint64(e.Offset))
			if e.Tag == dwarf.TagCompileUnit {
				m.units = append(m.units, uint64(e.Offset))
				if at, ok := e.Val(dwarf.AttrStmtList).(int64); ok {
					m.programs = append(m.programs, uint64(at))
				}
			}
		}
	}
	return m, nil
}

// odd are numbers at which sizes, counts and offsets break.
var odd = []uint64{0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 1 << 32,
	1 << 40, 1<<63 - 1, 1 << 63, ^uint64(0) - 7, ^uint64(0)}

func number(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return r.Uint64() >> r.IntN(64)
	}
	return odd[r.IntN(len(odd))]
}

// put writes a number of some size at a place.
func put(r *rand.Rand, b []byte, at int) {
	v := number(r)
	for i := range 1 << r.IntN(4) {
		if at+i < 0 || at+i >= len(b) {
			return
		}
		b[at+i] = byte(v >> (8 * i))
	}
}

// Mutate gives a damaged copy, and says in words what was done to it.
func (m *Mutator) Mutate(r *rand.Rand) (out []byte, what string) {
	out = bytes.Clone(m.good)
	var did []string
	for range 1 + r.IntN(4) {
		did = append(did, m.once(r, &out))
	}
	return out, strings.Join(did, ", ")
}

func (m *Mutator) once(r *rand.Rand, img *[]byte) string {
	b := *img
	switch k := r.IntN(20); {
	case k == 0: // the file's header
		put(r, b, 16+r.IntN(48))
		return "file header"
	case k == 1: // a section's header
		put(r, b, int(m.shoff)+64*r.IntN(max(m.shnum, 1))+4*r.IntN(16))
		return "section header"
	case k == 2: // a segment's header
		put(r, b, int(m.phoff)+56*r.IntN(max(m.phnum, 1))+4*r.IntN(14))
		return "program header"
	case k == 3 && r.IntN(4) == 0: // the file ends early
		*img = b[:64+r.IntN(len(b)-64)]
		return "cut"
	case k == 4 && len(m.dies) > 0: // an entry refers to another, or is of another kind
		at := m.info.off + int(m.dies[r.IntN(len(m.dies))])
		to := m.dies[r.IntN(len(m.dies))]
		switch r.IntN(3) {
		case 0:
			if at < len(b) {
				b[at] = byte(r.IntN(128))
			}
		case 1:
			if at += 1 + r.IntN(20); at+4 <= len(b) {
				le.PutUint32(b[at:], uint32(to))
			}
		case 2: // a tree inside itself
			if n := 1 + r.IntN(64); at+n <= len(b) && m.info.off+int(to)+n <= len(b) {
				copy(b[at:at+n], b[m.info.off+int(to):])
			}
		}
		return "entries"
	case k == 5 && len(m.units) > 0: // a unit's header
		put(r, b, m.info.off+int(m.units[r.IntN(len(m.units))])-1-r.IntN(24))
		return "unit header"
	case k == 6 && len(m.programs) > 0: // a line program's header, and what follows
		put(r, b, m.line.off+int(m.programs[r.IntN(len(m.programs))])+r.IntN(120))
		return "line program"
	}
	if len(m.sections) == 0 {
		return "nothing"
	}
	s := m.sections[r.IntN(len(m.sections))]
	// Code and data are most of a file and the least of a reader's worries, except where the runtime's tables begin.
	for try := 0; try < 3 && (s.name == ".text" || s.name == ".rodata"); try++ {
		s = m.sections[r.IntN(len(m.sections))]
	}
	at := r.IntN(s.len)
	if r.IntN(2) == 0 {
		at = r.IntN(min(s.len, 256)) // headers of tables
	}
	at += s.off
	if at >= len(b) {
		return "nothing"
	}
	end := min(s.off+s.len, len(b))
	switch r.IntN(6) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
	case 1:
		put(r, b[:end], at)
	case 2: // a number in LEB128 that never seems to end
		for i := at; i < min(end, at+1+r.IntN(12)); i++ {
			b[i] = 0xff
		}
	case 3: // the same again
		from := s.off + r.IntN(s.len)
		n := 1 + r.IntN(64)
		if from+n <= end && at+n <= end {
			copy(b[at:at+n], b[from:from+n])
		}
	case 4: // a hole
		clear(b[at:min(end, at+1+r.IntN(256))])
	case 5: // another section's bytes
		o := m.sections[r.IntN(len(m.sections))]
		if o.off+o.len <= len(b) {
			copy(b[at:end], b[o.off:o.off+min(o.len, 1+r.IntN(512))])
		}
	}
	return s.name
}
