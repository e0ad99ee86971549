package shape_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

func named(k types.Kind, name string, size int64) *types.Ctype {
	return &types.Ctype{Kind: k, Name: name, Size: size, Go: true}
}

// TestText: a plan's text form is read back to the same plan, and its types are what they were.
func TestText(t *testing.T) {
	str := named(types.GoString, "string", 16)
	list := named(types.Struct, "main.list", 24)
	next := named(types.Pointer, "*main.list", 8)
	next.SetElem(list)
	list.SetFields([]types.Field{{Name: "V", Type: str}, {Name: "Next", Type: next, Off: 16}})
	b := shape.New(shape.Plan{Go: 26, Swiss: true, Depth: 2, Elems: 64, Str: 10})
	b.Lit("l=")
	b.Value(next, shape.Part{Deref: true, Words: []shape.Word{{Size: 8}}})
	p := b.Plan()
	q, err := shape.Parse(p.Text())
	if err != nil || !reflect.DeepEqual(p, q) {
		t.Errorf("%v\n%+v\n%+v", err, p, q)
	}
	c := q.Ctypes()[q.Parts[1].Type-1]
	if c.Elem().Fields()[1].Type.Elem() != c.Elem() || c.Elem().Fields()[0].Type.Kind != types.GoString {
		t.Errorf("the types are not those of the list")
	}
	if !shape.Leads(q.Table()) || q.Words() != 1 {
		t.Errorf("leads %v, %d words", shape.Leads(q.Table()), q.Words())
	}
}

// TestTable: the record of the roots has the pointer that need not be counted, and the list's leads back to itself.
func TestTable(t *testing.T) {
	next := named(types.Pointer, "*main.list", 8)
	list := named(types.Struct, "main.list", 8)
	next.SetElem(list)
	list.SetFields([]types.Field{{Name: "Next", Type: next}})
	b := shape.New(shape.Plan{Go: 26, Depth: 5, Elems: 64, Str: 10})
	b.Value(next, shape.Part{Deref: true, Words: []shape.Word{{At: 3, Size: 8}}})
	tab := b.Plan().Table()
	root := tab[shape.TableRoots]
	got, want := tab[root:root+6], []uint64{32, 1, shape.LeafPtr | 24<<8, tab[root+3], 8, 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("roots %v, not %v", got, want)
	}
	rec := tab[root+3]
	if got, want := tab[rec:rec+6], []uint64{8, 1, shape.LeafPtr, rec, 8, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("list %v, not %v", got, want)
	}
}

// TestGroup: groups of swiss maps lie as structures of Go do.
func TestGroup(t *testing.T) {
	type slot[K, V any] struct {
		Key  K
		Elem V
	}
	type group[K, V any] struct {
		Ctrl  uint64
		Slots [8]slot[K, V]
	}
	num := func(size int64) *types.Ctype { return named(types.Int, "n", size) }
	big := named(types.Array, "[17]uint64", 136)
	big.SetElem(num(8))
	for _, c := range []struct {
		key, elem *types.Ctype
		size, at  uintptr
	}{
		{num(8), num(1), unsafe.Sizeof(group[int64, int8]{}), unsafe.Offsetof(slot[int64, int8]{}.Elem)},
		{num(1), num(8), unsafe.Sizeof(group[int8, int64]{}), unsafe.Offsetof(slot[int8, int64]{}.Elem)},
		{num(1), num(1), unsafe.Sizeof(group[int8, int8]{}), unsafe.Offsetof(slot[int8, int8]{}.Elem)},
		{named(types.GoString, "s", 16), num(2), unsafe.Sizeof(group[string, int16]{}),
			unsafe.Offsetof(slot[string, int16]{}.Elem)},
		{num(4), named(types.Struct, "struct {}", 0), unsafe.Sizeof(group[int32, struct{}]{}),
			unsafe.Offsetof(slot[int32, struct{}]{}.Elem)},
		{num(2), big, unsafe.Sizeof(group[int16, *int]{}), unsafe.Offsetof(slot[int16, *int]{}.Elem)},
	} {
		g := shape.GroupOf(true, c.key, c.elem)
		if uintptr(g.Size) != c.size || uintptr(g.ElemAt-g.KeyAt) != c.at {
			t.Errorf("%d and %d bytes: %+v, not %d and %d", c.key.Size, c.elem.Size, g, c.size, c.at)
		}
	}
}

// FuzzParse: the text of a plan may come from anywhere.
func FuzzParse(f *testing.F) {
	b := shape.New(shape.Plan{Go: 22, Depth: 2, Elems: 4, Str: 10})
	b.Value(named(types.GoString, "string", 16), shape.Part{Words: []shape.Word{{Size: 8}, {At: 1, Off: 8, Size: 8}}})
	f.Add(b.Plan().Text())
	f.Add(`{"parts":[{"type":1,"words":[{}]}],"types":[{"k":7,"e":1,"c":9}]}`)
	f.Fuzz(func(_ *testing.T, text string) {
		if p, err := shape.Parse(text); err == nil {
			p.Table()
			p.Ctypes()
		}
	})
}
