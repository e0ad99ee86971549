package elffile

import "github.com/gostap/gostap/compiler/foreign"

import "github.com/gostap/gostap/compiler/debuginfo/dwread"

// Word gives the address that stands at addr once the file is loaded: what the file has there, or what relocation
// puts there, before it is known where the file lies. It is outside of the file (1) for a symbol of another one.
func (f *File) Word(addr uint64) (w uint64, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer foreign.Guard(&err)()
	const relaSize, symSize = 24, 24
	if f.Relocated() {
		rela, err := f.Section(".rela.dyn")
		if err != nil {
			rela = nil
		}
		for ; len(rela) >= relaSize; rela = rela[relaSize:] {
			if dwread.LE64(rela) != addr {
				continue
			}
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
	}
	b, err := f.Bytes(addr, 8)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	return dwread.LE64(b), true
}
