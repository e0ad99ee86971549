package elffile

import (
	"sort"

	"github.com/gostap/gostap/compiler/foreign"
)

// SymbolTable is what a File knows of its symbols, and a Part of its own.
type SymbolTable interface {
	Symbols() ([]Symbol, error)
	SymbolsAt(addr uint64) []Symbol
	SymbolsNamed(name string) []Symbol
}

var (
	_ SymbolTable = (*File)(nil)
	_ SymbolTable = (*Part)(nil)
)

// Part is the symbols of one language's code in a file that has code of two: most are those of the other, and reading
// all of them would be most of the work.
type Part struct {
	f   *File
	own func(addr uint64) bool

	done  bool
	err   error
	all   []Symbol
	named map[string][]Symbol
}

// NewPart makes a Part of the symbols of f at addresses for which own is true.
func NewPart(f *File, own func(addr uint64) bool) *Part { return &Part{f: f, own: own} }

// Symbols lists them as those of a File.
func (p *Part) Symbols() (syms []Symbol, err error) {
	defer foreign.Guard(&err)()
	if !p.done {
		p.done = true
		keep := func(s *Symbol) bool { return p.own(s.Addr) }
		if !p.f.syms.done {
			p.all, p.err = p.f.readSymbols(keep)
		} else if p.err = p.f.syms.err; p.err == nil {
			for i := range p.f.syms.all {
				if s := &p.f.syms.all[i]; keep(s) {
					p.all = append(p.all, *s)
				}
			}
		}
	}
	return p.all, p.err
}

// SymbolsAt gives the symbols that begin at addr, those of the whole file where it is not the part's own.
func (p *Part) SymbolsAt(addr uint64) []Symbol {
	if !p.own(addr) {
		return p.f.SymbolsAt(addr)
	}
	all, _ := p.Symbols()
	return at(all, addr)
}

// SymbolsNamed gives the symbols with exactly this name, by address.
func (p *Part) SymbolsNamed(name string) []Symbol {
	if p.named == nil {
		all, _ := p.Symbols()
		p.named = make(map[string][]Symbol, len(all))
		for _, s := range all {
			p.named[s.Name] = append(p.named[s.Name], s)
		}
	}
	return p.named[name]
}

// at gives those of symbols in the order of addresses that begin at addr.
func at(all []Symbol, addr uint64) []Symbol {
	i := sort.Search(len(all), func(i int) bool { return all[i].Addr >= addr })
	j := i
	for j < len(all) && all[j].Addr == addr {
		j++
	}
	return all[i:j]
}
