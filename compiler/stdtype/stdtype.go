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
	// Enum: the tag, its bytes (0: there is only one variant; of 16 bytes the upper half is 0 in all tags).
	Enum Kind = "enum"
	// Members has the members Form.Fields in place of the type's own.
	Members Kind = "members"
	// Shared: a pointer to what is shown in its place; the pointer to counts of users, and where in what that leads to
	// the counts of 4 bytes of users, and of weak ones, are.
	Shared Kind = "shared"
	// List: the first node's address, 1 + where the number of elements is (0: unknown); in a node the next one's
	// address, the element, and the node's bytes. As the last number of this and the two following kinds 1: the
	// elements are pairs of keys and values; 2: of keys alone.
	List Kind = "list"
	// Tree: the leftmost node's address, the number of elements; in a node parent, left, right, element, and its bytes.
	Tree Kind = "tree"
	// Table: the address of the bytes that tell which buckets are full, in front of which these lie; buckets minus one,
	// the number of elements.
	Table Kind = "table"
	// Chunks: the address of the first element, of the end of its chunk, of the pointer to that; of the end, of the
	// pointer to the last chunk; bytes of a chunk.
	Chunks Kind = "chunks"
	// Ring: the address, how many elements there is room for, the first one, how many; 1 if that is the end.
	Ring Kind = "ring"
	// Nodes is a B-tree: the root's address and its height, the number of elements; bytes of a node with edges; in a
	// node its parent, its place there, the number of keys, keys, values, edges; 2 as the last number: there are no
	// values. Its Elem is a node without edges.
	Nodes Kind = "nodes"
	// Bits: the address, the address of the last word, the bits that are used of that.
	Bits Kind = "bits"
	// Fixed is Form.Pre alone.
	Fixed Kind = "fixed"
	// Duration: seconds of 8 bytes, nanoseconds of 4.
	Duration Kind = "duration"
)

// numbers says how many numbers Form.At has.
var numbers = map[Kind]int{Text: 3, Seq: 3, Wrap: 1, Owner: 1, Enum: 2, Members: 0, Shared: 4, List: 6, Tree: 8,
	Table: 4, Chunks: 6, Ring: 5, Nodes: 11, Bits: 3, Fixed: 0, Duration: 2}

// Good reports whether At can be that of a form of this kind.
func Good(k Kind, at []int64) bool {
	n, ok := numbers[k]
	if !ok || len(at) != n {
		return false
	}
	for _, v := range at {
		if v < 0 || v >= 1<<16 {
			return false
		}
	}
	return k != Enum || at[1] <= 8 || at[1] == 16
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
