package kbtf

import (
	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/types"
)

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
	if s.above != nil && id < s.b.First() {
		return s.above.typeAt(id, depth)
	}
	r, ok := s.b.At(id)
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

func (s *Scope) read(r btf.Record, depth int) *types.Ctype {
	t := &types.Ctype{Name: s.declare(r.ID(), "", depth), Size: -1}
	switch r.Kind() {
	case btf.KindInt:
		t.Size = r.Size()
		enc := r.Word(0) >> 24
		t.Kind, t.Signed = types.Int, enc&intSigned != 0
		switch {
		case enc&intBool != 0:
			t.Kind = types.Bool
		case t.Size == 1 && (enc&intChar != 0 || t.Name == "char" || t.Name == "signed char" ||
			t.Name == "unsigned char"):
			t.Kind = types.Char
		}
	case btf.KindFloat:
		t.Kind, t.Size, t.Signed = types.Float, r.Size(), true
	case btf.KindPtr:
		t.Kind, t.Size = types.Pointer, 8
		t.User = s.userTag(r.Ref())
		to := r.Ref()
		t.SetLoader(func(t *types.Ctype) { t.SetElem(s.ctype(to)) })
	case btf.KindArray:
		t.Kind, t.Count = types.Array, int64(r.Word(2))
		elem := s.typeAt(r.Word(0), depth)
		if elem.Size >= 0 {
			// both have 32 bits, and elem.Size is below 1<<62 / 1<<32 or it is not an array of the kernel
			t.Size = elem.Size * t.Count
			if elem.Size > 1<<30 {
				t.Size = -1
			}
		}
		t.SetElem(elem)
	case btf.KindStruct, btf.KindUnion:
		t.Kind, t.Size = types.Struct, r.Size()
		if r.Kind() == btf.KindUnion {
			t.Kind = types.Union
		}
		t.SetLoader(func(t *types.Ctype) { t.SetFields(s.fields(r, t.Size)) })
	case btf.KindFwd:
		t.Kind = types.Struct
		if r.Flag() {
			t.Kind = types.Union
		}
		s.complete(t, r)
	case btf.KindEnum, btf.KindEnum64:
		t.Kind, t.Size, t.Signed = types.Enum, r.Size(), r.Flag()
		t.SetLoader(func(t *types.Ctype) { t.SetEnums(s.enumerators(r)) })
	case btf.KindFunc, btf.KindFuncProto:
		t.Kind = types.Func
	case btf.KindTypedef, btf.KindConst, btf.KindVolatile, btf.KindRestrict, btf.KindTypeTag:
		s.alias(t, s.typeAt(r.Ref(), depth))
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
		t.SetFields(s.renamed(t.Name, under.Fields()))
		t.SetEnums(under.Enums())
		if t.Size < 0 {
			t.Size = under.Size // a struct that was only announced
		}
	})
}

// complete has the fields of an announced struct or union read from its definition, which another
// module or the kernel itself may have.
func (s *Scope) complete(t *types.Ctype, r btf.Record) {
	name, kind := s.b.Name(r), btf.KindStruct
	if r.Flag() {
		kind = btf.KindUnion
	}
	t.SetLoader(func(t *types.Ctype) {
		for x := s; x != nil; x = x.above {
			for _, id := range x.b.Find(btf.GroupNamed, name) {
				if d, ok := x.b.At(id); ok && d.Kind() == kind {
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
		r, ok := s.b.At(id)
		if !ok {
			return false
		}
		switch r.Kind() {
		case btf.KindTypeTag:
			if s.b.Name(r) == "user" {
				return true
			}
		case btf.KindConst, btf.KindVolatile, btf.KindRestrict:
		default:
			return false
		}
		id = r.Ref()
	}
	return false
}

func (s *Scope) fields(r btf.Record, size int64) []types.Field {
	out := make([]types.Field, 0, r.Len())
	owner := s.owner(r)
	for i := range r.Len() {
		m := s.b.Member(r, i)
		f := types.Field{Name: m.Name, Type: s.ctype(m.Type), Off: m.Bit / 8, Owner: owner}
		if m.Bits > 0 && !bitField(&f, m.Bit, m.Bits, size) {
			continue
		}
		out = append(out, f)
	}
	return out
}

// bitField sets the place of a field of n bits from bit first of its struct on. The word that it is read from has the
// size of its type, or another where it would straddle two of those or reach beyond the struct.
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

func (s *Scope) enumerators(r btf.Record) []types.Enumerator {
	out := make([]types.Enumerator, 0, r.Len())
	for i := range r.Len() {
		var e types.Enumerator
		switch {
		case r.Kind() == btf.KindEnum64:
			e = types.Enumerator{Name: s.b.String(r.Word(3 * i)), Val: int64(r.Word(3*i+1)) | int64(r.Word(3*i+2))<<32}
		case r.Flag():
			e = types.Enumerator{Name: s.b.String(r.Word(2 * i)), Val: int64(int32(r.Word(2*i + 1)))}
		default:
			e = types.Enumerator{Name: s.b.String(r.Word(2 * i)), Val: int64(r.Word(2*i + 1))}
		}
		out = append(out, e)
	}
	return out
}
