package kbtf

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"github.com/gostap/gostap/compiler/debuginfo/slots"
	"github.com/gostap/gostap/compiler/foreign"
)

// Symbol is one line of the kernel's symbol table.
type Symbol struct {
	Name string
	// Addr is 0 where the kernel hides its addresses (kernel.kptr_restrict, no CAP_SYSLOG).
	Addr uint64
	// Type is nm's letter: T t W w for code.
	Type byte
	// Module is "" for the kernel itself. Generated code has "bpf" or names with __builtin__.
	Module string
}

// Code reports whether s is a function, or a label in code.
func (s Symbol) Code() bool { return s.Type == 'T' || s.Type == 't' || s.Type == 'W' || s.Type == 'w' }

// Data reports whether a variable lies at addr. A name for it may have the type of code all the same: jiffies, which
// the linker makes of jiffies_64, has in 7.3.
func (s *Symbols) Data(addr uint64) bool {
	found := false
	s.Each(func(x Symbol) bool {
		found = x.Addr == addr && strings.IndexByte("DdBbRrVv", x.Type) >= 0
		return !found
	})
	return found
}

// Global reports whether s was visible outside of its file.
func (s Symbol) Global() bool {
	return s.Type >= 'A' && s.Type <= 'Z' || s.Type == 'w' || s.Type == 'v'
}

// Symbols is a symbol table, kept as the text that it came as. Offsets of lines in it are what its tables hold.
type Symbols struct {
	text []byte
	// hidden says that all addresses are 0.
	hidden bool
	// sorted are the lines with an address, by that.
	sorted []uint32
	// slots find lines by name: 1 + the offset of the line.
	slots   slots.Table
	lookups int
	mods    []string
	// lo and hi are the bounds of the kernel's code, once looked for.
	lo, hi uint64
}

// maxSymbols bounds the text of a symbol table.
const maxSymbols = 512 << 20

// Symbols are those of /proc/kallsyms, or of the file that Config.Map names. Reading the kernel's takes it half a
// microsecond for each of some hundred thousand symbols.
func (k *Kernel) Symbols() (*Symbols, error) {
	if k.syms != nil || k.symErr != nil {
		return k.syms, k.symErr
	}
	path := k.cfg.Map
	if path == "" {
		if k.cfg.Foreign() {
			k.symErr = fmt.Errorf("those of %s are not known; --kernel-map names a file of them", k.other())
			return nil, k.symErr
		}
		path = filepath.Join(k.cfg.Proc, "kallsyms")
	}
	k.syms, k.symErr = readSymbols(path)
	return k.syms, k.symErr
}

// OwnSymbols are those of the kernel itself, and perhaps those of modules too. They may come from what an earlier run
// kept.
func (k *Kernel) OwnSymbols() (*Symbols, error) {
	if k.own != nil {
		return k.own, nil
	}
	path, boot := k.cacheFile()
	if path != "" && k.syms == nil {
		if k.own = readCache(path, boot); k.own != nil {
			return k.own, nil
		}
	}
	all, err := k.Symbols()
	if err != nil {
		return nil, err
	}
	k.own = all
	if path != "" && !all.hidden {
		end := len(all.text)
		if i := bytes.IndexByte(all.text, '\t'); i >= 0 { // modules come behind the kernel
			end = bytes.LastIndexByte(all.text[:i], '\n') + 1
		}
		k.own = &Symbols{text: all.text[:end:end]}
		writeCache(path, boot, k.own)
	}
	return k.own, nil
}

