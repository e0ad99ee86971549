package values

import (
	"bytes"
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

// text writes a pointer of type typ to memory.
func text(p shape.Plan, typ *types.Ctype, at uint64, pieces ...piece) string {
	b := shape.New(p)
	b.Value(typ, shape.Part{Deref: true, Words: []shape.Word{{Size: 8}}})
	w := Writer{Open: noImage}
	return w.Text([]byte(b.Plan().Text()), snap([]uint64{at}, pieces...))
}

var today = shape.Plan{Go: 26, Swiss: true, Depth: 3, Elems: 64, Str: 100}

// words are the bytes of numbers.
func words(ns ...uint64) (b []byte) {
	for _, n := range ns {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// TestTwice: a map that is copied twice, as two values lead to it, is shown as it is.
func TestTwice(t *testing.T) {
	num := &types.Ctype{Kind: types.Int, Name: "int", Size: 8, Signed: true, Go: true}
	m := &types.Ctype{Kind: types.GoMap, Name: "map[int]int", Size: 8, Go: true}
	m.SetKey(num)
	m.SetElem(num)
	group := append(words(0x8080808080808000, 7, 8), make([]byte, 14*8)...)
	table, groups := piece{0x3000, words(0, 0, 0x4000, 0)}, piece{0x4000, group}
	got := text(today, m, 0x1000, piece{0x1000, words(1, 0, 0x2000, 1, 0, 0)}, piece{0x2000, words(0x3000)},
		table, groups, table, groups)
	if got != "map[7:8]" {
		t.Error(got)
	}
}

// TestHalfGroup: of a map's group that is not there in full, elements that lead further are among those that were left
// out, and others are shown.
func TestHalfGroup(t *testing.T) {
	num := &types.Ctype{Kind: types.Int, Name: "int", Size: 8, Signed: true, Go: true}
	str := &types.Ctype{Kind: types.GoString, Name: "string", Size: 16, Go: true}
	for _, c := range []struct {
		elem *types.Ctype
		want string
	}{{num, "map[7:0 8:0]"}, {str, "map[...2 more]"}} {
		m := &types.Ctype{Kind: types.GoMap, Name: "map[int]T", Size: 8, Go: true}
		m.SetKey(num)
		m.SetElem(c.elem)
		group := append(words(0x8080808080800000, 7, 0), make([]byte, 32)...)
		binary.LittleEndian.PutUint64(group[8+8+c.elem.Size:], 8)
		got := text(today, m, 0x1000, piece{0x1000, words(2, 0, 0x2000, 0, 0, 0)}, piece{0x2000, group})
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.elem.Name, got, c.want)
		}
	}
}

// TestItself: a slice that is an element of itself is shown once.
func TestItself(t *testing.T) {
	s := &types.Ctype{Kind: types.GoSlice, Name: "main.T", Size: 24, Go: true}
	s.SetElem(s)
	p := &types.Ctype{Kind: types.Pointer, Name: "*main.T", Size: 8, Go: true}
	p.SetElem(s)
	head := words(0x1000, 1, 1)
	if got := text(today, p, 0x2000, piece{0x1000, head}, piece{0x2000, head}); got != "&[[...1]]" {
		t.Error(got)
	}
}

// TestCut: what lies behind the copied part of a structure was left out.
func TestCut(t *testing.T) {
	num := &types.Ctype{Kind: types.Int, Name: "int", Size: 8, Go: true}
	s := &types.Ctype{Kind: types.Struct, Name: "main.T", Size: 16, Go: true}
	s.SetFields([]types.Field{{Name: "A", Type: num}, {Name: "B", Type: num, Off: 8}})
	p := &types.Ctype{Kind: types.Pointer, Name: "*main.T", Size: 8, Go: true}
	p.SetElem(s)
	if got := text(today, p, 0x1000, piece{0x1000, words(5)}); got != "&{A:5, B:...}" {
		t.Error(got)
	}
}

// TestForeignNames: types of other packages that have the last names of the standard library's are shown as all others.
func TestForeignNames(t *testing.T) {
	str := &types.Ctype{Kind: types.GoString, Name: "string", Size: 16, Go: true}
	for pkg, want := range map[string]bool{"errors": true, "m/errors": false} {
		e := &types.Ctype{Kind: types.Struct, Name: "errors.errorString", Pkg: pkg, Size: 16, Go: true}
		e.SetFields([]types.Field{{Name: "s", Type: str}})
		p := &types.Ctype{Kind: types.Pointer, Name: "*errors.errorString", Size: 8, Go: true}
		p.SetElem(e)
		x := texter{p: &plan{Plan: &today}, mem: []piece{{}, {0x1000, words(0x2000, 2)}, {0x2000, []byte("hi")}}}
		if s, ok := x.errorText(value{t: p, b: words(0x1000)}, 0); ok != want || ok && s.text != "hi" {
			t.Errorf("%s: %v, %v", pkg, s, ok)
		}
	}
	for name, want := range map[string]string{"time.Duration": "5ns", "m/time.Duration": "5"} {
		d := &types.Ctype{Kind: types.Int, Name: name, Size: 8, Signed: true, Go: true}
		p := &types.Ctype{Kind: types.Pointer, Name: "*" + name, Size: 8, Go: true}
		p.SetElem(d)
		if got := text(today, p, 0x1000, piece{0x1000, words(5)}); got != "&"+want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPointedTo: what a pointer in an interface leads to and is shown by its meaning has its type apart.
func TestPointedTo(t *testing.T) {
	n := &types.Ctype{Kind: types.Int, Name: "int64", Size: 8, Signed: true, Go: true}
	a := &types.Ctype{Kind: types.Struct, Name: "sync/atomic.Int64", Size: 8, Go: true}
	a.SetFields([]types.Field{{Name: "v", Type: n}})
	p := &types.Ctype{Kind: types.Pointer, Name: "*sync/atomic.Int64", Size: 8, Go: true}
	p.SetElem(a)
	x := texter{p: &plan{Plan: &today}, mem: []piece{{}, {0x1000, words(7)}}}
	x.value(value{t: p, b: words(0x1000)}, level{typed: true})
	if got := x.b.String(); got != "&atomic.Int64(7)" {
		t.Error(got)
	}
}

// TestOldAddress: before Go 1.23 the handle of an address does not say whether it is one of IPv4.
func TestOldAddress(t *testing.T) {
	n := &types.Ctype{Kind: types.Int, Name: "uint64", Size: 8, Go: true}
	u := &types.Ctype{Kind: types.Struct, Name: "net/netip.uint128", Size: 16, Go: true}
	u.SetFields([]types.Field{{Name: "hi", Type: n}, {Name: "lo", Type: n, Off: 8}})
	a := &types.Ctype{Kind: types.Struct, Name: "net/netip.Addr", Size: 24, Go: true}
	a.SetFields([]types.Field{{Name: "addr", Type: u}, {Name: "z", Type: n, Off: 16}})
	mem := []piece{{}, {0x1000, words(0, 0, 0)}}
	for minor, want := range map[int]string{22: "{addr:{hi:0, lo:281470698652420}, z:4096}", 23: "1.2.3.4"} {
		x := texter{p: &plan{Plan: &shape.Plan{Go: minor, Elems: 64, Str: 100}}, mem: mem}
		x.value(value{t: a, b: words(0, 0xffff01020304, 0x1000)}, level{})
		if got := x.b.String(); got != want {
			t.Errorf("Go 1.%d: %s", minor, got)
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
	// A pointer that leads to itself.
	f.Add(`{"depth":1,"parts":[{"type":1,"words":[{"size":8}]}],"types":[{"k":7,"n":"*T","s":8,"e":1}]}`,
		snap([]uint64{0x1000}, piece{0x1000, []byte("\x00\x10\x00\x00\x00\x00\x00\x00")}))
	for _, lang := range []types.Lang{types.CPlus, types.Rust} {
		for kind, at := range forms {
			f.Add(formPlan(lang, kind, at).Text(), snap([]uint64{0x1000}, piece{0x1000, make([]byte, 64)},
				piece{0x2000, bytes.Repeat([]byte{0, 0x20, 0, 0, 0, 0, 0, 0}, 8)}))
		}
	}
	f.Fuzz(func(t *testing.T, plan string, snap []byte) {
		w := Writer{Open: noImage}
		if got := w.Text([]byte(plan), snap); len(got) > 4*mostText+len(plan)+16*len(snap) {
			t.Errorf("%d bytes of text", len(got))
		}
	})
}
