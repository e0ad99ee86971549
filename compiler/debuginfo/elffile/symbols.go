package elffile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// Symbol is one function or data symbol.
type Symbol struct {
	Name       string // without version
	Addr, Size uint64
	Kind       elf.SymType
	Global     bool // visible outside its file (STB_GLOBAL, STB_WEAK)
}

// Func reports whether the symbol is code that calls reach. (Indirect functions are not: their
// address is that of the resolver, which runs once.)
func (s Symbol) Func() bool { return s.Kind == elf.STT_FUNC }

// Indirect reports whether the symbol is an indirect function (STT_GNU_IFUNC).
func (s Symbol) Indirect() bool { return s.Kind == elf.STT_GNU_IFUNC }

// Object reports whether the symbol is data, other than thread-local.
func (s Symbol) Object() bool { return s.Kind == elf.STT_OBJECT }

// Code reports whether the symbol is code of any kind: a function, a label of assembly, or the resolver of
// an indirect function.
func (s Symbol) Code() bool {
	return s.Kind == elf.STT_FUNC || s.Kind == elf.STT_NOTYPE || s.Kind == elf.STT_GNU_IFUNC
}

// Symbols that are believed; real files have 3 million.
const (
	maxSymbolCount = 6 << 20
	maxSymbolText  = 512 << 20 // bytes of their names
)

type symbolTable struct {
	done   bool
	err    error
	all    []Symbol         // by address, then size (largest first), then name
	byName map[string]int32 // the first of that name, + 1
	next   []int32          // the next of the same name, + 1
}

// Symbols lists the defined symbols of .symtab (of the file, else of its detached debug file) and
// .dynsym, sorted by address. The slice is shared.
func (f *File) Symbols() (syms []Symbol, err error) {
	defer foreign.Guard(&err)()
	if !f.syms.done {
		f.syms.done = true
		f.syms.all, f.syms.err = f.readSymbols(nil)
	}
	return f.syms.all, f.syms.err
}

// readSymbols reads the symbols that keep is true for, all where it is nil.
func (f *File) readSymbols(keep func(*Symbol) bool) ([]Symbol, error) {
	var all []Symbol
	add := func(g *File, table, strs string) error {
		tab, err := g.Section(table)
		if err != nil {
			return nil // absent: stripped
		}
		sb, err := g.Section(strs)
		if err != nil {
			return nil
		}
		if len(tab)/24 > maxSymbolCount || len(sb) > maxSymbolText {
			return fmt.Errorf("%s: %w: %d symbols with %d MB of names", g.path, foreign.ErrCorrupt, len(tab)/24,
				len(sb)>>20)
		}
		more := parseSymbols(tab, sb, g.elf.Sections, keep)
		if len(all) == 0 {
			all = more
		} else {
			all = append(all, more...)
		}
		return nil
	}
	var err error
	if f.HasSection(".symtab") {
		err = add(f, ".symtab", ".strtab")
	} else if d := f.Detached(); d != nil {
		err = add(d, ".symtab", ".strtab")
	}
	if err := errors.Join(err, add(f, ".dynsym", ".dynstr")); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Symbol) int {
		if c := cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Size, a.Size)); c != 0 {
			return c // most addresses have one name, and comparing those is the work
		}
		return strings.Compare(a.Name, b.Name)
	})
	return slices.CompactFunc(all, func(a, b Symbol) bool { return a.Addr == b.Addr && a.Name == b.Name }), nil
}

