package kbtf

import (
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/types"
)

// sample is BTF with every kind of type.
func sample() *kbtftest.Builder {
	b := kbtftest.New()
	i := b.Add("int", btf.KindInt, false, 0, 4, intSigned<<24|32) // 1
	c := b.Add("char", btf.KindInt, false, 0, 1, intSigned<<24|8) // 2
	u := b.Add("long unsigned int", btf.KindInt, false, 0, 8, 64) // 3
	bo := b.Add("_Bool", btf.KindInt, false, 0, 1, intBool<<24|8) // 4
	cc := b.Add("", btf.KindConst, false, 0, c)                   // 5
	s := b.Add("", btf.KindPtr, false, 0, cc)                     // 6 const char *
	arr := b.Add("", btf.KindArray, false, 0, 0, c, u, 16)        // 7 char[16]
	anon := b.Add("", btf.KindUnion, false, 2, 8,                 // 8
		b.Str("a"), i, 0, b.Str("b"), u, 0)
	node := b.Add("node", btf.KindStruct, true, 6, 48, // 9
		b.Str("next"), 10, 0,
		b.Str("name"), arr, 8*8,
		0, anon, 24*8,
		b.Str("low"), u, 32*8|3<<24,
		b.Str("high"), i, (32*8+3)|7<<24,
		b.Str("on"), bo, 40*8)
	pn := b.Add("", btf.KindPtr, false, 0, node)                                              // 10 struct node *
	e := b.Add("color", btf.KindEnum, true, 2, 4, b.Str("RED"), 1, b.Str("NONE"), 0xffffffff) // 11
	e64 := b.Add("wide", btf.KindEnum64, false, 1, 8, b.Str("HUGE"), 1, 2)                    // 12
	td := b.Add("node_t", btf.KindTypedef, false, 0, node)                                    // 13
	tag := b.Add("user", btf.KindTypeTag, false, 0, c)                                        // 14
	up := b.Add("", btf.KindPtr, false, 0, tag)                                               // 15 char __user *
	proto := b.Add("", btf.KindFuncProto, false, 5, i,                                        // 16
		b.Str("n"), pn, b.Str("name"), s, b.Str("to"), up, b.Str("c"), e, b.Str("on"), bo)
	b.Add("work", btf.KindFunc, false, 0, proto)  // 17
	pp := b.Add("", btf.KindPtr, false, 0, proto) // 18
	b.Add("btf_trace_work", btf.KindTypedef, false, 0, pp)
	b.Add("count", btf.KindVar, false, 0, u, 1)
	b.Add("opaque", btf.KindFwd, true, 0, 0)
	b.Add("", btf.KindVolatile, false, 0, td)
	b.Add("", btf.KindRestrict, false, 0, up)
	b.Add("double", btf.KindFloat, false, 0, 8)
	b.Add(".data", btf.KindDatasec, false, 1, 8, 20, 0, 8)
	b.Add("tag", btf.KindDeclTag, false, 0, node, 0)
	va := b.Add("", btf.KindFuncProto, false, 2, 0, b.Str("fmt"), s, 0, 0)
	b.Add("log", btf.KindFunc, false, 0, va)
	_ = e64
	return b
}

// walkAll reads all there is of the types.
func walkAll(s *Scope) {
	var deep func(t *types.Ctype, depth int)
	deep = func(t *types.Ctype, depth int) {
		if t == nil || depth > 3 {
			return
		}
		for i, f := range t.Fields() {
			if i < 20 {
				deep(f.Type, depth+1)
			}
		}
		t.Enums()
		deep(t.Elem(), depth+1)
	}
	n := 0
	s.b.Each(func(r btf.Record) bool {
		deep(s.ctype(r.ID()), 0)
		s.proto(r.ID())
		name := s.b.Name(r)
		s.Type(name)
		s.FuncProto(name)
		s.TypedefProto(name)
		s.VarType(name)
		n++
		return n < 100
	})
	s.Enumerator("RED")
	s.Type("struct nod *")
	s.FuncNames("*")
}

func FuzzBTF(f *testing.F) {
	b := sample().Bytes()
	f.Add(b, b)
	f.Add(b, []byte{})
	f.Fuzz(func(t *testing.T, base, split []byte) {
		if len(base) > 1<<12 || len(split) > 1<<12 {
			return
		}
		x, err := btf.New(base, nil)
		if err != nil {
			return
		}
		k := New(Config{})
		k.main = &Scope{k: k, b: x}
		walkAll(k.main)
		if y, err := btf.New(split, x); err == nil {
			walkAll(&Scope{k: k, name: "m", b: y, above: k.main})
		}
	})
}

// searched compares what is found by a name, and by a prefix, with a walk over all.
func searched(t *testing.T, s *Symbols, name string) {
	t.Helper()
	var named, prefixed []Symbol
	s.Each(func(x Symbol) bool {
		if x.Name == name {
			named = append(named, x)
		}
		if strings.HasPrefix(x.Name, name) {
			prefixed = append(prefixed, x)
		}
		return true
	})
	s.lookups = 0
	if got := s.Named(name); !slices.Equal(got, named) {
		t.Fatalf("%q: %+v, not %+v", name, got, named)
	}
	if got := s.prefixed(name); !slices.Equal(got, prefixed) {
		t.Fatalf("%q: of %d symbols that begin so %d", name, len(prefixed), len(got))
	}
	if got := s.fromTable(name); !slices.Equal(got, named) {
		t.Fatalf("%q in the table: %+v, not %+v", name, got, named)
	}
	s.slots = nil
}

func FuzzSymbols(f *testing.F) {
	f.Add([]byte("1 T T\n2 t tT\n3 T T\t[T]\n4 a b a\n"), "T", uint64(2))
	f.Add([]byte("ffffffff81000000 T _text\nffffffff81000010 t f\tT [mod]\n0 A x\n"), "f", uint64(0xffffffff81000011))
	f.Fuzz(func(t *testing.T, b []byte, name string, addr uint64) {
		s, err := newSymbols(b)
		if err != nil {
			return
		}
		for _, name := range []string{name, name[:min(len(name), 1)]} {
			searched(t, s, name)
		}
		if at, end := s.At(addr); len(at) > 0 && (at[0].Addr > addr || end != 0 && end <= addr) {
			t.Fatalf("%+v %x for %x", at, end, addr)
		}
	})
}
