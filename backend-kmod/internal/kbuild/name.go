package kbuild

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/gostap/gostap/compiler/foreign"
)

// Modules are built under one name and get their own when they are loaded or written out: the same script is then
// the same module, whoever runs it, and comes from the cache.

// generic is the name that modules are built with; as long as any name that gostap accepts.
const generic = "gostap_module_that_has_no_name_of_its_own"

// MaxName is the most bytes of a module's name.
const MaxName = len(generic)

// nameSections hold a module's name: struct module, where the kernel takes it from, and what modinfo shows.
var nameSections = []string{".gnu.linkonce.this_module", ".modinfo"}

// Rename gives a copy of a module that Module made, with another name, at most MaxName bytes.
func Rename(ko []byte, name string) ([]byte, error) {
	if len(name) == 0 || len(name) > MaxName {
		return nil, fmt.Errorf("module name of %d bytes", len(name))
	}
	f, err := foreign.ELF(bytes.NewReader(ko))
	if err != nil {
		return nil, fmt.Errorf("built module: %w", err)
	}
	out := bytes.Clone(ko)
	padded := make([]byte, len(generic))
	copy(padded, name)
	for _, s := range nameSections {
		sec := f.Section(s)
		if sec == nil || sec.Type == elf.SHT_NOBITS || sec.Offset > uint64(len(out)) ||
			sec.FileSize > uint64(len(out))-sec.Offset {
			return nil, fmt.Errorf("built module: section %s is missing", s)
		}
		data := out[sec.Offset : sec.Offset+sec.FileSize]
		at := bytes.Index(data, []byte(generic))
		if at < 0 {
			return nil, fmt.Errorf("built module: section %s does not hold its name", s)
		}
		copy(data[at:], padded)
	}
	return out, nil
}
