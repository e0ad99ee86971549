package dw

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/inflate"
)

// Inflating stops at this many times the compressed size: zlib cannot exceed 1032, and real
// debug sections stay under 20. It bounds what a hostile header can make us allocate, with spend.
const maxInflate = 2048

// HasSection reports whether the file has the section, compressed or not.
func (f *File) HasSection(name string) bool {
	s, _ := f.header(name)
	return s != nil
}

// SectionAddr gives the address and size that the section has at run time, before
// relocation; ok is false when there is no such section or it is not loaded.
func (f *File) SectionAddr(name string) (addr, size uint64, ok bool) {
	s := f.elf.Section(name)
	if s == nil || s.Flags&elf.SHF_ALLOC == 0 {
		return 0, 0, false
	}
	return s.Addr, s.Size, true
}

// header finds a section: name itself, or the old .zdebug_ form of a .debug_ name.
func (f *File) header(name string) (s *elf.Section, gnuZ bool) {
	if s = f.elf.Section(name); s != nil {
		return s, false
	}
	if len(name) > 7 && name[:7] == ".debug_" {
		if s = f.elf.Section(".z" + name[1:]); s != nil {
			return s, true
		}
	}
	return nil, false
}

// compressed reports whether reading the section costs an inflation.
func (f *File) compressed(name string) bool {
	s, z := f.header(name)
	return s != nil && (z || s.Flags&elf.SHF_COMPRESSED != 0)
}

// Section gives the contents of a section, inflated where needed (SHF_COMPRESSED with zlib
// or zstd, .zdebug) and kept. Uncompressed ones are slices of the mapped file: read them under
// Guard. The error wraps ErrNoSection when there is none.
func (f *File) Section(name string) (b []byte, err error) {
	defer Guard(&err)()
	f.mu.Lock()
	b, ok := f.sections[name]
	err = f.secErr[name]
	f.mu.Unlock()
	if ok || err != nil {
		return b, err
	}
	b, err = f.load(name)
	if err != nil {
		err = fmt.Errorf("%s: section %s: %w", f.path, name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.secErr[name] = err
		return nil, err
	}
	f.sections[name] = b
	return b, nil
}

// Prefetch inflates several sections at once, on as many cores as there are. Missing
// sections are not an error; Section reports what goes wrong.
func (f *File) Prefetch(names ...string) {
	var todo []string
	for _, n := range names {
		f.mu.Lock()
		_, ok := f.sections[n]
		f.mu.Unlock()
		if !ok && f.compressed(n) {
			todo = append(todo, n)
		}
	}
	if len(todo) < 2 || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	var wg sync.WaitGroup
	for _, n := range todo {
		wg.Go(func() { f.Section(n) })
	}
	wg.Wait()
}

func (f *File) load(name string) (b []byte, err error) {
	defer Guard(&err)() // this may be a goroutine of Prefetch's
	s, gnuZ := f.header(name)
	if s == nil {
		return nil, ErrNoSection
	}
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("%w: it has no contents in this file", ErrNoSection)
	}
	raw := f.slice(s.Offset, s.FileSize)
	if uint64(len(raw)) != s.FileSize {
		return nil, fmt.Errorf("%w: the file is cut short", ErrCorrupt)
	}
	if gnuZ {
		if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
			return nil, fmt.Errorf("%w: bad .zdebug header", ErrCorrupt)
		}
		return f.inflate(binary.BigEndian.Uint64(raw[4:]), raw[12:])
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return raw, nil
	}
	if len(raw) < 24 {
		return nil, fmt.Errorf("%w: bad compression header", ErrCorrupt)
	}
	size := dwread.LE64(raw[8:]) // Elf64_Chdr: type, reserved, size, addralign
	switch t := elf.CompressionType(dwread.LE32(raw)); t {
	case elf.COMPRESS_ZLIB:
		return f.inflate(size, raw[24:])
	case elf.COMPRESS_ZSTD:
		return f.readBounded(s.Open(), size, uint64(len(raw)))
	default:
		return nil, fmt.Errorf("compressed with %v, which is not supported", t)
	}
}

func (f *File) inflate(size uint64, raw []byte) ([]byte, error) {
	if size > uint64(len(raw))*maxInflate+1<<20 {
		return nil, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, len(raw), size)
	}
	if err := f.spend(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if err := inflate.Zlib(b, raw); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return b, nil
}

// readBounded reads exactly size bytes, which must be believable for from compressed ones.
func (f *File) readBounded(r io.Reader, size, from uint64) ([]byte, error) {
	if size > from*maxInflate+1<<20 {
		return nil, fmt.Errorf("%w: %d bytes cannot hold %d", ErrCorrupt, from, size)
	}
	if err := f.spend(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	return b, nil
}
