// Package gotype reads the types that a Go program has for itself, at run time: what interfaces point to, and what
// reflection uses. They are there without DWARF.
//
// In: an ELF file and where its types are (runtime.moduledata). Out: types.Ctype by address. The layout is that of
// internal/abi.Type of Go 1.20 to 1.26; before 1.21 it was runtime._type, of the same form.
package gotype

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gostap/gostap/compiler/types"
)

// File is an ELF file as far as this package needs it.
type File interface {
	// Bytes gives at most n bytes of the loaded image from addr on.
	Bytes(addr uint64, n int) ([]byte, error)
	// Word gives the address that the loader will leave at addr, less the load bias.
	Word(addr uint64) (uint64, bool)
}

// Types are those of one file. It is for one goroutine.
type Types struct {
	f File
	// lo and hi bound the types; names are counted from lo.
	lo, hi uint64
	minor  int
	known  map[uint64]*Type
	names  map[string][]uint64 // by Full, once that was asked for
	// OldMaps: maps are not the tables of Go 1.24 and later.
	OldMaps bool
}

// Type is one of them.
type Type struct {
	*types.Ctype
	// Direct: an interface's data word is the value itself, which is one pointer.
	Direct bool
}

// New gives the types from lo to hi, file addresses, of a program of Go 1.minor.
func New(f File, lo, hi uint64, minor int) *Types {
	return &Types{f: f, lo: lo, hi: hi, minor: minor, known: map[uint64]*Type{}}
}

// Minor is the minor version of the Go release.
func (t *Types) Minor() int { return t.minor }

// ErrNone says that there is no type at an address.
var ErrNone = errors.New("no type of the program")

// The layout of abi.Type and of what stands behind it for some kinds.
const (
	offSize   = 0
	offPtrs   = 8
	offFlags  = 20
	offKind   = 23
	offStr    = 40
	headSize  = 48
	offElem   = 48 // Pointer, Slice, Array, Chan; Key of a Map
	offValue  = 56 // Elem of a Map, Fields of a Struct
	offLen    = 64 // Len of an Array, len(Fields); len(Methods) of an Interface
	fullSize  = 72
	fieldSize = 24

	flagUncommon  = 1 << 0
	flagExtraStar = 1 << 1
	flagDirect    = 1 << 5 // of the kind before Go 1.26
	kindMask      = 1<<5 - 1
)

// At reads the type at a file address.
func (t *Types) At(addr uint64) (*Type, error) {
	if k := t.known[addr]; k != nil {
		return k, nil
	}
	if addr < t.lo || addr >= t.hi || addr%8 != 0 {
		return nil, ErrNone
	}
	b, err := t.f.Bytes(addr, fullSize)
	if err != nil || len(b) < headSize {
		return nil, ErrNone
	}
	name, err := t.name(binary.LittleEndian.Uint32(b[offStr:]), b[offFlags]&flagExtraStar != 0)
	if err != nil {
		return nil, err
	}
	c := &types.Ctype{Name: name, Size: int64(binary.LittleEndian.Uint64(b[offSize:])), Go: true, RunTime: addr - t.lo}
	flags := b[offKind]
	if t.minor >= 26 {
		flags = b[offFlags]
	}
	out := &Type{Ctype: c, Direct: flags&flagDirect != 0}
	if c.Size < 0 || c.Size > 1<<40 {
		return nil, ErrNone
	}
	kind := b[offKind] & kindMask
	if kind == 0 || int(kind) >= len(kinds) {
		return nil, ErrNone
	}
	c.Kind, c.Signed = kinds[kind].kind, kinds[kind].signed
	long := func(off uint64) uint64 {
		if off+8 > uint64(len(b)) {
			return 0
		}
		return binary.LittleEndian.Uint64(b[off:])
	}
	elem := func(off uint64) *types.Ctype {
		e, err := t.At(t.pointer(addr + off))
		if err != nil {
			return nil
		}
		return e.Ctype
	}
	if c.Pkg, err = t.pkg(addr, kind, b[offFlags]); err != nil {
		return nil, err
	}
	switch kind {
	case kPointer, kSlice, kChan:
		c.SetLoader(func(c *types.Ctype) { c.SetElem(elem(offElem)) })
	case kArray:
		c.Count = int64(long(offLen))
		c.SetLoader(func(c *types.Ctype) { c.SetElem(elem(offElem)) })
	case kMap:
		c.SetLoader(func(c *types.Ctype) {
			c.SetKey(elem(offElem))
			c.SetElem(elem(offValue))
		})
	case kInterface:
		c.Empty = long(offLen) == 0
	case kStruct:
		n := long(offLen)
		c.SetLoader(func(c *types.Ctype) { c.SetFields(t.fields(t.pointer(addr+offValue), n)) })
	}
	t.known[addr] = out
	return out, nil
}