// parseSymbols decodes those Elf64_Sym records (ELF-64 object file format, "Symbol Table") that keep is true for, all
// where it is nil. strs are their names.
func parseSymbols(tab, strs []byte, sections []*elf.Section, keep func(*Symbol) bool) []Symbol {
	var syms []Symbol
	var names string // strs, of which all names are parts where most are wanted
	if keep == nil {
		syms, names = make([]Symbol, 0, len(tab)/24), string(strs)
	}
	for ; len(tab) >= 24; tab = tab[24:] {
		info, shndx := tab[4], elf.SectionIndex(dwread.LE16(tab[6:]))
		s := Symbol{Addr: dwread.LE64(tab[8:]), Size: dwread.LE64(tab[16:]), Kind: elf.ST_TYPE(info),
			Global: elf.ST_BIND(info) != elf.STB_LOCAL}
		switch s.Kind {
		case elf.STT_FUNC, elf.STT_OBJECT, elf.STT_GNU_IFUNC, elf.STT_NOTYPE, elf.STT_TLS:
		default:
			continue
		}
		if shndx == elf.SHN_UNDEF || shndx >= elf.SHN_LORESERVE && shndx != elf.SHN_XINDEX ||
			keep != nil && !keep(&s) {
			continue
		}
		if keep == nil {
			s.Name = dwread.CString(names, uint64(dwread.LE32(tab)))
		} else if at := uint64(dwread.LE32(tab)); at < uint64(len(strs)) {
			name, _, _ := bytes.Cut(strs[at:], []byte{0})
			s.Name = string(name)
		}
		if s.Name == "" {
			continue
		}
		if s.Kind == elf.STT_NOTYPE { // assembly without .type, and linker marks such as _end
			if int(shndx) >= len(sections) || sections[shndx].Flags&elf.SHF_EXECINSTR == 0 {
				continue
			}
		}
		if i := strings.IndexByte(s.Name, '@'); i > 0 {
			s.Name = s.Name[:i]
		}
		syms = append(syms, s)
	}
	return syms
}

// SymbolAt finds the function symbol that covers addr: the one that begins nearest before it and,
// if it has a size, reaches beyond it.
func (f *File) SymbolAt(addr uint64) (Symbol, bool) {
	all, _ := f.Symbols()
	i := sort.Search(len(all), func(i int) bool { return all[i].Addr > addr })
	var best Symbol
	found := false
	// Symbols of size 0 and nested ones are rare; a few steps back find the cover.
	for n := 0; i > 0 && n < 64; n++ {
		i--
		s := all[i]
		if !s.Code() {
			continue
		}
		if s.Size != 0 && addr-s.Addr < s.Size {
			if !found || best.Size == 0 || s.Addr == best.Addr && s.Global && !best.Global {
				best, found = s, true
			}
			if s.Global {
				break
			}
		} else if s.Size == 0 && !found {
			best, found = s, true
		} else if found && s.Addr < best.Addr {
			break
		}
	}
	return best, found
}

// ObjectAt finds the data that covers addr.
func (f *File) ObjectAt(addr uint64) (Symbol, bool) {
	all, _ := f.Symbols()
	i := sort.Search(len(all), func(i int) bool { return all[i].Addr > addr })
	for n := 0; i > 0 && n < 16; n++ {
		i--
		if s := all[i]; s.Object() && addr-s.Addr < s.Size {
			return s, true
		}
	}
	return Symbol{}, false
}

// SymbolsNamed gives the symbols with exactly this name, by address.
func (f *File) SymbolsNamed(name string) []Symbol {
	all, _ := f.Symbols()
	if f.syms.byName == nil {
		f.syms.byName, f.syms.next = make(map[string]int32, len(all)), make([]int32, len(all))
		for i := len(all) - 1; i >= 0; i-- {
			f.syms.next[i] = f.syms.byName[all[i].Name]
			f.syms.byName[all[i].Name] = int32(i) + 1
		}
	}
	var out []Symbol
	for i := f.syms.byName[name]; i > 0; i = f.syms.next[i-1] {
		out = append(out, all[i-1])
	}
	return out
}

// SymbolsAt gives the symbols that begin at addr.
func (f *File) SymbolsAt(addr uint64) []Symbol {
	all, _ := f.Symbols()
	return at(all, addr)
}

// SymbolEnd is where code without a size that begins at addr ends at the latest: at the next code
// symbol or at the end of its section.
func (f *File) SymbolEnd(addr uint64) uint64 {
	end := addr
	for _, s := range f.elf.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && addr >= s.Addr && addr-s.Addr < s.Size {
			end = s.Addr + s.Size
		}
	}
	all, _ := f.Symbols()
	for i := sort.Search(len(all), func(i int) bool { return all[i].Addr > addr }); i < len(all); i++ {
		if all[i].Code() {
			return min(end, all[i].Addr)
		}
	}
	return end
}

// HasSymtab reports whether there is a full symbol table, in the file or in its detached debug file.
func (f *File) HasSymtab() bool {
	if f.HasSection(".symtab") {
		return true
	}
	d := f.Detached()
	return d != nil && d.HasSection(".symtab")
}
