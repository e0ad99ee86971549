// Package carry puts data into a section of a module's file and finds it there.
//
// In: a .ko, and bytes. Out: a .ko with both, and back. Both may come from anywhere.
package carry

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/manifest"
)

// section is the name of the module's section that holds the manifest. It is not loaded into the kernel.
const section = ".gostap"

// maxSection bounds the section.
const maxSection = 64 << 20

// ErrNone says that a module carries no manifest.
var ErrNone = errors.New("it was not made by gostap, or has lost what it carried for the host")

// Attach gives a copy of a module with data in a section of its own: the data, a longer table of section names and the
// table of sections with one more entry go behind what was there.
func Attach(ko, data []byte) ([]byte, error) {
	f, err := foreign.ELF(bytes.NewReader(ko))
	if err != nil {
		return nil, err
	}
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.ByteOrder(binary.LittleEndian) || f.Section(section) != nil ||
		len(ko) < 64 {
		return nil, fmt.Errorf("a module of this form cannot carry anything")
	}
	le := binary.LittleEndian
	const entry = 64 // Elf64_Shdr
	off, size, n, strs := le.Uint64(ko[40:]), le.Uint16(ko[58:]), le.Uint16(ko[60:]), le.Uint16(ko[62:])
	if size != entry || n == 0 || n >= uint16(elf.SHN_LORESERVE)-1 || strs >= n || off > uint64(len(ko)) ||
		uint64(n)*entry > uint64(len(ko))-off {
		return nil, fmt.Errorf("a module of this form cannot carry anything")
	}
	table := bytes.Clone(ko[off : off+uint64(n)*entry])
	names := table[int(strs)*entry:]
	nameOff, nameSize := le.Uint64(names[24:]), le.Uint64(names[32:])
	if nameOff > uint64(len(ko)) || nameSize > uint64(len(ko))-nameOff {
		return nil, fmt.Errorf("a module of this form cannot carry anything")
	}
	out := bytes.Clone(ko)
	put := func(b []byte) uint64 {
		for len(out)%16 != 0 {
			out = append(out, 0)
		}
		at := len(out)
		out = append(out, b...)
		return uint64(at)
	}
	var own [entry]byte
	le.PutUint32(own[0:], uint32(nameSize))
	le.PutUint32(own[4:], uint32(elf.SHT_PROGBITS))
	le.PutUint64(own[24:], put(data))
	le.PutUint64(own[32:], uint64(len(data)))
	le.PutUint64(own[48:], 1)
	le.PutUint64(names[24:], put(append(bytes.Clone(ko[nameOff:nameOff+nameSize]), section+"\x00"...)))
	le.PutUint64(names[32:], nameSize+uint64(len(section))+1)
	at := put(append(table, own[:]...))
	le.PutUint64(out[40:], at)
	le.PutUint16(out[60:], n+1)
	return out, nil
}

// Module is what a .ko says about itself.
type Module struct {
	Name string
	// Release is the kernel it was built for.
	Release string
	// Carried is the content of its section.
	Carried []byte
}

// Read looks into a .ko. The error is ErrNone if it is a module without a manifest.
func Read(ko []byte) (m Module, err error) {
	f, err := foreign.ELF(bytes.NewReader(ko))
	if err != nil || f.Type != elf.ET_REL {
		return m, errors.New("it is no kernel module")
	}
	info := f.Section(".modinfo")
	if info == nil || info.FileSize > 1<<20 {
		return m, errors.New("it is no kernel module")
	}
	text, err := info.Data()
	if err != nil {
		return m, errors.New("it is no kernel module")
	}
	for _, line := range strings.Split(string(text), "\x00") {
		switch k, v, _ := strings.Cut(line, "="); k {
		case "name":
			m.Name = v
		case "vermagic":
			m.Release, _, _ = strings.Cut(v, " ")
		}
	}
	s := f.Section(section)
	if s == nil {
		return m, ErrNone
	}
	if s.FileSize > maxSection || s.Type != elf.SHT_PROGBITS {
		return m, manifest.ErrDamaged
	}
	if m.Carried, err = s.Data(); err != nil {
		return m, manifest.ErrDamaged
	}
	return m, nil
}
