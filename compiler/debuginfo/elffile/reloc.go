package elffile

import (
	"sort"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// relaSize is the bytes of an Elf64_Rela: place, kind and symbol, addend.
const relaSize = 24

// relocAt is where in .rela.dyn the relocation of a place stands.
type relocAt struct {
	place uint64
	off   int
}

// Word gives the address that stands at addr once the file is loaded: what the file has there, or what relocation
// puts there, before it is known where the file lies. It is outside of the file (1) for a symbol of another one.
func (f *File) Word(addr uint64) (w uint64, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer foreign.Guard(&err)()
	const symSize = 24
	if rela := f.relocation(addr); rela != nil {
		info, addend := dwread.LE64(rela[8:]), dwread.LE64(rela[16:])
		switch r := f.machine.Relocs; uint32(info) {
		case r.Relative:
			return addend, true
		case r.Absolute, r.GlobDat:
			tab, err := f.Section(".dynsym")
			sym := info >> 32 * symSize
			if err != nil || sym+symSize > uint64(len(tab)) {
				return 0, false
			}
			if v := dwread.LE64(tab[sym+8:]); v != 0 {
				return v + addend, true
			}
			return 1, true
		}
		return 0, false
	}
	b, err := f.Bytes(addr, 8)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	return dwread.LE64(b), true
}

// relocation gives the first relocation of a place, nil if there is none.
func (f *File) relocation(addr uint64) []byte {
	if !f.Relocated() {
		return nil
	}
	rela, err := f.Section(".rela.dyn")
	if err != nil {
		return nil
	}
	relocs := f.relocations(rela)
	i := sort.Search(len(relocs), func(i int) bool { return relocs[i].place >= addr })
	if i == len(relocs) || relocs[i].place != addr {
		return nil
	}
	return rela[relocs[i].off:][:relaSize]
}

// relocations gives those of rela in the order of their places. A file that faults meanwhile leaves nothing behind.
func (f *File) relocations(rela []byte) []relocAt {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.relocs == nil {
		list := make([]relocAt, 0, len(rela)/relaSize)
		for off := 0; off+relaSize <= len(rela); off += relaSize {
			list = append(list, relocAt{dwread.LE64(rela[off:]), off})
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].place < list[j].place })
		f.relocs = list
	}
	return f.relocs
}
