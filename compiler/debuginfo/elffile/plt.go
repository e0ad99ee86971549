package elffile

import (
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/foreign"
)

// Stubs lists the stubs of the procedure linkage table: the code through which the file calls functions of libraries.
// They are found by what they do, a jump through a slot that a relocation names (for the jump, or
// for all the file's code where the function's address is taken as well), so that each layout of linkers will do.
func (f *File) Stubs() (stubs []debuginfo.Stub, err error) {
	defer foreign.Guard(&err)()
	slots, err := f.slots()
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	seen := map[string]bool{}
	// Where there is a second table, calls go there, and the first one's stubs only bind names when that is put off.
	for _, s := range []struct {
		section string
		size    int
	}{{".plt.sec", 16}, {".plt.got", 8}, {".plt.got", 16}, {".plt", 16}} {
		addr, size, ok := f.SectionAddr(s.section)
		if !ok || size == 0 {
			continue
		}
		code, err := f.Bytes(addr, int(min(size, maxPLT)))
		if err != nil {
			return nil, err
		}
		for at := 0; at+s.size <= len(code); at += s.size {
			slot, ok := f.machine.Code.StubSlot(code[at:at+s.size], addr+uint64(at))
			name := slots[slot]
			if ok && name != "" && !seen[name] {
				seen[name] = true
				stubs = append(stubs, debuginfo.Stub{Name: name, PC: addr + uint64(at)})
			}
		}
	}
	return stubs, nil
}

const maxPLT = 16 << 20

// StubAt gives the name of the function that the stub of the procedure linkage table at addr leads to, "" if there is
// none.
func (f *File) StubAt(addr uint64) (name string) {
	var err error
	defer foreign.Guard(&err)()
	for _, name := range []string{".plt.sec", ".plt.got", ".plt"} {
		if start, size, ok := f.SectionAddr(name); ok && addr >= start && addr-start < size {
			code, err := f.Bytes(addr, int(min(16, size-(addr-start))))
			if err != nil {
				return ""
			}
			if slot, ok := f.machine.Code.StubSlot(code, addr); ok {
				return f.SlotName(slot)
			}
		}
	}
	return ""
}

// SlotName gives the name of the function whose address the dynamic linker stores at addr, "" if there is none.
func (f *File) SlotName(addr uint64) string {
	if !f.slotsRead {
		f.slotsRead = true
		f.slotNames, _ = f.slots()
	}
	return f.slotNames[addr]
}

// slots are the names of the functions whose addresses the dynamic linker stores, by where it stores them.
func (f *File) slots() (names map[uint64]string, err error) {
	defer foreign.Guard(&err)()
	tab, err := f.Section(".dynsym")
	if errors.Is(err, ErrNoSection) {
		return nil, nil // linked statically
	}
	if err != nil {
		return nil, err
	}
	strs, err := f.Section(".dynstr")
	if err != nil {
		return nil, err
	}
	const symSize, relaSize = 24, 24
	if len(strs) > maxSymbolText || len(tab)/symSize > maxSymbolCount {
		return nil, fmt.Errorf("%s: %w: %d MB of names of dynamic symbols", f.path, foreign.ErrCorrupt, len(strs)>>20)
	}
	text := string(strs)
	slots := map[uint64]string{}
	for _, section := range []string{".rela.plt", ".rela.dyn"} {
		rela, err := f.Section(section)
		if err != nil {
			continue
		}
		for ; len(rela) >= relaSize; rela = rela[relaSize:] {
			off, info := dwread.LE64(rela), dwread.LE64(rela[8:])
			typ, sym := uint32(info), info>>32
			if typ != f.machine.Relocs.JumpSlot && typ != f.machine.Relocs.GlobDat || sym == 0 ||
				(sym+1)*symSize > uint64(len(tab)) {
				continue
			}
			if name := dwread.CString(text, uint64(dwread.LE32(tab[sym*symSize:]))); name != "" && slots[off] == "" {
				slots[off] = name
			}
		}
	}
	return slots, nil
}
