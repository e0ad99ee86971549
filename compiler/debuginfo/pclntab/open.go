package pclntab

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"sort"

	"github.com/gostap/gostap/compiler/machine"
)

// ErrNone is returned by Open for files without a .gopclntab: not Go programs, or ones whose
// section headers were removed.
var ErrNone = errors.New("no .gopclntab")

// File is an ELF file as far as Open needs it.
type File interface {
	ELF() *elf.File
	Section(name string) ([]byte, error)
	// Bytes gives at most n bytes of the loaded image from addr on.
	Bytes(addr uint64, n int) ([]byte, error)
}

// sectionNames are what internal and external linking, with and without PIE, call it.
var sectionNames = []string{".gopclntab", ".data.rel.ro.gopclntab"}

// Has reports whether f has a table, by its section headers.
func Has(f *elf.File) bool {
	for _, n := range sectionNames {
		if f.Section(n) != nil {
			return true
		}
	}
	return false
}

// Open finds and reads the table of f.
func Open(f File) (*Table, error) {
	o := opener{f: f}
	for _, n := range sectionNames {
		if s := f.ELF().Section(n); s != nil {
			tab, err := f.Section(n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", n, err)
			}
			return o.open(tab, s.Addr)
		}
	}
	return nil, ErrNone
}

type opener struct {
	f      File
	relocs []reloc // sorted by place; only when hasRelocs
	loaded bool
}

// reloc is a relative relocation: the 8 bytes at place will hold value + load bias.
type reloc struct{ place, value uint64 }

// Offsets in runtime.moduledata. It begins with a pointer to the table's header and six slices; the
// text address has stayed in place from Go 1.16 on, gofunc moved when 1.20 added covctrs.
const (
	modNames     = 8 // funcnametab's pointer
	modText      = 176
	modGofunc118 = 304
	modGofunc120 = 320
	// The types that the program has for itself begin and end; 1.20 added covctrs in front of them.
	modTypes120 = 296
)

func (o *opener) open(tab []byte, addr uint64) (*Table, error) {
	h, err := ParseHeader(tab)
	if err != nil {
		return nil, err
	}
	text, gofunc := h.TextStart, uint64(0)
	var types [2]uint64
	mod := o.moduledata(addr, addr+h.offs[0])
	if mod != 0 {
		if v, ok := o.pointer(mod + modText); ok {
			text = v
		}
		switch h.Version {
		case Go118:
			gofunc, _ = o.pointer(mod + modGofunc118)
		case Go120:
			gofunc, _ = o.pointer(mod + modGofunc120)
			types[0], _ = o.pointer(mod + modTypes120)
			types[1], _ = o.pointer(mod + modTypes120 + 8)
		}
	}
	if text == 0 && h.Version != Go116 {
		text = o.symbol("runtime.text")
		if s := o.f.ELF().Section(".text"); text == 0 && s != nil {
			text = s.Addr
			// With C code in front, .text does not begin with Go's; only the entry point can tell.
			if !o.covers(tab, text, o.f.ELF().Entry) {
				return nil, fmt.Errorf("%w: cannot find where the Go code begins", ErrCorrupt)
			}
		}
	}
	t, err := New(tab, text, gofunc, o.f.Bytes)
	if err != nil {
		return nil, err
	}
	t.types = types
	if t.version == Go116 && o.relocated() {
		return nil, fmt.Errorf("%w: position-independent programs of Go 1.16 and 1.17", ErrVersion)
	}
	if err := t.check(o.f.ELF()); err != nil {
		return nil, err
	}
	return t, nil
}

// check makes sure that all functions are code, so that a wrong text address is not believed.
func (t *Table) check(f *elf.File) error {
	if t.nfunc == 0 {
		return nil
	}
	lo, hi := t.Entry(0), t.Entry(t.nfunc)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && lo >= p.Vaddr && lo < hi && hi <= p.Vaddr+p.Filesz {
			return nil
		}
	}
	return fmt.Errorf("%w: functions from %#x to %#x are not in the code of the file", ErrCorrupt, lo, hi)
}

