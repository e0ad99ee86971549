// Package usdt reads statically defined marks (USDT): the notes that <sys/sdt.h> and its likes leave in the section
// .note.stapsdt of an ELF file.
//
// In: the bytes of that section, where .stapsdt.base lies, and a way to find symbols. Out: the marks, with a place for
// each argument. Nothing here opens files.
//
// A note has the owner "stapsdt" and type 3: three addresses of 8 bytes (of the probed instruction, of .stapsdt.base
// when the file was linked, of the semaphore or 0), and three texts that end in zero (provider, name, arguments).
package usdt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
	"github.com/gostap/gostap/compiler/machine"
)

// Section and Base are the sections that matter.
const (
	Section = ".note.stapsdt"
	Base    = ".stapsdt.base"
)

// ErrNotes says that the section's bytes contradict its format.
var ErrNotes = errors.New("corrupt notes of static marks")

// File is what marks are read with.
type File struct {
	// Base is the address of .stapsdt.base now, 0 if the file has none. Where tools have moved the file's segments
	// after it was linked, the notes' own addresses are off by the same distance.
	Base uint64
	// Machine is the one that the file is for, nil for machine.Default.
	Machine *machine.Machine
	// Symbol gives the place of what a name stands for: of a variable's first byte.
	Symbol func(name string) (loc.Prog, bool)
}

const noteType = 3

// Read lists the marks in the order of the notes. An argument that cannot be read has an error of its own.
func (f *File) Read(notes []byte) ([]debuginfo.Mark, error) {
	var marks []debuginfo.Mark
	for len(notes) > 0 {
		if len(notes) < 12 {
			return marks, fmt.Errorf("%w: %d bytes are left over", ErrNotes, len(notes))
		}
		nameLen, descLen := uint64(binary.LittleEndian.Uint32(notes)), uint64(binary.LittleEndian.Uint32(notes[4:]))
		typ := binary.LittleEndian.Uint32(notes[8:])
		notes = notes[12:]
		at := (nameLen + 3) &^ 3
		if at > uint64(len(notes)) || descLen > uint64(len(notes))-at {
			return marks, fmt.Errorf("%w: a note is longer than the section", ErrNotes)
		}
		owner, desc := notes[:nameLen], notes[at:at+descLen]
		notes = notes[min(at+(descLen+3)&^3, uint64(len(notes))):]
		if typ != noteType || string(bytes.TrimRight(owner, "\x00")) != "stapsdt" {
			continue
		}
		m, err := f.mark(desc)
		if err != nil {
			return marks, err
		}
		marks = append(marks, m)
	}
	return marks, nil
}

func (f *File) mark(desc []byte) (m debuginfo.Mark, err error) {
	if len(desc) < 24 {
		return m, fmt.Errorf("%w: a note has %d bytes", ErrNotes, len(desc))
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(desc[8*i:]) }
	m.PC, m.Semaphore = word(0), word(2)
	if base := word(1); f.Base != 0 && base != 0 {
		m.PC += f.Base - base
		if m.Semaphore != 0 {
			m.Semaphore += f.Base - base
		}
	}
	texts := desc[24:]
	for _, s := range []*string{&m.Provider, &m.Name, &m.Text} {
		end := bytes.IndexByte(texts, 0)
		if end < 0 {
			return m, fmt.Errorf("%w: a text has no end", ErrNotes)
		}
		*s, texts = string(texts[:end]), texts[end+1:]
	}
	m.Args = f.args(m.Text)
	return m, nil
}