// pkg reads the path of a type's package: it begins abi.UncommonType.
func (t *Types) pkg(addr uint64, kind, flags byte) (string, error) {
	at, ok := t.uncommon(addr, kind, flags)
	if !ok {
		return "", nil
	}
	b, err := t.f.Bytes(at, 4)
	if err != nil || len(b) < 4 {
		return "", ErrNone
	}
	off := binary.LittleEndian.Uint32(b)
	if off == 0 {
		return "", nil
	}
	return t.name(off, false)
}

// mostFields bounds what is read of a structure.
const mostFields = 4096

func (t *Types) fields(at, n uint64) []types.Field {
	if n > mostFields {
		return nil
	}
	var out []types.Field
	for i := uint64(0); i < n; i++ {
		f := at + i*fieldSize
		b, err := t.f.Bytes(f, fieldSize)
		if err != nil || len(b) < fieldSize {
			return nil
		}
		name, embedded, err := t.nameAt(t.pointer(f))
		if err != nil {
			return nil
		}
		ft, err := t.At(t.pointer(f + 8))
		if err != nil {
			return nil
		}
		out = append(out, types.Field{Name: name, Type: ft.Ctype, Off: int64(binary.LittleEndian.Uint64(b[16:])),
			Embedded: embedded})
	}
	return out
}

func (t *Types) name(off uint32, star bool) (string, error) {
	s, _, err := t.nameAt(t.lo + uint64(off))
	if star && len(s) > 0 {
		s = s[1:]
	}
	return s, err
}

// mostName bounds a name.
const mostName = 1 << 14

// nameAt reads a name (internal/abi.Name): a byte of flags, the length as a varint, the bytes.
func (t *Types) nameAt(at uint64) (name string, embedded bool, err error) {
	if at < t.lo || at >= t.hi {
		return "", false, fmt.Errorf("a name of a type lies outside of the types")
	}
	b, err := t.f.Bytes(at, 1+binary.MaxVarintLen32)
	if err != nil || len(b) < 2 {
		return "", false, ErrNone
	}
	n, k := binary.Uvarint(b[1:])
	if k <= 0 || n > mostName {
		return "", false, ErrNone
	}
	s, err := t.f.Bytes(at+1+uint64(k), int(n))
	if err != nil || uint64(len(s)) < n {
		return "", false, ErrNone
	}
	return string(s[:n]), b[0]&(1<<3) != 0, nil
}

// pointer reads the pointer at a file address, 0 where there is none.
func (t *Types) pointer(at uint64) uint64 {
	v, _ := t.f.Word(at)
	return v
}

// The kinds of internal/abi.
const (
	kArray     = 17
	kChan      = 18
	kFunc      = 19
	kInterface = 20
	kMap       = 21
	kPointer   = 22
	kSlice     = 23
	kStruct    = 25
)

var kinds = [...]struct {
	kind   types.Kind
	signed bool
}{
	1: {types.Bool, false}, 2: {types.Int, true}, 3: {types.Int, true}, 4: {types.Int, true}, 5: {types.Int, true},
	6: {types.Int, true}, 7: {types.Int, false}, 8: {types.Int, false}, 9: {types.Int, false}, 10: {types.Int, false},
	11: {types.Int, false}, 12: {types.Int, false}, 13: {types.Float, true}, 14: {types.Float, true},
	15: {types.Complex, true}, 16: {types.Complex, true}, kArray: {types.Array, false}, kChan: {types.GoChan, false},
	kFunc: {types.GoFunc, false}, kInterface: {types.GoInterface, false}, kMap: {types.GoMap, false},
	kPointer: {types.Pointer, false}, kSlice: {types.GoSlice, false}, 24: {types.GoString, false},
	kStruct: {types.Struct, false}, 26: {types.Pointer, false},
}
