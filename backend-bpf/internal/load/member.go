package load

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

// More kinds of types in BTF.
const (
	kindInt      = 1
	kindPtr      = 2
	kindArray    = 3
	kindStruct   = 4
	kindUnion    = 5
	kindEnum     = 6
	kindVolatile = 9
	kindConst    = 10
	kindRestrict = 11
	kindFloat    = 16
	kindTypeTag  = 18
	kindEnum64   = 19
)

// KernelMember gives the byte offset and size of a member of one of the kernel's structures, such as "task_struct",
// "thread.fsbase". Members of anonymous members count as the structure's own.
func KernelMember(structure, path string) (off, size int, err error) {
	x, err := kernelIndex()
	if err != nil {
		return 0, 0, err
	}
	return x.member(structure, path)
}

var kernelIndex = sync.OnceValues(func() (*typeIndex, error) {
	raw, err := kernelBTF()
	if err != nil {
		return nil, err
	}
	return newTypeIndex(raw)
})

// typeIndex finds types by number.
type typeIndex struct {
	types, strs []byte
	at          []uint32 // of each type in types; type 0 is void
}

func newTypeIndex(raw []byte) (*typeIndex, error) {
	types, strs, err := sectionsOf(raw)
	if err != nil {
		return nil, err
	}
	x := &typeIndex{types: types, strs: strs, at: make([]uint32, 1, len(types)/24+1)}
	for o := 0; o+12 <= len(types); {
		x.at = append(x.at, uint32(o))
		n, err := typeSize(types[o:])
		if err != nil {
			return nil, fmt.Errorf("%w: type %d", err, len(x.at)-1)
		}
		o += n
	}
	return x, nil
}

// get gives a type's record, nil if there is none.
func (x *typeIndex) get(id uint32) []byte {
	if id == 0 || int(id) >= len(x.at) {
		return nil
	}
	return x.types[x.at[id]:]
}

func kindOf(t []byte) uint32 { return binary.LittleEndian.Uint32(t[4:]) >> 24 & 0x1f }

// plain goes through names and qualifiers.
func (x *typeIndex) plain(id uint32) []byte {
	for range 32 {
		t := x.get(id)
		if t == nil {
			return nil
		}
		switch kindOf(t) {
		case KindTypedef, kindVolatile, kindConst, kindRestrict, kindTypeTag:
			id = binary.LittleEndian.Uint32(t[8:])
		default:
			return t
		}
	}
	return nil
}

func (x *typeIndex) name(off uint32) string {
	if uint64(off) >= uint64(len(x.strs)) {
		return ""
	}
	s := x.strs[off:]
	if i := bytes.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return string(s)
}

func (x *typeIndex) member(structure, path string) (off, size int, err error) {
	le := binary.LittleEndian
	at := bytes.Index(x.strs, append(append([]byte{0}, structure...), 0))
	var t []byte
	for id := 1; at >= 0 && id < len(x.at); id++ {
		c := x.types[x.at[id]:]
		if le.Uint32(c) == uint32(at+1) && kindOf(c) == kindStruct {
			if t != nil {
				return 0, 0, fmt.Errorf("the kernel has two structures %s", structure)
			}
			t = c
		}
	}
	if t == nil {
		return 0, 0, fmt.Errorf("the kernel has no structure %s", structure)
	}
	for _, name := range strings.Split(path, ".") {
		o, m, ok, err := x.find(t, name, 0)
		if err != nil {
			return 0, 0, fmt.Errorf("%s.%s: %w", structure, path, err)
		}
		if !ok {
			return 0, 0, fmt.Errorf("structure %s has no %s", structure, path)
		}
		off += o
		if t = x.plain(m); t == nil {
			return 0, 0, errBTF
		}
	}
	size, err = x.size(t)
	return off, size, err
}

// find finds a member of t by name: its offset and type.
func (x *typeIndex) find(t []byte, name string, depth int) (off int, typ uint32, ok bool, err error) {
	le := binary.LittleEndian
	k := kindOf(t)
	if k != kindStruct && k != kindUnion || depth > 16 {
		return 0, 0, false, nil
	}
	info := le.Uint32(t[4:])
	n, fields := int(info&0xffff), info>>31 == 1
	for i := range n {
		m := t[12+12*i:]
		bits := le.Uint32(m[8:])
		wide := uint32(0)
		if fields {
			bits, wide = bits&0xffffff, bits>>24
		}
		switch s := x.name(le.Uint32(m)); {
		case s == name && (wide != 0 || bits%8 != 0):
			return 0, 0, false, fmt.Errorf("%s is a bit field", name)
		case s == name:
			return int(bits / 8), le.Uint32(m[4:]), true, nil
		case s == "":
			in := x.plain(le.Uint32(m[4:]))
			if in == nil {
				continue
			}
			if off, typ, ok, err := x.find(in, name, depth+1); ok || err != nil {
				return int(bits/8) + off, typ, ok, err
			}
		}
	}
	return 0, 0, false, nil
}

// size gives the bytes of a plain type.
func (x *typeIndex) size(t []byte) (int, error) {
	le := binary.LittleEndian
	n := 1
	for range 16 {
		switch kindOf(t) {
		case kindInt, kindStruct, kindUnion, kindEnum, kindFloat, kindEnum64:
			return n * int(le.Uint32(t[8:])), nil
		case kindPtr:
			return n * 8, nil
		case kindArray:
			count := le.Uint32(t[20:])
			if count > 1<<24 || n > 1<<24 {
				return 0, errBTF
			}
			n *= int(count)
			if t = x.plain(le.Uint32(t[12:])); t == nil {
				return 0, errBTF
			}
		default:
			return 0, fmt.Errorf("a type of kind %d has no size", kindOf(t))
		}
	}
	return 0, errBTF
}
