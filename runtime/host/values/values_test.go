package values

import (
	"encoding/binary"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

// snap makes a snapshot of words and pieces of memory.
func snap(words []uint64, pieces ...piece) []byte {
	var root []byte
	for _, w := range words {
		root = binary.LittleEndian.AppendUint64(root, w)
	}
	var out []byte
	for _, p := range append([]piece{{0, root}}, pieces...) {
		out = binary.LittleEndian.AppendUint64(out, p.addr)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(p.b)))
		out = append(append(out, p.b...), make([]byte, (8-len(p.b)%8)%8)...)
	}
	return out
}

func noImage(string) debuginfo.Image { return nil }

// TestMissing: what was not copied is "...", what could not be read "?", and lengths that cannot be right show nothing.
func TestMissing(t *testing.T) {
	str := &types.Ctype{Kind: types.GoString, Name: "string", Size: 16, Go: true}
	ints := &types.Ctype{Kind: types.GoSlice, Name: "[]int", Size: 24, Go: true}
	ints.SetElem(&types.Ctype{Kind: types.Int, Name: "int", Size: 8, Signed: true, Go: true})
	hello := []byte("hello")
	for _, c := range []struct {
		typ    *types.Ctype
		words  []uint64
		pieces []piece
		want   string
	}{
		{str, []uint64{0x1000, 5}, []piece{{0x1000, hello}}, `x="hello"`},
		{str, []uint64{0x1000, 9}, []piece{{0x1000, hello}}, `x="hello"...`},
		{str, []uint64{0x1002, 2}, []piece{{0x1000, hello}}, `x="ll"`},
		{str, []uint64{0x1000, 5}, nil, `x=...`},
		{str, []uint64{0x1000, 5}, []piece{{0x1000, nil}}, `x=?`},
		{str, []uint64{0x1000, 1 << 63}, []piece{{0x1000, hello}}, `x=?`},
		{str, []uint64{0, 0}, nil, `x=""`},
		{str, nil, nil, `x=?`},
		{ints, []uint64{0, 0, 0}, nil, `x=nil`},
		{ints, []uint64{0x1000, 0, 0}, nil, `x=[]`},
		{ints, []uint64{0x1000, 3, 3}, []piece{{0x1000, make([]byte, 20)}}, `x=[0 0 ...1 more]`},
		{ints, []uint64{0x1000, 1 << 62, 1}, nil, `x=[...4611686018427387904]`},
	} {
		b := shape.New(shape.Plan{Go: 26, Swiss: true, Depth: 3, Elems: 64, Str: 100})
		b.Lit("x=")
		var part shape.Part
		for i := range c.typ.Size / 8 {
			part.Words = append(part.Words, shape.Word{At: int(i), Off: 8 * i, Size: 8})
		}
		b.Value(c.typ, part)
		w := Writer{Open: noImage}
		if got := w.Text([]byte(b.Plan().Text()), snap(c.words, c.pieces...)); got != c.want {
			t.Errorf("%s %x: %s, not %s", c.typ.Name, c.words, got, c.want)
		}
	}
}

// FuzzText: whatever is in a plan and a snapshot, there is a text of bounded length.
func FuzzText(f *testing.F) {
	m := &types.Ctype{Kind: types.GoMap, Name: "map[string]any", Size: 8, Go: true}
	str := &types.Ctype{Kind: types.GoString, Name: "string", Size: 16, Go: true}
	m.SetKey(str)
	m.SetElem(&types.Ctype{Kind: types.GoInterface, Name: "any", Size: 16, Empty: true, Go: true})
	ch := &types.Ctype{Kind: types.GoChan, Name: "chan string", Size: 8, Go: true}
	ch.SetElem(str)
	s := &types.Ctype{Kind: types.Struct, Name: "main.T", Size: 16, Go: true}
	s.SetFields([]types.Field{{Name: "M", Type: m}, {Name: "C", Type: ch, Off: 8}})
	p := &types.Ctype{Kind: types.Pointer, Name: "*main.T", Size: 8, Go: true}
	p.SetElem(s)
	for _, swiss := range []bool{true, false} {
		b := shape.New(shape.Plan{Go: 26, Swiss: swiss, Depth: 4, Elems: 8, Str: 16})
		b.Value(p, shape.Part{Deref: true, Words: []shape.Word{{Size: 8}}})
		head := make([]byte, 48)
		head[0], head[16] = 2, 0x40
		f.Add(b.Plan().Text(), snap([]uint64{0x1000}, piece{0x1000, []byte("\x00\x20\x00\x00\x00\x00\x00\x00")},
			piece{0x2000, head}, piece{0x40, make([]byte, 300)}))
	}
	f.Fuzz(func(t *testing.T, plan string, snap []byte) {
		w := Writer{Open: noImage}
		if got := w.Text([]byte(plan), snap); len(got) > 4*mostText+len(plan)+16*len(snap) {
			t.Errorf("%d bytes of text", len(got))
		}
	})
}
