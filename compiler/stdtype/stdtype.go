// Package stdtype knows how values of C++ and Rust are made that are more than their members: strings, lists, maps,
// what may be there or not, what one of several is, owners of other values. It goes by the members that the program's
// own debug information has, found by their names, so that layouts of other versions and flags are read as well; a type
// whose members are not the known ones has no form, and is shown as it stands.
//
// In: types.Ctype. Out: Form.
package stdtype

import (
	"strings"

	"github.com/gostap/gostap/compiler/types"
)

// Kind says how a value is read.
type Kind string

// The kinds, with what Form.At has for them: byte offsets in the value unless said otherwise.
const (
	// Text: address, length; with 1 as the third, the second is the address of the end. With 2 the length lies 24
	// bytes in front of the text, and the second number is nothing.
	Text Kind = "text"
	// Seq is Text of elements.
	Seq Kind = "seq"
	// Wrap: where what is shown in its place lies.
	Wrap Kind = "wrap"
	// Owner: a pointer to what is shown in its place.
	Owner Kind = "owner"
	// Enum: the tag, its bytes (0: there is only one variant).
	Enum Kind = "enum"
	// Members has the members Form.Fields in place of the type's own.
	Members Kind = "members"
)

// numbers says how many numbers Form.At has.
var numbers = map[Kind]int{Text: 3, Seq: 3, Wrap: 1, Owner: 1, Enum: 2, Members: 0}

// Good reports whether At can be that of a form of this kind.
func Good(k Kind, at []int64) bool {
	n, ok := numbers[k]
	if !ok || len(at) != n {
		return false
	}
	for _, v := range at {
		if v < 0 || v > 1<<20 {
			return false
		}
	}
	return k != Enum || at[1] <= 8
}

// Form is how values of a type are read.
type Form struct {
	Kind Kind
	At   []int64
	// Elem is the type of an element, or of what a Wrap or Owner shows; Key that of a map's keys.
	Elem, Key *types.Ctype
	// Pre and Post stand around the text.
	Pre, Post string
	// Variants are those of an Enum: a Type that is nil is shown by its name alone.
	Variants []types.Variant
	Fields   []types.Field
}

// Of gives the form of a type; nil for one that is shown by its members.
func Of(t *types.Ctype) *Form {
	if t == nil {
		return nil
	}
	var f *Form
	switch t.Lang {
	case types.CPlus:
		f = ofCPlus(t)
	case types.Rust:
		f = ofRust(t)
	}
	if f == nil || !Good(f.Kind, f.At) {
		return nil
	}
	return f
}

// base is a type's name without its parameters.
func base(t *types.Ctype) string {
	name, _, _ := strings.Cut(t.Own, "<")
	return name
}

// param gives a type parameter by its name, nil if there is none.
func param(t *types.Ctype, name string) *types.Ctype {
	for _, p := range t.More().Params {
		if p.Name == name {
			return p.Type
		}
	}
	return nil
}

// mostDeep bounds how far members are looked for.
const mostDeep = 12

// member finds a member by its name, in bases and members without a name too.
func member(t *types.Ctype, name string) (types.Field, bool) { return within(t, name, 0) }

func within(t *types.Ctype, name string, depth int) (types.Field, bool) {
	if t == nil || depth > mostDeep || t.Kind != types.Struct && t.Kind != types.Union {
		return types.Field{}, false
	}
	for _, f := range t.Fields() {
		if f.Name == name && !f.Base && f.BitSize == 0 {
			return f, true
		}
	}
	for _, f := range t.Fields() {
		if f.Base && !f.Virtual || f.Name == "" {
			if in, ok := within(f.Type, name, depth+1); ok {
				in.Off += f.Off
				return in, true
			}
		}
	}
	return types.Field{}, false
}

// path follows members by their names.
func path(t *types.Ctype, names ...string) (out types.Field, ok bool) {
	out.Type = t
	for _, n := range names {
		f, ok := member(out.Type, n)
		if !ok {
			return out, false
		}
		f.Off += out.Off
		out = f
	}
	return out, true
}

// deep finds a member by its name wherever in a value it lies.
func deep(t *types.Ctype, name string) (types.Field, bool) { return deeper(t, name, 0) }

func deeper(t *types.Ctype, name string, depth int) (types.Field, bool) {
	if f, ok := member(t, name); ok {
		return f, true
	}
	if t == nil || depth > mostDeep || t.Kind != types.Struct && t.Kind != types.Union {
		return types.Field{}, false
	}
	for _, f := range t.Fields() {
		if f.Virtual {
			continue
		}
		if in, ok := deeper(f.Type, name, depth+1); ok {
			in.Off += f.Off
			return in, true
		}
	}
	return types.Field{}, false
}

// isPointer and isWord say what a member must be for a form to be believed.
func isPointer(f types.Field) bool { return f.Type.Kind == types.Pointer && f.Type.Size == 8 }

func isWord(f types.Field) bool {
	return (f.Type.Kind == types.Int || f.Type.Kind == types.Pointer) && f.Type.Size == 8
}

// wrap shows a member in place of a value.
func wrap(f types.Field) *Form {
	return &Form{Kind: Wrap, At: []int64{f.Off}, Elem: f.Type}
}