func readSymbols(path string) (*Symbols, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); n == 4 && string(magic[:]) == elf.ELFMAG {
		return elfSymbols(f, path)
	}
	size := 64 << 10
	if st, err := f.Stat(); err == nil && st.Size() > 0 {
		size = int(min(st.Size()+1, maxSymbols))
	} else {
		size = 6 << 20 // files of procfs have no size
	}
	b := make([]byte, 0, size)
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b)/4+4096)
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(b) > maxSymbols {
			return nil, fmt.Errorf("%s: too large for a symbol table", path)
		}
	}
	s, err := newSymbols(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// elfSymbols makes the table of an ELF file with symbols, a vmlinux.
func elfSymbols(f *os.File, path string) (*Symbols, error) {
	e, err := foreign.ELF(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list, err := e.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(list, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	var out bytes.Buffer
	for _, s := range list {
		if s.Name == "" || strings.ContainsAny(s.Name, " \t\n") || s.Section == elf.SHN_UNDEF ||
			int(s.Section) >= len(e.Sections) {
			continue
		}
		kind := byte('d')
		if e.Sections[s.Section].Flags&elf.SHF_EXECINSTR != 0 {
			kind = 't'
		}
		if elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			kind -= 'a' - 'A'
		}
		fmt.Fprintf(&out, "%016x %c %s\n", s.Value, kind, s.Name)
	}
	t, err := newSymbols(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// HasSymbols reports whether the file at path is a symbol table, or an ELF file with one.
func HasSymbols(path string) bool {
	f, err := foreign.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 256)
	n, _ := f.ReadAt(b, 0)
	if b = b[:n]; bytes.HasPrefix(b, []byte(elf.ELFMAG)) {
		e, err := foreign.ELF(f)
		return err == nil && e.SectionByType(elf.SHT_SYMTAB) != nil
	}
	_, err = newSymbols(b)
	return err == nil
}

// newSymbols checks that text is a symbol table.
func newSymbols(text []byte) (*Symbols, error) {
	s := &Symbols{text: text}
	if bytes.Contains(text[:min(len(text), 256)], []byte(" The real System.map is in ")) {
		return nil, errors.New("it only says that the symbols are in another package")
	}
	first, _, ok := s.line(0)
	if !ok {
		return nil, errors.New("not a symbol table: lines are to be ADDRESS TYPE NAME")
	}
	s.hidden = first.Addr == 0
	if s.hidden { // a table may begin with per-CPU offsets, the first of which is 0
		s.Each(func(x Symbol) bool {
			s.hidden = x.Addr == 0
			return s.hidden
		})
	}
	return s, nil
}

// Hidden reports whether the kernel did not tell the addresses.
func (s *Symbols) Hidden() bool { return s.hidden }

// line parses the line at offset at; next is where the following one begins. ok is false for a line of another form.
func (s *Symbols) line(at int) (x Symbol, next int, ok bool) {
	if at < 0 || at >= len(s.text) {
		return x, len(s.text), false
	}
	b := s.text[at:]
	next = len(s.text)
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b, next = b[:i], at+i+1
	}
	i := 0
	for ; i < len(b) && i < 16; i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			c = 16
		}
		if c == 16 {
			break
		}
		x.Addr = x.Addr<<4 | uint64(c)
	}
	if i == 0 || len(b) < i+4 || b[i] != ' ' || b[i+2] != ' ' {
		return x, next, false
	}
	x.Type = b[i+1]
	name := b[i+3:]
	if t := bytes.IndexByte(name, '\t'); t >= 0 {
		mod := name[t+1:]
		name = name[:t]
		if len(mod) > 2 && mod[0] == '[' && mod[len(mod)-1] == ']' {
			x.Module = text(mod[1 : len(mod)-1])
		}
	}
	x.Name = text(name)
	return x, next, x.Name != ""
}

// text shares b's memory, which stays.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Each calls f for every symbol in the order of the table (the kernel's own by address, then those of modules)
// until f says false.
func (s *Symbols) Each(f func(Symbol) bool) {
	for at := 0; at < len(s.text); {
		x, next, ok := s.line(at)
		if ok && !f(x) {
			return
		}
		at = next
	}
}

// searches is how many look-ups by name search the text, at up to a millisecond each, before a table is made.
const searches = 20

// Named lists the symbols called name, in the order of the table.
func (s *Symbols) Named(name string) []Symbol {
	if name == "" {
		return nil
	}
	if s.lookups++; s.slots != nil || s.lookups > searches {
		return s.fromTable(name)
	}
	return s.search(name, func(found string) bool { return found == name })
}

// search lists the symbols whose names begin with prefix and are wanted, in the order of the table.
func (s *Symbols) search(prefix string, wanted func(name string) bool) (out []Symbol) {
	if prefix == "" {
		s.Each(func(x Symbol) bool { out = append(out, x); return true })
		return out
	}
	k := rarest(prefix)
	for at := k; at < len(s.text); {
		i := bytes.IndexByte(s.text[at:], prefix[k])
		if i < 0 {
			break
		}
		at += i
		begin := at - k
		at++
		if begin == 0 || s.text[begin-1] != ' ' || !strings.HasPrefix(text(s.text[begin:]), prefix) {
			continue
		}
		x, next, ok := s.line(bytes.LastIndexByte(s.text[:begin], '\n') + 1)
		if ok && strings.HasPrefix(x.Name, prefix) && wanted(x.Name) {
			out = append(out, x)
		}
		at = max(at, next+k)
	}
	return out
}

// common are characters of names in the order of how often they are in the kernel's table, addresses among that: one in
// five is an f, one in 200 a y. Others are less often there.
const common = "f_et ap r8c0s1iodnlxbmu2T3476g59khvyw"

