package obj

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// Numbers of the ELF format (the System V ABI) and of its use for BPF (Documentation/bpf/llvm_reloc.rst).
const (
	emBPF       = 247
	shtProgbits = 1
	shtSymtab   = 2
	shtStrtab   = 3
	shtRel      = 9
	shfWrite    = 1
	shfAlloc    = 2
	shfExec     = 4
	shfInfoLink = 0x40
	stbLocal    = 0
	stbGlobal   = 1
	sttObject   = 1
	sttFunc     = 2
	sttSection  = 3
	relData     = 1  // R_BPF_64_64: a 64-bit load
	relCall     = 10 // R_BPF_64_32: a call

	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24
	relSize     = 16
)

// section is one section, and the relocations of its data.
type section struct {
	name  string
	typ   uint32
	flags uint64
	align uint64
	data  []byte
	rels  []rel
	// set while writing
	index, link, info uint32
	entry             uint64
}

type rel struct {
	off uint64
	sym int // as symbol returned it
	typ uint32
}

type symbol struct {
	name        string
	info        byte
	sec         *section
	value, size uint64
}

// elfFile collects a relocatable object.
type elfFile struct {
	secs []*section
	syms []*symbol
}

func (f *elfFile) add(s *section) *section {
	f.secs = append(f.secs, s)
	return s
}

// symbol enters s and gives its number; what it lies in may be filled in later.
func (f *elfFile) symbol(s *symbol) int {
	f.syms = append(f.syms, s)
	return len(f.syms) - 1
}

// strTab is a table of strings that end with zeros.
type strTab struct{ b []byte }

func (t *strTab) add(s string) uint32 {
	if len(t.b) == 0 {
		t.b = []byte{0}
	}
	if s == "" {
		return 0
	}
	n := len(t.b)
	t.b = append(append(t.b, s...), 0)
	return uint32(n)
}

// bytes lays the file out: header, sections, section headers.
func (f *elfFile) bytes() []byte {
	var strs strTab
	strs.add("")
	// Local symbols come first.
	order := make([]int, len(f.syms))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return f.syms[order[a]].info>>4 < f.syms[order[b]].info>>4 })
	number := make([]uint32, len(f.syms))
	locals := uint32(1)
	for i, o := range order {
		number[o] = uint32(i + 1)
		if f.syms[o].info>>4 == stbLocal {
			locals = uint32(i + 2)
		}
	}

	secs := []*section{{}}
	for _, s := range f.secs {
		s.index = uint32(len(secs))
		secs = append(secs, s)
	}
	symtab := &section{name: ".symtab", typ: shtSymtab, align: 8, entry: symbolSize, info: locals}
	strtab := &section{name: ".strtab", typ: shtStrtab, align: 1}
	for _, s := range f.secs {
		if len(s.rels) == 0 {
			continue
		}
		sort.SliceStable(s.rels, func(a, b int) bool { return s.rels[a].off < s.rels[b].off })
		r := &section{name: ".rel" + s.name, typ: shtRel, flags: shfInfoLink, align: 8, entry: relSize, info: s.index}
		for _, x := range s.rels {
			r.data = binary.LittleEndian.AppendUint64(r.data, x.off)
			r.data = binary.LittleEndian.AppendUint64(r.data, uint64(number[x.sym])<<32|uint64(x.typ))
		}
		secs = append(secs, r)
	}
	symtab.index = uint32(len(secs))
	strtab.index = symtab.index + 1
	secs = append(secs, symtab, strtab)
	for _, s := range secs {
		if s.typ == shtRel {
			s.link = symtab.index
		}
	}
	symtab.link = strtab.index

	symtab.data = make([]byte, symbolSize)
	for _, o := range order {
		s := f.syms[o]
		b := binary.LittleEndian.AppendUint32(nil, strs.add(s.name))
		b = append(b, s.info, 0)
		ndx := uint16(0)
		if s.sec != nil {
			ndx = uint16(s.sec.index)
		}
		b = binary.LittleEndian.AppendUint16(b, ndx)
		b = binary.LittleEndian.AppendUint64(b, s.value)
		b = binary.LittleEndian.AppendUint64(b, s.size)
		symtab.data = append(symtab.data, b...)
	}
	names := make([]uint32, len(secs))
	for i, s := range secs {
		names[i] = strs.add(s.name)
	}
	strtab.data = strs.b

	var out bytes.Buffer
	out.Write(make([]byte, headerSize))
	offs := make([]uint64, len(secs))
	for i, s := range secs {
		if i == 0 {
			continue
		}
		for s.align > 1 && uint64(out.Len())%s.align != 0 {
			out.WriteByte(0)
		}
		offs[i] = uint64(out.Len())
		out.Write(s.data)
	}
	for out.Len()%8 != 0 {
		out.WriteByte(0)
	}
	shoff := uint64(out.Len())
	for i, s := range secs {
		h := binary.LittleEndian.AppendUint32(nil, names[i])
		h = binary.LittleEndian.AppendUint32(h, s.typ)
		h = binary.LittleEndian.AppendUint64(h, s.flags)
		h = binary.LittleEndian.AppendUint64(h, 0)
		h = binary.LittleEndian.AppendUint64(h, offs[i])
		h = binary.LittleEndian.AppendUint64(h, uint64(len(s.data)))
		h = binary.LittleEndian.AppendUint32(h, s.link)
		h = binary.LittleEndian.AppendUint32(h, s.info)
		h = binary.LittleEndian.AppendUint64(h, s.align)
		h = binary.LittleEndian.AppendUint64(h, s.entry)
		out.Write(h)
	}
	b := out.Bytes()
	copy(b, "\x7fELF\x02\x01\x01") // 64 bits, little-endian, version 1
	le := binary.LittleEndian
	le.PutUint16(b[16:], 1) // relocatable
	le.PutUint16(b[18:], emBPF)
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[40:], shoff)
	le.PutUint16(b[52:], headerSize)
	le.PutUint16(b[58:], sectionSize)
	le.PutUint16(b[60:], uint16(len(secs)))
	le.PutUint16(b[62:], uint16(strtab.index))
	return b
}
