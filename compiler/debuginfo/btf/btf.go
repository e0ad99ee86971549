// Package btf reads the kernel's type information where it lies, without building a tree of it
// (Documentation/bpf/btf.rst has the format): opening takes one pass over the types to find where they begin, a
// look-up of a name one search among the strings and one pass more.
//
// In: the running kernel's BTF, a file of BTF or an ELF file with it; all bytes are foreign and checked. Out: Types,
// whose records are found by number and by name, with the parts of each as they are written.
package btf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/gostap/gostap/compiler/debuginfo/slots"
)

// The kinds of types (include/uapi/linux/btf.h).
const (
	KindVoid = iota
	KindInt
	KindPtr
	KindArray
	KindStruct
	KindUnion
	KindEnum
	KindFwd
	KindTypedef
	KindVolatile
	KindConst
	KindRestrict
	KindFunc
	KindFuncProto
	KindVar
	KindDatasec
	KindFloat
	KindDeclTag
	KindTypeTag
	KindEnum64
	kindMax = KindEnum64
)

// extraFixed and extraEach are the bytes that follow a type's 12: a fixed number, and one for each of its
// vlen elements.
var (
	extraFixed = [kindMax + 1]int{KindInt: 4, KindArray: 12, KindVar: 4, KindDeclTag: 4}
	extraEach  = [kindMax + 1]int{KindStruct: 12, KindUnion: 12, KindEnum: 8,
		KindFuncProto: 8, KindDatasec: 12, KindEnum64: 12}
)

const (
	magic     = 0xeb9f
	headerLen = 24
	// maxBytes bounds what is read: the largest known BTF, of a kernel with all modules built in, has 20 MB.
	maxBytes = 256 << 20
)

// Types is the BTF of the kernel or, with a base, what a module adds to it. Several goroutines may use it.
type Types struct {
	base  *Types
	types []byte
	strs  []byte
	// first is the number of the first type, strOff the offset of the first string: both count on from the base's.
	first  uint32
	strOff uint32
	// at has the offset in types of every type.
	at []uint32
	mu sync.Mutex
	// found are the answers to the first questions, tables answer all that follow.
	found  map[key][]uint32
	tables [groups]slots.Table
}

var le = binary.LittleEndian

// New checks the bytes of a BTF file and finds where its types begin. The bytes are kept. base is nil for the
// kernel itself.
func New(b []byte, base *Types) (*Types, error) {
	bad := func(format string, args ...any) (*Types, error) {
		return nil, fmt.Errorf("damaged BTF: "+format, args...)
	}
	if len(b) < headerLen {
		return bad("%d bytes are too few", len(b))
	}
	if len(b) > maxBytes {
		return bad("%d bytes are too many", len(b))
	}
	switch got := le.Uint16(b); {
	case got == magic>>8|magic&0xff<<8:
		return nil, errors.New("this BTF is of a big-endian machine")
	case got != magic:
		return bad("it begins with %#x", got)
	case b[2] != 1:
		return nil, fmt.Errorf("BTF of version %d is not supported", b[2])
	}
	hdr := uint64(le.Uint32(b[4:]))
	part := func(at int) []byte {
		off, n := hdr+uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
		if hdr < headerLen || off+n > uint64(len(b)) {
			return nil
		}
		return b[off : off+n : off+n]
	}
	x := &Types{base: base, types: part(8), strs: part(16), first: 1}
	if x.types == nil || x.strs == nil {
		return bad("a section reaches beyond the end")
	}
	if n := len(x.strs); n > 0 && x.strs[n-1] != 0 {
		return bad("the last string has no end")
	}
	if base != nil {
		x.first = base.first + uint32(len(base.at))
		x.strOff = base.strOff + uint32(len(base.strs))
		if x.strOff < base.strOff || uint64(x.strOff)+uint64(len(x.strs)) > math.MaxUint32 {
			return bad("too many strings")
		}
	}
	x.at = make([]uint32, 0, len(x.types)/24+1)
	for off := 0; off < len(x.types); {
		size := recordSize(x.types[off:])
		if size < 0 {
			return bad("type %d is cut off or of an unknown kind", int(x.first)+len(x.at))
		}
		x.at = append(x.at, uint32(off))
		off += size
	}
	return x, nil
}

