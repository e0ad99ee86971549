package kbtf

import "github.com/gostap/gostap/compiler/types"

const (
	// maxDepth bounds chains of typedefs, qualifiers, pointers and arrays.
	maxDepth = 64
	// Encodings of BTF_KIND_INT.
	intSigned = 1
	intChar   = 2
	intBool   = 4
)

var void = &types.Ctype{Kind: types.Void, Name: "void", Size: -1}

// unknown stands for a type that the file refers to but does not have.
var unknown = &types.Ctype{Kind: types.Void, Name: "?", Size: -1}

// ctype gives type id of the scope.
func (s *Scope) ctype(id uint32) *types.Ctype { return s.typeAt(id, 0) }

func (s *Scope) typeAt(id uint32, depth int) *types.Ctype {
	if id == 0 {
		return void
	}
	if t := s.types[id]; t != nil {
		return t
	}
	if s.above != nil && id < s.b.first {
		return s.above.typeAt(id, depth)
	}
	r, ok := s.b.at(id)
	if !ok || depth > maxDepth {
		return unknown
	}
	t := s.read(r, depth+1)
	if s.types == nil {
		s.types = map[uint32]*types.Ctype{}
	}
	s.types[id] = t
	return t
}

func (s *Scope) read(r record, depth int) *types.Ctype {
	t := &types.Ctype{Name: s.declare(r.id, "", depth), Size: -1}
	switch r.kind() {
	case kindInt:
		t.Size = r.size()
		enc := r.word(0) >> 24
		t.Kind, t.Signed = types.Int, enc&intSigned != 0
		switch {
		case enc&intBool != 0:
			t.Kind = types.Bool
		case t.Size == 1 && (enc&intChar != 0 || t.Name == "char" || t.Name == "signed char" || t.Name == "unsigned char"):
			t.Kind = types.Char
		}
	case kindFloat:
		t.Kind, t.Size, t.Signed = types.Float, r.size(), true
	case kindPtr:
		t.Kind, t.Size = types.Pointer, 8
		t.User = s.userTag(r.ref())
		to := r.ref()
		t.SetLoader(func(t *types.Ctype) { t.SetElem(s.ctype(to)) })
	case kindArray:
		t.Kind, t.Count = types.Array, int64(r.word(2))
		elem := s.typeAt(r.word(0), depth)
		if elem.Size >= 0 {
			t.Size = elem.Size * t.Count // both have 32 bits, and elem.Size is below 1<<62 / 1<<32 or it is not an array of the kernel
			if elem.Size > 1<<30 {
				t.Size = -1
			}
		}
		t.SetElem(elem)
	case kindStruct, kindUnion:
		t.Kind, t.Size = types.Struct, r.size()
		if r.kind() == kindUnion {
			t.Kind = types.Union
		}
		t.SetLoader(func(t *types.Ctype) { t.SetFields(s.fields(r, t.Size)) })
	case kindFwd:
		t.Kind = types.Struct
		if r.flag() {
			t.Kind = types.Union
		}
		s.complete(t, r)
	case kindEnum, kindEnum64:
		t.Kind, t.Size, t.Signed = types.Enum, r.size(), r.flag()
		t.SetLoader(func(t *types.Ctype) { t.SetEnums(s.enumerators(r)) })
	case kindFunc, kindFuncProto:
		t.Kind = types.Func
	case kindTypedef, kindConst, kindVolatile, kindRestrict, kindTypeTag:
		s.alias(t, s.typeAt(r.ref(), depth))
	default: // variables and their sections are not types
		t.Kind = types.Void
	}
	return t
}

// alias makes t what under is, under t's own name.
func (s *Scope) alias(t, under *types.Ctype) {
	t.Kind, t.Size, t.Signed, t.Count, t.User = under.Kind, under.Size, under.Signed, under.Count, under.User
	t.SetLoader(func(t *types.Ctype) {
		t.SetElem(under.Elem())
		t.SetFields(under.Fields())
		t.SetEnums(under.Enums())
		if t.Size < 0 {
			t.Size = under.Size // a struct that was only announced
		}
	})
}

