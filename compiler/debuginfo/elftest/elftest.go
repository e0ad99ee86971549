// Package elftest makes ELF files for tests of their readers.
//
// In: flags of compilers. Out: programs with types and code of every shape (C, Go). In: the bytes of a sound file. Out:
// the same with sections replaced, or with damage that knows what it hits. In: numbers. Out: the bytes of sections that
// have them (Encode).
package elftest

import (
	"bytes"
	"compress/flate"
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

// Set gives img with other contents of a section, which come to lie at the end of the file. flags are added to the
// section's.
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

// Bomb is the contents of a compressed section that has size MB of b when it is inflated: the same block again and
// again.
func Bomb(size int, b byte) []byte {
	chunk := bytes.Repeat([]byte{b}, 1<<20)
	var part bytes.Buffer
	w, _ := flate.NewWriter(&part, flate.BestCompression)
	block := func() []byte {
		part.Reset()
		w.Write(chunk)
		w.Flush()
		return bytes.Clone(part.Bytes())
	}
	first, again := block(), block()
	out := make([]byte, 24, 26+len(again)*size)
	le.PutUint32(out, uint32(elf.COMPRESS_ZLIB))
	le.PutUint64(out[8:], uint64(size)<<20)
	le.PutUint64(out[16:], 1)
	out = append(out, 0x78, 0x9c)
	out = append(out, first...)
	for range size - 1 {
		out = append(out, again...)
	}
	out = append(out, 1, 0, 0, 0xff, 0xff) // a last block without contents
	// The checksum (RFC 1950, 8.2) of n equal bytes.
	const mod = 65521
	n, c := uint64(size)<<20, uint64(b)
	lo := (1 + n%mod*c) % mod
	hi := (n + c*(n%mod*((n+1)%mod)%mod*((mod+1)/2)%mod)) % mod
	return binary.BigEndian.AppendUint32(out, uint32(hi<<16|lo))
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
