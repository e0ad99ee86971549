package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
	"github.com/gostap/gostap/compiler/debuginfo/inflate"
	"github.com/gostap/gostap/compiler/debuginfo/kept"
	"github.com/gostap/gostap/compiler/foreign"
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

// Compressed reports whether reading the section costs an inflation.
func (f *File) Compressed(name string) bool {
	s, z := f.header(name)
	return s != nil && (z || s.Flags&elf.SHF_COMPRESSED != 0)
}

// Section gives the contents of a section, inflated where needed (SHF_COMPRESSED with zlib
// or zstd, .zdebug) and kept. Uncompressed ones are slices of the mapped file: read them under
// Guard. The error wraps ErrNoSection when there is none.
func (f *File) Section(name string) (b []byte, err error) {
	defer foreign.Guard(&err)()
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
		if !ok && f.Compressed(n) {
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

// Optional is Section, with nothing instead of an error for a section that does not exist.
func (f *File) Optional(name string) ([]byte, error) {
	b, err := f.Section(name)
	if errors.Is(err, ErrNoSection) {
		return nil, nil
	}
	return b, err
}

func (f *File) load(name string) (b []byte, err error) {
	defer foreign.Guard(&err)() // this may be a goroutine of Prefetch's
	s, gnuZ := f.header(name)
	if s == nil {
		return nil, ErrNoSection
	}
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("%w: it has no contents in this file", ErrNoSection)
	}
	raw := f.slice(s.Offset, s.FileSize)
	if uint64(len(raw)) != s.FileSize {
		return nil, fmt.Errorf("%w: the file is cut short", foreign.ErrCorrupt)
	}
	if gnuZ {
		if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
			return nil, fmt.Errorf("%w: bad .zdebug header", foreign.ErrCorrupt)
		}
		return f.inflate(binary.BigEndian.Uint64(raw[4:]), raw[12:])
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return raw, nil
	}
	if len(raw) < 24 {
		return nil, fmt.Errorf("%w: bad compression header", foreign.ErrCorrupt)
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
		return nil, fmt.Errorf("%w: %d bytes cannot hold %d", foreign.ErrCorrupt, len(raw), size)
	}
	if err := f.spend(size); err != nil {
		return nil, err
	}
	s := kept.Section{BuildID: f.buildID, FileSize: f.stat.Size, Packed: uint64(len(raw)), Size: size}
	if len(raw) >= 4 {
		s.Sum = binary.BigEndian.Uint32(raw[len(raw)-4:])
	}
	if m := f.Kept.Get(s); m != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.earlier = append(f.earlier, m)
		return m.Bytes[:size:size], nil
	}
	b := make([]byte, size)
	if err := inflate.Zlib(b, raw); err != nil {
		return nil, fmt.Errorf("%w: %v", foreign.ErrCorrupt, err)
	}
	f.Kept.Put(s, b)
	return b, nil
}

// readBounded reads exactly size bytes, which must be believable for from compressed ones.
func (f *File) readBounded(r io.Reader, size, from uint64) ([]byte, error) {
	if size > from*maxInflate+1<<20 {
		return nil, fmt.Errorf("%w: %d bytes cannot hold %d", foreign.ErrCorrupt, from, size)
	}
	if err := f.spend(size); err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("%w: %v", foreign.ErrCorrupt, err)
	}
	return b, nil
}

// AllOf adds to first, which is the first section called name, the others, up to limit bytes: gcc gives each type
// unit one of its own.
func (f *File) AllOf(name string, first []byte, limit int) ([]byte, error) {
	all, seen := first, false
	for _, s := range f.elf.Sections {
		if s.Name != name {
			continue
		}
		if !seen {
			seen = true
			continue
		}
		b := f.slice(s.Offset, s.FileSize)
		if s.Flags&elf.SHF_COMPRESSED != 0 || uint64(len(b)) != s.FileSize || len(all)+len(b) > limit {
			return nil, fmt.Errorf("%s: %w: several sections %s", f.path, foreign.ErrCorrupt, name)
		}
		all = append(all[:len(all):len(all)], b...)
	}
	return all, nil
}

// What a file's sections may have together once they are inflated: inflateFloor, and inflateRatio times the size of
// the file. Sections of real programs have three to five times their compressed size.
const (
	inflateFloor = 512 << 20
	inflateRatio = 8
)

// spend takes size bytes from what the sections of f may have when they are inflated.
func (f *File) spend(size uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	limit := inflateFloor + inflateRatio*uint64(len(f.mem))
	if size > limit || f.inflated > limit-size {
		return fmt.Errorf("%w: its sections would have more than %d MB when inflated, which a file of %d MB is not "+
			"believed", foreign.ErrCorrupt, limit>>20, len(f.mem)>>20)
	}
	f.inflated += size
	return nil
}