// rarest is the place in a name of the character that is least often in a table, so that most of it is passed by in the
// search for that alone.
func rarest(name string) (at int) {
	rank := -1
	for i := range len(name) {
		r := strings.IndexByte(common, name[i])
		if r < 0 {
			return i
		}
		if r > rank {
			rank, at = r, i
		}
	}
	return at
}

// table makes the table of names.
func (s *Symbols) table() slots.Table {
	if s.slots != nil {
		return s.slots
	}
	s.slots = slots.New(bytes.Count(s.text, []byte{'\n'}) + 1)
	for at := 0; at < len(s.text); {
		x, next, ok := s.line(at)
		if ok {
			s.slots.Add(x.Name, uint32(at)+1)
		}
		at = next
	}
	return s.slots
}

// fromTable is Named by the table.
func (s *Symbols) fromTable(name string) (out []Symbol) {
	s.table().Each(name, func(v uint32) {
		if x, _, ok := s.line(int(v - 1)); ok && x.Name == name {
			out = append(out, x)
		}
	})
	return out
}

// index sorts the lines by address.
func (s *Symbols) index() []uint32 {
	if s.sorted != nil || s.hidden {
		return s.sorted
	}
	type entry struct {
		addr uint64
		line uint32
	}
	all := make([]entry, 0, bytes.Count(s.text, []byte{'\n'})+1)
	for at := 0; at < len(s.text); {
		x, next, ok := s.line(at)
		if ok && x.Addr != 0 {
			all = append(all, entry{x.Addr, uint32(at)})
		}
		at = next
	}
	less := func(a, b entry) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(all, less) {
		slices.SortStableFunc(all, less)
	}
	s.sorted = make([]uint32, len(all))
	for i, e := range all {
		s.sorted[i] = e.line
	}
	return s.sorted
}

// above is the first place in the index whose address is above addr.
func (s *Symbols) above(addr uint64) int {
	idx := s.index()
	return sort.Search(len(idx), func(i int) bool { x, _, _ := s.line(int(idx[i])); return x.Addr > addr })
}

// At gives the symbols with the highest address that is not above addr, all names that there are for it, and the
// address of the next one behind (0 if there is none). None are given for addresses in front of the first or when
// addresses are hidden.
func (s *Symbols) At(addr uint64) (at []Symbol, end uint64) {
	idx := s.index()
	i := s.above(addr)
	if i < len(idx) {
		x, _, _ := s.line(int(idx[i]))
		end = x.Addr
	}
	for i--; i >= 0; i-- {
		x, _, ok := s.line(int(idx[i]))
		if !ok || len(at) > 0 && x.Addr != at[0].Addr {
			break
		}
		at = append(at, x)
	}
	slices.Reverse(at)
	return at, end
}

// Addr is the address of the one symbol of the kernel itself with this name, 0 if there is none.
func (s *Symbols) Addr(name string) uint64 {
	for _, x := range s.Named(name) {
		if x.Module == "" {
			return x.Addr
		}
	}
	return 0
}

// prefixed lists the symbols whose names begin with prefix, in the order of the table.
func (s *Symbols) prefixed(prefix string) []Symbol {
	return s.search(prefix, func(string) bool { return true })
}

// modules lists the modules that have symbols.
func (s *Symbols) modules() []string {
	if s.mods != nil {
		return s.mods
	}
	seen := map[string]bool{}
	s.mods = []string{}
	// A module's symbols follow the kernel's own, so the search begins at the first that is marked.
	at := bytes.IndexByte(s.text, '\t')
	if at < 0 {
		return s.mods
	}
	for at = bytes.LastIndexByte(s.text[:at], '\n') + 1; at < len(s.text); {
		x, next, ok := s.line(at)
		if ok && x.Module != "" && !seen[x.Module] && !generated(x.Module) {
			seen[x.Module] = true
			s.mods = append(s.mods, x.Module)
		}
		at = next
	}
	slices.Sort(s.mods)
	return s.mods
}

// generated reports whether a module's name stands for code that the kernel made itself.
func generated(module string) bool {
	return module == "bpf" || strings.HasPrefix(module, "__builtin__")
}

// anchor is the nearest symbol at or below addr that is the only one of its name: _stext for the kernel itself.
func (s *Symbols) anchor(module string, addr uint64) Symbol {
	if module == "" {
		for _, x := range s.Named("_stext") {
			if x.Module == "" && x.Addr != 0 && x.Addr <= addr {
				return x
			}
		}
	}
	idx := s.index()
	for i := s.above(addr); i > 0; i-- {
		x, _, ok := s.line(int(idx[i-1]))
		if !ok || x.Module != module || !x.Code() {
			continue
		}
		n := 0
		for _, y := range s.Named(x.Name) {
			if y.Module == module {
				n++
			}
		}
		if n == 1 {
			return x
		}
	}
	return Symbol{}
}
