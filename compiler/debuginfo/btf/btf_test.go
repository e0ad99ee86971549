package btf_test

import (
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// made is BTF with structures in each other.
func made() *kbtftest.Builder {
	b := kbtftest.New()
	i := b.Add("int", btf.KindInt, false, 0, 4, kbtftest.Signed|32)
	old := b.Add("int", btf.KindInt, false, 0, 4, kbtftest.Signed|3) // three bits, as kernels before 5.1 have it
	u := b.Add("long unsigned int", btf.KindInt, false, 0, 8, 64)
	arr := b.Add("", btf.KindArray, false, 0, 0, u, u, 3)
	inner := b.Struct(btf.KindStruct, "", 16, kbtftest.M{Name: "a", Type: i}, kbtftest.M{Name: "b", Type: u, Bit: 64})
	td := b.Add("inner_t", btf.KindTypedef, false, 0, b.Add("", btf.KindConst, false, 0, inner))
	b.Struct(btf.KindStruct, "outer", 72, kbtftest.M{Name: "first", Type: u}, kbtftest.M{Type: inner, Bit: 64},
		kbtftest.M{Name: "in", Type: td, Bit: 192}, kbtftest.M{Name: "many", Type: arr, Bit: 320},
		kbtftest.M{Name: "p", Type: b.Pointer(inner), Bit: 512})
	b.Add("bits", btf.KindStruct, false, 2, 8, b.Str("whole"), i, 0, b.Str("few"), old, 32)
	b.Add("new_bits", btf.KindStruct, true, 2, 8, b.Str("whole"), i, 0, b.Str("few"), i, 3<<24|32)
	b.Struct(btf.KindStruct, "twice", 8, kbtftest.M{Name: "a", Type: u})
	b.Struct(btf.KindStruct, "twice", 8, kbtftest.M{Name: "b", Type: u})
	b.Func("outer", i, kbtftest.M{Name: "n", Type: i})
	b.Add("btf_trace_x", btf.KindTypedef, false, 0, b.Pointer(b.Prototype(0, kbtftest.M{Type: u}, kbtftest.M{Type: i})))
	loop := b.Add("endless", btf.KindTypedef, false, 0, 0)
	b.Add("to_itself", btf.KindTypedef, false, 0, loop+1)
	return b
}

func TestMemberAt(t *testing.T) {
	x, err := btf.New(made().Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]int{"first": {0, 8}, "a": {8, 4}, "b": {16, 8}, "in": {24, 16},
		"in.b": {32, 8}, "many": {40, 24}, "p": {64, 8}} {
		if off, size, err := x.MemberAt("outer", path); off != want[0] || size != want[1] || err != nil {
			t.Errorf("%s: %d %d %v, want %v", path, off, size, err, want)
		}
	}
	for _, c := range [][3]string{{"bits", "few", "is a bit field"}, {"new_bits", "few", "is a bit field"},
		{"outer", "p.a", "has no p.a"}, {"outer", "none", "has no none"},
		{"twice", "a", "two structures"}, {"out", "first", "no structure"}, {"uter", "first", "no structure"}} {
		if off, _, err := x.MemberAt(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s.%s: %d %v, want %q", c[0], c[1], off, err, c[2])
		}
	}
}

// TestFind: by search and, after some, by table.
func TestFind(t *testing.T) {
	x, err := btf.New(made().Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		f, s := x.FindKind(btf.KindFunc, "outer"), x.FindKind(btf.KindStruct, "outer")
		if len(f) != 1 || len(s) != 1 || f[0] == s[0] ||
			len(x.FindKind(btf.KindStruct, "twice")) != 2 || len(x.FindKind(btf.KindFunc, "uter")) != 0 {
			t.Fatal(f, s)
		}
		td := x.FindKind(btf.KindTypedef, "btf_trace_x")
		if len(td) != 1 {
			t.Fatal(td)
		}
		if p, ok := x.Prototype(td[0]); !ok || p.Len() != 2 {
			t.Fatal(p, ok)
		}
		for _, name := range []string{"endless", "to_itself"} {
			if r, ok := x.Prototype(x.FindKind(btf.KindTypedef, name)[0]); ok {
				t.Fatal(name, r.ID())
			}
		}
	}
}

func FuzzTypes(f *testing.F) {
	f.Add(made().Bytes(), "outer", "in.b")
	f.Add(kbtftest.Kernel().Bytes(), "task_struct", "comm")
	f.Fuzz(func(t *testing.T, raw []byte, name, path string) {
		if len(raw) > 1<<14 {
			return
		}
		x, err := btf.New(raw, nil)
		if err != nil {
			return
		}
		x.MemberAt(name, path)
		for kind := range btf.KindEnum64 + 1 {
			for _, id := range x.FindKind(kind, name) {
				if r, ok := x.At(id); !ok || r.Kind() != kind || x.Name(r) != name {
					t.Fatalf("%d is no %q of kind %d", id, name, kind)
				}
			}
		}
		x.Each(func(r btf.Record) bool {
			x.Plain(r.ID())
			if p, ok := x.Prototype(r.ID()); ok && p.Kind() != btf.KindFuncProto {
				t.Fatalf("%d is no prototype", p.ID())
			}
			if r.Kind() == btf.KindStruct || r.Kind() == btf.KindUnion {
				for i := range r.Len() {
					x.Member(r, i)
				}
			}
			return true
		})
	})
}
