package kbtf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// The kinds of BTF types (include/uapi/linux/btf.h).
const (
	kindVoid = iota
	kindInt
	kindPtr
	kindArray
	kindStruct
	kindUnion
	kindEnum
	kindFwd
	kindTypedef
	kindVolatile
	kindConst
	kindRestrict
	kindFunc
	kindFuncProto
	kindVar
	kindDatasec
	kindFloat
	kindDeclTag
	kindTypeTag
	kindEnum64
	kindMax = kindEnum64
)

// extraFixed and extraEach are the bytes that follow a type's 12: a fixed number, and one for each of its
// vlen elements.
var (
	extraFixed = [kindMax + 1]int{kindInt: 4, kindArray: 12, kindVar: 4, kindDeclTag: 4}
	extraEach  = [kindMax + 1]int{kindStruct: 12, kindUnion: 12, kindEnum: 8, kindFuncProto: 8, kindDatasec: 12, kindEnum64: 12}
)

const (
	btfMagic  = 0xeb9f
	headerLen = 24
	// stride is how many types lie between two entries of a blob's index.
	stride = 16
	// maxBlob bounds what is read: the largest known BTF, of a kernel with all modules built in, has 20 MB.
	maxBlob = 256 << 20
)

// blob is the BTF of the kernel or, with a base, what a module adds to it.
type blob struct {
	base  *blob
	types []byte
	strs  []byte
	// first is the number of the first type, strOff the offset of the first string: both count on from the base's.
	first  uint32
	strOff uint32
	count  uint32
	// index has the offset in types of every stride-th type.
	index []uint32
	// tables find types by name, once there were some lookups.
	tables  [groups]slots
	lookups int
}

var le = binary.LittleEndian

// newBlob checks the bytes of a BTF file and finds where its types begin. The bytes are kept.
func newBlob(b []byte, base *blob) (*blob, error) {
	bad := func(format string, args ...any) (*blob, error) {
		return nil, fmt.Errorf("damaged BTF: "+format, args...)
	}
	if len(b) < headerLen {
		return bad("%d bytes are too few", len(b))
	}
	if len(b) > maxBlob {
		return bad("%d bytes are too many", len(b))
	}
	switch magic := le.Uint16(b); {
	case magic == btfMagic>>8|btfMagic&0xff<<8:
		return nil, errors.New("this BTF is of a big-endian machine")
	case magic != btfMagic:
		return bad("it begins with %#x", magic)
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
	x := &blob{base: base, types: part(8), strs: part(16), first: 1}
	if x.types == nil || x.strs == nil {
		return bad("a section reaches beyond the end")
	}
	if n := len(x.strs); n > 0 && x.strs[n-1] != 0 {
		return bad("the last string has no end")
	}
	if base != nil {
		x.first = base.first + base.count
		x.strOff = base.strOff + uint32(len(base.strs))
		if x.strOff < base.strOff || uint64(x.strOff)+uint64(len(x.strs)) > math.MaxUint32 {
			return bad("too many strings")
		}
	}
	n := uint32(0)
	x.index = make([]uint32, 0, len(x.types)/(stride*24)+1)
	for off := 0; off < len(x.types); n++ {
		if n%stride == 0 {
			x.index = append(x.index, uint32(off))
		}
		size := recordSize(x.types[off:])
		if size < 0 {
			return bad("type %d is cut off or of an unknown kind", x.first+n)
		}
		off += size
	}
	x.count = n
	return x, nil
}

// recordSize is the length of the type that b begins with, -1 if it is damaged.
func recordSize(b []byte) int {
	if len(b) < 12 {
		return -1
	}
	info := le.Uint32(b[4:])
	kind := info >> 24 & 0x1f
	if kind == kindVoid || kind > kindMax {
		return -1
	}
	size := 12 + extraFixed[kind] + extraEach[kind]*int(info&0xffff)
	if size > len(b) {
		return -1
	}
	return size
}

// record is one type.
type record struct {
	b  []byte // the 12 bytes and what belongs to them
	id uint32
}

func (r record) kind() int       { return int(le.Uint32(r.b[4:]) >> 24 & 0x1f) }
func (r record) flag() bool      { return r.b[7]&0x80 != 0 }
func (r record) vlen() int       { return int(le.Uint16(r.b[4:])) }
func (r record) nameOff() uint32 { return le.Uint32(r.b) }

// ref is the type that r refers to, size how many bytes values of it take; a record has one of them.
func (r record) ref() uint32 { return le.Uint32(r.b[8:]) }
func (r record) size() int64 { return int64(le.Uint32(r.b[8:])) }

// word is the i-th 32-bit word behind the 12 bytes.
func (r record) word(i int) uint32 { return le.Uint32(r.b[12+4*i:]) }

// at gives type id. ok is false for void, which has number 0, and for numbers that there are not.
func (x *blob) at(id uint32) (r record, ok bool) {
	for x != nil && id < x.first && x.base != nil {
		x = x.base
	}
	if id < x.first || id-x.first >= x.count {
		return record{}, false
	}
	n := id - x.first
	off := int(x.index[n/stride])
	for range n % stride {
		off += recordSize(x.types[off:])
	}
	return record{x.types[off : off+recordSize(x.types[off:])], id}, true
}

// each calls f for every type of x itself until f says false.
func (x *blob) each(f func(record) bool) {
	id := x.first
	for off := 0; off < len(x.types); id++ {
		n := recordSize(x.types[off:])
		if !f(record{x.types[off : off+n : off+n], id}) {
			return
		}
		off += n
	}
}

// str gives the string at off, "" if there is none. It shares the blob's memory, which stays.
func (x *blob) str(off uint32) string {
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

func (x *blob) name(r record) string { return x.str(r.nameOff()) }

// offsets lists where name stands among the strings of x and its bases: as a whole, or as the end of another.
func (x *blob) offsets(name string) []uint32 {
	var out []uint32
	pat := append([]byte(name), 0)
	for ; x != nil; x = x.base {
		for at := 0; ; {
			i := bytes.Index(x.strs[at:], pat)
			if i < 0 {
				break
			}
			out = append(out, x.strOff+uint32(at+i))
			at += i + 1
		}
	}
	return out
}