// covers reports whether the ELF entry point is the entry of a function when the code begins at text.
func (o *opener) covers(tab []byte, text, entry uint64) bool {
	t, err := New(tab, text, 0, o.f.Bytes)
	if err != nil {
		return false
	}
	i := t.Find(entry)
	return i >= 0 && t.Entry(i) == entry
}

func (o *opener) relocated() bool { return o.f.ELF().Type == elf.ET_DYN }

// moduledata finds runtime.firstmoduledata: in its own section from Go 1.26 on, by its symbol, or
// as the place in writable data that holds the addresses of the table and of the table's names. 0 if not found.
func (o *opener) moduledata(tab, names uint64) uint64 {
	ok := func(at uint64) bool {
		a, ok1 := o.pointer(at)
		b, ok2 := o.pointer(at + modNames)
		return ok1 && ok2 && a == tab && b == names
	}
	if s := o.f.ELF().Section(".go.module"); s != nil && ok(s.Addr) {
		return s.Addr
	}
	if at := o.symbol("runtime.firstmoduledata"); at != 0 && ok(at) {
		return at
	}
	if o.relocated() {
		for _, r := range o.relocations() {
			if r.value == tab && ok(r.place) {
				return r.place
			}
		}
	}
	var want [8]byte
	le.PutUint64(want[:], tab)
	for _, p := range o.f.ELF().Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		b, err := o.f.Bytes(p.Vaddr, int(min(p.Filesz, 1<<30)))
		if err != nil {
			continue
		}
		for at := 0; ; {
			i := bytes.Index(b[at:], want[:])
			if i < 0 {
				break
			}
			at += i
			if at%8 == 0 && ok(p.Vaddr+uint64(at)) {
				return p.Vaddr + uint64(at)
			}
			at++
		}
	}
	return 0
}

// pointer reads the pointer at addr as the loader will leave it, less the load bias.
func (o *opener) pointer(addr uint64) (uint64, bool) {
	if o.relocated() {
		rs := o.relocations()
		i := sort.Search(len(rs), func(i int) bool { return rs[i].place >= addr })
		if i < len(rs) && rs[i].place == addr {
			return rs[i].value, true
		}
	}
	b, err := o.f.Bytes(addr, 8)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	v := le.Uint64(b)
	return v, v != 0
}

// relocations are the file's relative ones, from the SHT_RELA sections that are loaded.
func (o *opener) relocations() []reloc {
	if o.loaded {
		return o.relocs
	}
	o.loaded = true
	e := o.f.ELF()
	m, err := machine.ForELF(e.Class, e.Data, e.Machine)
	if err != nil {
		return nil
	}
	relative := m.Relocs.Relative
	sorted := true
	for _, s := range o.f.ELF().Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := o.f.Bytes(s.Addr, int(min(s.Size, 1<<30)))
		if err != nil {
			continue
		}
		for ; len(b) >= 24; b = b[24:] { // Elf64_Rela: offset, info, addend
			if le.Uint32(b[8:]) == relative {
				r := reloc{le.Uint64(b), le.Uint64(b[16:])}
				sorted = sorted && (len(o.relocs) == 0 || o.relocs[len(o.relocs)-1].place <= r.place)
				o.relocs = append(o.relocs, r)
			}
		}
	}
	if !sorted {
		sort.Slice(o.relocs, func(i, j int) bool { return o.relocs[i].place < o.relocs[j].place })
	}
	return o.relocs
}

// symbol finds the address of a symbol by a plain scan: one look-up does not pay for an index.
func (o *opener) symbol(name string) uint64 {
	syms, err := o.f.Section(".symtab")
	if err != nil {
		return 0
	}
	strs, err := o.f.Section(".strtab")
	if err != nil {
		return 0
	}
	needle := append(append([]byte{0}, name...), 0)
	at := bytes.Index(strs, needle)
	if at < 0 {
		return 0
	}
	for ; len(syms) >= 24; syms = syms[24:] { // Elf64_Sym: name, info, other, shndx, value, size
		if le.Uint32(syms) == uint32(at+1) {
			return le.Uint64(syms[8:])
		}
	}
	return 0
}
