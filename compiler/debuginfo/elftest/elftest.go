// Package elftest changes ELF files for tests of their readers.
//
// In: the bytes of a sound file. Out: the same with sections replaced, or with damage that knows what it hits.
package elftest

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

var le = binary.LittleEndian

// headerOf finds the header of a section in the table, -1 if there is none.
func headerOf(img []byte, name string) int {
	f, err := elf.NewFile(bytes.NewReader(img))
	if err != nil {
		return -1
	}
	for i, s := range f.Sections {
		if s.Name == name {
			return int(le.Uint64(img[0x28:])) + 64*i
		}
	}
	return -1
}

// Set gives img with other contents of a section, which come to lie at the end of the file. flags are added to the section's.
func Set(img []byte, name string, data []byte, flags elf.SectionFlag) ([]byte, error) {
	h := headerOf(img, name)
	if h < 0 {
		return nil, fmt.Errorf("no section %s", name)
	}
	out := bytes.Clone(img)
	out = append(out, make([]byte, -len(out)&7)...)
	le.PutUint32(out[h+4:], uint32(elf.SHT_PROGBITS))
	le.PutUint64(out[h+8:], le.Uint64(out[h+8:])&^uint64(elf.SHF_COMPRESSED)|uint64(flags))
	le.PutUint64(out[h+24:], uint64(len(out)))
	le.PutUint64(out[h+32:], uint64(len(data)))
	return append(out, data...), nil
}

// Bomb is the contents of a compressed section that has size bytes of b when it is inflated.
func Bomb(size int64, b byte) []byte {
	var out bytes.Buffer
	head := make([]byte, 24)
	le.PutUint32(head, uint32(elf.COMPRESS_ZLIB))
	le.PutUint64(head[8:], uint64(size))
	le.PutUint64(head[16:], 1)
	out.Write(head)
	z := zlib.NewWriter(&out)
	chunk := bytes.Repeat([]byte{b}, 1<<20)
	for ; size > 0; size -= int64(len(chunk)) {
		chunk = chunk[:min(int64(len(chunk)), size)]
		z.Write(chunk)
	}
	z.Close()
	return out.Bytes()
}

// Section gives the bytes of a section as they lie in the file, which share memory with img; nil if there is none.
func Section(img []byte, name string) []byte {
	h := headerOf(img, name)
	if h < 0 || elf.SectionType(le.Uint32(img[h+4:])) == elf.SHT_NOBITS {
		return nil
	}
	off, size := le.Uint64(img[h+24:]), le.Uint64(img[h+32:])
	if off > uint64(len(img)) || size > uint64(len(img))-off {
		return nil
	}
	return img[off : off+size]
}