// complete has the fields of an announced struct or union read from its definition, which another
// module or the kernel itself may have.
func (s *Scope) complete(t *types.Ctype, r record) {
	name, kind := s.b.name(r), kindStruct
	if r.flag() {
		kind = kindUnion
	}
	t.SetLoader(func(t *types.Ctype) {
		for x := s; x != nil; x = x.above {
			for _, id := range x.b.find(groupNamed, name) {
				if d, ok := x.b.at(id); ok && d.kind() == kind {
					full := x.ctype(id)
					t.Size = full.Size
					t.SetFields(full.Fields())
					return
				}
			}
		}
	})
}

// userTag reports whether a pointer to type id carries the tag of pointers into user space
// (__user, which compilers record since clang 15 and gcc 16), in front of or behind qualifiers.
func (s *Scope) userTag(id uint32) bool {
	for range maxDepth {
		r, ok := s.b.at(id)
		if !ok {
			return false
		}
		switch r.kind() {
		case kindTypeTag:
			if s.b.name(r) == "user" {
				return true
			}
		case kindConst, kindVolatile, kindRestrict:
		default:
			return false
		}
		id = r.ref()
	}
	return false
}

func (s *Scope) fields(r record, size int64) []types.Field {
	out := make([]types.Field, 0, r.vlen())
	for i := range r.vlen() {
		f := types.Field{Name: s.b.str(r.word(3 * i)), Type: s.ctype(r.word(3*i + 1))}
		first, bits := int64(r.word(3*i+2)), int64(0)
		if r.flag() {
			first, bits = first&0xffffff, first>>24
		} else if off, n, ok := s.intBits(r.word(3*i + 1)); ok {
			first, bits = first+off, n // the way of kernels before 5.1
		}
		f.Off = first / 8
		if bits > 0 && !bitField(&f, first, bits, size) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// intBits gives the offset and number of bits of an integer type that is narrower than its size.
func (s *Scope) intBits(id uint32) (off, n int64, ok bool) {
	r, found := s.b.at(id)
	if !found || r.kind() != kindInt {
		return 0, 0, false
	}
	w := r.word(0)
	off, n = int64(w>>16&0xff), int64(w&0xff)
	return off, n, n > 0 && n < 8*r.size()
}

// bitField sets the place of a field of n bits from bit first of its struct on. The word that it is read from has the size
// of its type, or another where it would straddle two of those or reach beyond the struct.
func bitField(f *types.Field, first, n, structSize int64) bool {
	size := f.Type.Size
	if n > 64 || size <= 0 || size > 8 {
		return false
	}
	f.BitSize = n
	fits := func(size, off int64) bool {
		return off >= 0 && first >= 8*off && first+n <= 8*(off+size) && off+size <= structSize
	}
	if off := first / (8 * size) * size; fits(size, off) {
		f.Off, f.BitOff = off, first-8*off
		return true
	}
	for _, w := range []int64{1, 2, 4, 8} {
		if off := min(first/8, structSize-w); fits(w, off) {
			f.Off, f.BitOff = off, first-8*off
			if w != size {
				f.Type = &types.Ctype{Kind: f.Type.Kind, Name: f.Type.Name, Size: w, Signed: f.Type.Signed}
			}
			return true
		}
	}
	return false
}

func (s *Scope) enumerators(r record) []types.Enumerator {
	out := make([]types.Enumerator, 0, r.vlen())
	for i := range r.vlen() {
		var e types.Enumerator
		switch {
		case r.kind() == kindEnum64:
			e = types.Enumerator{Name: s.b.str(r.word(3 * i)), Val: int64(r.word(3*i+1)) | int64(r.word(3*i+2))<<32}
		case r.flag():
			e = types.Enumerator{Name: s.b.str(r.word(2 * i)), Val: int64(int32(r.word(2*i + 1)))}
		default:
			e = types.Enumerator{Name: s.b.str(r.word(2 * i)), Val: int64(r.word(2*i + 1))}
		}
		out = append(out, e)
	}
	return out
}
