package values

import (
	"os"
	"testing"
	"unsafe"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/godwarf"
	"github.com/gostap/gostap/compiler/shape"
	"github.com/gostap/gostap/compiler/types"
)

type level3 int32

type pair2 struct {
	Left  int
	Right [2]string
}

// TestDynamic: what an interface holds is "..." where it was left out and "?" where it could not be read; the type is
// told in any case. The types are those of the test's own program.
func TestDynamic(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	im, err := godwarf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	w := Writer{Open: func(string) debuginfo.Image { return im }}
	typ := &types.Ctype{Kind: types.GoInterface, Name: "interface {}", Size: 16, Go: true, Empty: true}
	of := func(x any) uint64 { return uint64((*[2]uintptr)(unsafe.Pointer(&x))[0]) }
	for _, c := range []struct {
		holds  any
		pieces []piece
		want   string
	}{
		{level3(1), []piece{{0x1000, []byte{7, 0, 0, 0}}}, "values.level3(7)"},
		{level3(1), nil, "values.level3(...)"},
		{level3(1), []piece{{0x1000, nil}}, "values.level3(?)"},
		{pair2{}, nil, "values.pair2{...}"},
		{pair2{}, []piece{{0x1000, words(5)}}, "values.pair2{Left:5, Right:[...2 more]}"},
		{pair2{}, []piece{{0x1000, nil}}, "values.pair2{Left:?, Right:[...2 more]}"},
		{"s", nil, "..."},
		{"s", []piece{{0x1000, nil}}, "?"},
		{[2]bool{}, nil, "[2]bool([...2 more])"},
	} {
		b := shape.New(shape.Plan{Path: self, Go: 26, Swiss: true, Depth: 3, Elems: 64, Str: 100})
		b.Value(typ, shape.Part{Words: []shape.Word{{At: 0, Size: 8}, {At: 1, Off: 8, Size: 8}}})
		got := w.Text([]byte(b.Plan().Text()), snap([]uint64{of(c.holds), 0x1000}, c.pieces...))
		if got != c.want {
			t.Errorf("%T %v: %s, not %s", c.holds, c.pieces, got, c.want)
		}
	}
}
