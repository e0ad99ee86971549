package foreign

import (
	"debug/elf"
	"fmt"
	"io"
	"strings"
)

// maxSections bounds the headers that are believed: with -ffunction-sections an object has some 100,000, a linked
// file 100.
const maxSections = 1 << 20

// ELF reads the headers of an ELF file. It is elf.NewFile, but sections are not inflated unless they are for
// debuggers: package elf would inflate any that says that it is compressed, without a limit, also those that it
// looks at by itself.
func ELF(r io.ReaderAt) (f *elf.File, err error) {
	defer Guard(&err)()
	if f, err = elf.NewFile(r); err != nil {
		return nil, err
	}
	if len(f.Sections) > maxSections || len(f.Progs) > maxSections {
		return nil, fmt.Errorf("%w: %d sections", ErrCorrupt, len(f.Sections))
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_COMPRESSED != 0 && !strings.HasPrefix(s.Name, ".debug_") {
			s.Flags &^= elf.SHF_COMPRESSED
			s.Size = s.FileSize
		}
	}
	return f, nil
}