// recordSize is the length of the type that b begins with, -1 if it is damaged.
func recordSize(b []byte) int {
	if len(b) < 12 {
		return -1
	}
	info := le.Uint32(b[4:])
	kind := info >> 24 & 0x1f
	if kind == KindVoid || kind > kindMax {
		return -1
	}
	size := 12 + extraFixed[kind] + extraEach[kind]*int(info&0xffff)
	if size > len(b) {
		return -1
	}
	return size
}

// Record is one type. The zero value is none.
type Record struct {
	b  []byte // the 12 bytes and what belongs to them
	id uint32
}

// ID is the type's number.
func (r Record) ID() uint32 { return r.id }

// Kind is one of the constants.
func (r Record) Kind() int {
	if r.b == nil {
		return KindVoid
	}
	return int(le.Uint32(r.b[4:]) >> 24 & 0x1f)
}

// Flag is the bit of the kind's own: of a struct that it has bit fields, of what is announced that it is a
// union, of an enum that it is signed.
func (r Record) Flag() bool { return r.b[7]&0x80 != 0 }

// Len is the number of members, enumerators or parameters.
func (r Record) Len() int { return int(le.Uint16(r.b[4:])) }

// Ref is the type that r refers to, Size how many bytes values of it take; a record has one of them.
func (r Record) Ref() uint32 { return le.Uint32(r.b[8:]) }

// Size is how many bytes values of r take, for the kinds that have no Ref.
func (r Record) Size() int64 { return int64(le.Uint32(r.b[8:])) }

// Word is the i-th 32-bit word behind the 12 bytes that all kinds have.
func (r Record) Word(i int) uint32 { return le.Uint32(r.b[12+4*i:]) }

// Named reports whether r has a name.
func (r Record) Named() bool { return r.nameOff() != 0 }

func (r Record) nameOff() uint32 { return le.Uint32(r.b) }

// At gives type id. ok is false for void, which has number 0, and for numbers that there are not.
func (x *Types) At(id uint32) (r Record, ok bool) {
	for x != nil && id < x.first && x.base != nil {
		x = x.base
	}
	if id < x.first || int(id-x.first) >= len(x.at) {
		return Record{}, false
	}
	return x.record(int(id - x.first)), true
}

// record gives the i-th type of x itself.
func (x *Types) record(i int) Record {
	end := len(x.types)
	if i+1 < len(x.at) {
		end = int(x.at[i+1])
	}
	off := int(x.at[i])
	return Record{x.types[off:end:end], x.first + uint32(i)}
}

// Each calls f for every type of x itself until f says false.
func (x *Types) Each(f func(Record) bool) {
	for i := range x.at {
		if !f(x.record(i)) {
			return
		}
	}
}

// String gives the string at off, "" if there is none. It shares the memory of the bytes, which stays.
func (x *Types) String(off uint32) string {
	for off < x.strOff && x.base != nil {
		x = x.base
	}
	if off < x.strOff || off-x.strOff >= uint32(len(x.strs)) {
		return ""
	}
	s := x.strs[off-x.strOff:]
	s = s[:bytes.IndexByte(s, 0)]
	return unsafe.String(unsafe.SliceData(s), len(s))
}

// Name is the name of r, "" if it has none.
func (x *Types) Name(r Record) string { return x.String(r.nameOff()) }

// First is the number of x's first type: those below it are the base's.
func (x *Types) First() uint32 { return x.first }

// Is reports whether the string at off is s, which has to have no NUL.
func (x *Types) Is(off uint32, s string) bool {
	for off < x.strOff && x.base != nil {
		x = x.base
	}
	at, end := uint64(off-x.strOff), uint64(off-x.strOff)+uint64(len(s))
	return off >= x.strOff && end < uint64(len(x.strs)) && x.strs[end] == 0 && string(x.strs[at:end]) == s
}
