package values

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/stdtype"
	"github.com/gostap/gostap/compiler/types"
)

// forms are all kinds with numbers as compilers have them, for an object of 64 bytes and elements of 8.
var forms = map[stdtype.Kind][]int64{
	stdtype.Text: {0, 8, 0}, stdtype.Seq: {0, 8, 1}, stdtype.Wrap: {8}, stdtype.Owner: {0}, stdtype.Enum: {0, 8},
	stdtype.Members: {}, stdtype.Shared: {0, 8, 8, 12}, stdtype.List: {0, 9, 0, 16, 24, 0},
	stdtype.Tree: {0, 8, 8, 16, 24, 32, 40, 0}, stdtype.Table: {0, 8, 16, 0}, stdtype.Chunks: {0, 8, 16, 24, 32, 512},
	stdtype.Ring: {0, 8, 16, 24, 0}, stdtype.Nodes: {0, 8, 16, 60, 0, 8, 10, 16, 24, 40, 1},
	stdtype.Bits: {0, 8, 16}, stdtype.Fixed: {}, stdtype.Duration: {0, 8},
}

// formPlan is a plan of one value at 0x1000 with a form.
func formPlan(lang types.Lang, k stdtype.Kind, at []int64) *shape.Plan {
	fields := []shape.Field{{Name: "a", Type: 2}, {Name: "__0", Type: 2, Off: 8}}
	return &shape.Plan{Depth: 4, Elems: 4, Str: 16,
		Parts: []shape.Part{{Type: 1, Addr: true, Words: []shape.Word{{Size: 8}}}},
		Types: []shape.Type{
			{Kind: types.Struct, Size: 64, Lang: lang, Own: "T", Elem: 2, Fields: fields,
				Form: &shape.Form{Kind: k, At: at, Pre: "pre",
					Variants: []shape.Variant{{Field: fields[0]}, {Field: fields[1], Val: 3}, {Default: true}}}},
			{Kind: types.Int, Size: 8, Lang: lang},
		}}
}

// memory makes pieces of numbers of 8 bytes.
func memory(addr uint64, words ...uint64) piece {
	p := piece{addr: addr}
	for _, w := range words {
		p.b = binary.LittleEndian.AppendUint64(p.b, w)
	}
	return p
}

// TestForms: containers that were changed while they were copied, or of which not all was, show what is known of them.
func TestForms(t *testing.T) {
	const obj = 0x1000
	for _, c := range []struct {
		name string
		kind stdtype.Kind
		mem  []piece
		want string
	}{
		{"text", stdtype.Text, []piece{memory(obj, 0x2000, 3, 0, 0, 0, 0, 0, 0), {0x2000, []byte("abc")}}, `"abc"`},
		{"text that is gone", stdtype.Text, []piece{memory(obj, 0x2000, 3, 0, 0, 0, 0, 0, 0), {0x2000, nil}}, "?"},
		{"text left out", stdtype.Text, []piece{memory(obj, 0x2000, 3, 0, 0, 0, 0, 0, 0)}, "..."},
		{"a length that cannot be", stdtype.Text, []piece{memory(obj, 0x2000, 1<<63, 0, 0, 0, 0, 0, 0)}, "?"},
		{"an end before the beginning", stdtype.Seq, []piece{memory(obj, 0x2000, 0x1ff8, 0, 0, 0, 0, 0, 0)}, "?"},
		{"half an element", stdtype.Seq, []piece{memory(obj, 0x2000, 0x2004, 0, 0, 0, 0, 0, 0)}, "?"},
		{"more than are shown", stdtype.Seq, []piece{memory(obj, 0x2000, 0x2030, 0, 0, 0, 0, 0, 0),
			memory(0x2000, 1, 2, 3, 4)}, "{1, 2, 3, 4, ...2 more}"},
		{"a list that ends early", stdtype.List, []piece{memory(obj, 0x2000, 3, 0, 0, 0, 0, 0, 0),
			memory(0x2000, 0, 0, 7)}, "{7, ...2 more}"},
		{"a list in a circle", stdtype.List, []piece{memory(obj, 0x2000, 9, 0, 0, 0, 0, 0, 0),
			memory(0x2000, 0x2000, 0, 7)}, "{7, 7, 7, 7, ...5 more}"},
		{"a tree", stdtype.Tree, []piece{memory(obj, 0x2000, 2, 0, 0, 0, 0, 0, 0),
			memory(0x2000, 0, 0x3000, 0, 0, 1), memory(0x3000, 0, obj, 0x2000, 0, 2)}, "{1, 2}"},
		{"pieces that are no tree", stdtype.Tree, []piece{memory(obj, 0x2000, 2, 0, 0, 0, 0, 0, 0),
			memory(0x2000, 0, 0x3000, 0, 0, 1), memory(0x3000, 0, obj, 0, 0, 2)}, "{1, ...1 more}"},
		{"a ring", stdtype.Ring, []piece{memory(obj, 0x2000, 3, 2, 2, 0, 0, 0, 0), memory(0x2000, 1, 2, 3)}, "{3, 1}"},
		{"more than a ring has room for", stdtype.Ring, []piece{memory(obj, 0x2000, 3, 2, 4, 0, 0, 0, 0)}, "?"},
		{"chunks", stdtype.Chunks, []piece{memory(obj, 0x2008, 0x2010, 0x4000, 0x3008, 0x4008, 0, 0, 0),
			memory(0x2008, 5), memory(0x4008, 0x3000), memory(0x3000, 6)}, "{5, 6}"},
		{"a hash table", stdtype.Table, []piece{memory(obj, 0x2000, 3, 1, 0, 0, 0, 0, 0),
			{0x2000, []byte{0xff, 0x01, 0xff, 0xff}}, memory(0x1ff0, 8)}, "{8}"},
		{"a variant", stdtype.Enum, []piece{memory(obj, 3, 5, 0, 0, 0, 0, 0, 0)}, "__05"},
		{"nothing copied", stdtype.Enum, nil, "?"},
	} {
		p := formPlan(types.CPlus, c.kind, forms[c.kind])
		w := Writer{Open: noImage}
		if got := w.Text([]byte(p.Text()), snap([]uint64{obj}, c.mem...)); strings.TrimPrefix(got, "pre") != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}
