package btf

import (
	"errors"
	"fmt"
	"strings"
)

// maxDepth bounds chains of typedefs, qualifiers, pointers and arrays.
const maxDepth = 64

// Member is a member of a structure or union.
type Member struct {
	Name string
	Type uint32
	// Bit is where it begins in the structure, in bits. Bits is the width of a bit field, 0 for others.
	Bit, Bits int64
}

// Member gives the i-th member of r, which is a structure or a union.
func (x *Types) Member(r Record, i int) Member {
	m := Member{Name: x.String(r.Word(3 * i)), Type: r.Word(3*i + 1), Bit: int64(r.Word(3*i + 2))}
	if r.Flag() {
		m.Bit, m.Bits = m.Bit&0xffffff, m.Bit>>24
	} else if off, n, ok := x.intBits(m.Type); ok {
		m.Bit, m.Bits = m.Bit+off, n // the way of kernels before 5.1
	}
	return m
}

// Enumerator gives the value of one of the names of an enum of 32 bits.
func (x *Types) Enumerator(enum, name string) (value int64, ok bool) {
	for _, id := range x.FindKind(KindEnum, enum) {
		r, _ := x.At(id)
		for i := range r.Len() {
			if x.Is(r.Word(2*i), name) {
				return int64(int32(r.Word(2*i + 1))), true
			}
		}
	}
	return 0, false
}

// intBits gives the offset and number of bits of an integer type that is narrower than its size.
func (x *Types) intBits(id uint32) (off, n int64, ok bool) {
	r, found := x.At(id)
	if !found || r.Kind() != KindInt {
		return 0, 0, false
	}
	w := r.Word(0)
	off, n = int64(w>>16&0xff), int64(w&0xff)
	return off, n, n > 0 && n < 8*r.Size()
}

// Plain gives the type behind names, qualifiers and tags, ok false if there is none or it is void.
func (x *Types) Plain(id uint32) (r Record, ok bool) {
	return x.behind(id, func(kind int) bool { return kind == KindPtr })
}

// Prototype gives the prototype of a function type, or of a pointer or typedef for one.
func (x *Types) Prototype(id uint32) (r Record, ok bool) {
	r, ok = x.behind(id, func(int) bool { return false })
	return r, ok && r.Kind() == KindFuncProto
}

// behind goes through what only refers to another type, up to a kind at which stop says so.
func (x *Types) behind(id uint32, stop func(kind int) bool) (r Record, ok bool) {
	for range maxDepth {
		if r, ok = x.At(id); !ok || stop(r.Kind()) {
			return r, ok
		}
		switch r.Kind() {
		case KindPtr, KindTypedef, KindConst, KindVolatile, KindRestrict, KindTypeTag:
			id = r.Ref()
		default:
			return r, true
		}
	}
	return Record{}, false
}

var errDamaged = errors.New("damaged BTF")

// MemberAt gives the byte offset and size of a member of a structure, such as "task_struct", "thread.fsbase".
// Members of anonymous members count as the structure's own.
func (x *Types) MemberAt(structure, path string) (off, size int, err error) {
	ids := x.FindKind(KindStruct, structure)
	if len(ids) > 1 {
		return 0, 0, fmt.Errorf("the kernel has two structures %s", structure)
	}
	if len(ids) == 0 {
		return 0, 0, fmt.Errorf("the kernel has no structure %s", structure)
	}
	t, _ := x.At(ids[0])
	for name := range strings.SplitSeq(path, ".") {
		m, ok := x.member(t, name, 0)
		switch {
		case !ok:
			return 0, 0, fmt.Errorf("structure %s has no %s", structure, path)
		case m.Bits != 0 || m.Bit%8 != 0:
			return 0, 0, fmt.Errorf("%s.%s: %s is a bit field", structure, path, name)
		}
		off += int(m.Bit / 8)
		if t, ok = x.Plain(m.Type); !ok {
			return 0, 0, errDamaged
		}
	}
	n, err := x.sizeOf(t)
	return off, int(n), err
}

// member finds a member of t by name.
func (x *Types) member(t Record, name string, depth int) (Member, bool) {
	if k := t.Kind(); k != KindStruct && k != KindUnion || depth > 16 {
		return Member{}, false
	}
	for i := range t.Len() {
		m := x.Member(t, i)
		if m.Name == name {
			return m, true
		}
		if m.Name != "" {
			continue
		}
		if in, ok := x.Plain(m.Type); ok {
			if sub, ok := x.member(in, name, depth+1); ok {
				sub.Bit += m.Bit
				return sub, true
			}
		}
	}
	return Member{}, false
}

// sizeOf gives the bytes of a plain type.
func (x *Types) sizeOf(t Record) (int64, error) {
	n := int64(1)
	for range 16 {
		switch t.Kind() {
		case KindInt, KindStruct, KindUnion, KindEnum, KindFloat, KindEnum64:
			return n * t.Size(), nil
		case KindPtr:
			return n * 8, nil
		case KindArray:
			count, ok := int64(t.Word(2)), false
			if count > 1<<24 || n > 1<<24 {
				return 0, errDamaged
			}
			n *= count
			if t, ok = x.Plain(t.Word(0)); !ok {
				return 0, errDamaged
			}
		default:
			return 0, fmt.Errorf("a type of kind %d has no size", t.Kind())
		}
	}
	return 0, errDamaged
}
