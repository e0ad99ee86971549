package types

import (
	"fmt"
	"sync"
)

// Kind says what sort of thing a traced program's type is.
type Kind uint8

// The kinds. Typedefs of C and named types of Go are the kind of what they stand
// for; their name is kept.
const (
	Void Kind = iota
	Int       // signed or not, by Signed
	Bool
	Char // C char and its signed and unsigned forms; Go byte is Int
	Float
	Complex
	Enum
	Pointer
	Array
	Struct
	Union
	Func        // C function type
	GoString    // fields str, len
	GoSlice     // fields array, len, cap
	GoInterface // fields tab or _type, data
	GoMap       // pointer to the runtime's map header
	GoChan      // pointer to runtime.hchan
	GoFunc      // pointer to a closure
)

// Ctype is a type of a traced program. What a pointer, array or slice points to and
// the fields of structures are read from the debug information when first asked for,
// since a kernel structure reaches thousands of others.
type Ctype struct {
	Kind Kind
	// Name is how the program's language writes it: "int", "struct foo *", "*main.Server", "[]string".
	Name string
	// Pkg is the path of the package of a named Go type whose Name has only the package's name.
	Pkg string
	// Size is in bytes; -1 when unknown (incomplete type).
	Size   int64
	Signed bool
	// Count is the number of elements of an Array, -1 when unknown.
	Count int64
	// Empty marks a Go interface without methods (word 0 is the type, not an itab).
	Empty bool
	// Vector marks an Array of C that is a SIMD vector (__m128): it is passed in vector registers.
	Vector bool
	// User marks a Pointer of the kernel that is known to lead into user memory (__user).
	User bool
	// Go marks types of Go programs.
	Go bool
	// Lang is the language of a type, where that is C++ or Rust.
	Lang Lang
	// Own is the name of a type of C++ or Rust alone, as its debug information has it: "vector<int, ...>", and for a
	// pointer of Rust "&i32". An enumeration has one only if its constants are known by it (enum class).
	Own string
	// Align is the alignment in bytes where the debug information says it, 0 elsewhere.
	Align int64
	// Ref marks a Pointer that is a reference of C++.
	Ref bool
	// RunTime is how far behind the first of them the type lies among those that a Go program has for itself; 0 if it
	// is not there, which NoRunTime says, or if that is not known.
	RunTime   uint64
	NoRunTime bool

	once   sync.Once
	load   func(*Ctype)
	elem   *Ctype // Pointer, Array, GoSlice, GoChan; underlying element
	key    *Ctype // GoMap key; elem is its value
	fields []Field
	enums  []Enumerator
	more   More
}

// Lang is a language whose types are told apart from those of C.
type Lang uint8

// The languages: all others, C++, Rust.
const (
	OtherLang Lang = iota
	CPlus
	Rust
)

// More is what structures of C++ and Rust have beside their members.
type More struct {
	// Scope are the namespaces and types around the type, "std::__cxx11".
	Scope string
	// Params are the type parameters by their names; Type is nil for void.
	Params []Field
	// Variants says which of several structures an enum of Rust holds; nil for other types.
	Variants *Variants
}

// Variants are the forms of an enum of Rust.
type Variants struct {
	// Tag is the number that tells which it is; its Type is nil where there is only one.
	Tag  Field
	List []Variant
	// Large: some tags do not fit into 8 bytes.
	Large bool
}

// Variant is one form: what the enum is while its tag is Val, or none of the others' where Default is set.
type Variant struct {
	Field
	Val     uint64
	Default bool
}

// Field is a member of a Struct or Union.
type Field struct {
	Name string // "" for an anonymous C member
	Type *Ctype
	// Off is the byte offset in the structure.
	Off int64
	// BitOff and BitSize describe a bit field: BitOff counts from the least
	// significant bit of the little-endian word of Type.Size bytes at Off. BitSize 0: none.
	BitOff, BitSize int64
	// Embedded marks Go's embedded fields, whose own fields are promoted.
	Embedded bool
	// Base marks the part of a class of C++ that a class it is derived from has; Virtual, that where it lies is known
	// to the object alone.
	Base, Virtual bool
	// Owner is the structure of the kernel that has the field, where that is to be looked up in the kernel that the
	// program will run in: as debuginfo/kbtf names it, AnonymousOwner if it has no name. "": Off is the place.
	Owner string
}

// AnonymousOwner is the Owner of fields of structures without a name.
const AnonymousOwner = "?"

// Shape tells how a field is read: its bytes, with s if they have a sign, p for a pointer, and its bits. Of structures
// nothing is said, of arrays what is said of their elements.
func (f Field) Shape() string {
	t, s := f.Type, ""
	for t != nil && t.Kind == Array {
		t, s = t.Elem(), s+"[]"
	}
	switch {
	case t == nil || t.Kind == Struct || t.Kind == Union:
		return s + "struct"
	case t.Kind == Pointer:
		s += "pointer"
	case t.Kind == Char && s != "":
		s += "char" // a text, whatever the compiler took as char's sign
	default:
		s += fmt.Sprint(t.Size)
		if t.Signed {
			s += "s"
		}
	}
	if f.BitSize > 0 {
		s += fmt.Sprintf(" bits %d+%d", f.BitOff, f.BitSize)
	}
	return s
}

// Enumerator is a named constant of an Enum.
type Enumerator struct {
	Name string
	Val  int64
}

// SetLoader has load called once, before the first use of elem, key, fields or enums.
func (t *Ctype) SetLoader(load func(*Ctype)) { t.load = load }

func (t *Ctype) ready() {
	if t.load != nil {
		t.once.Do(func() { t.load(t) })
	}
}

// SetElem, SetKey, SetFields and SetEnums are for readers of debug information.
func (t *Ctype) SetElem(e *Ctype)         { t.elem = e }
func (t *Ctype) SetKey(k *Ctype)          { t.key = k }
func (t *Ctype) SetFields(f []Field)      { t.fields = f }
func (t *Ctype) SetEnums(es []Enumerator) { t.enums = es }

// SetMore is likewise.
func (t *Ctype) SetMore(m More) { t.more = m }

// More is what structures of C++ and Rust have beside their members.
func (t *Ctype) More() *More { t.ready(); return &t.more }

// Elem is what a pointer points to or a sequence is made of; a map's value. nil if none.
func (t *Ctype) Elem() *Ctype { t.ready(); return t.elem }

// Key is a map's key type.
func (t *Ctype) Key() *Ctype { t.ready(); return t.key }

// Fields are the members in declaration order.
func (t *Ctype) Fields() []Field { t.ready(); return t.fields }

// Enums are the named constants.
func (t *Ctype) Enums() []Enumerator { t.ready(); return t.enums }

// IsBytes reports whether t is a slice of Go of bytes, or of a named type like byte.
func (t *Ctype) IsBytes() bool {
	e := t.Elem()
	return t.Kind == GoSlice && e != nil && e.Kind == Int && e.Size == 1 && !e.Signed
}

// IsScalar reports whether a value of t fits a script long.
func (t *Ctype) IsScalar() bool {
	switch t.Kind {
	case Int, Bool, Char, Enum, Pointer, GoMap, GoChan, GoFunc:
		return t.Size <= 8
	}
	return false
}
