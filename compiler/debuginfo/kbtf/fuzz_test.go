package kbtf

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/types"
)

// sample is BTF with every kind of type.
func sample() *kbtftest.Builder {
	b := kbtftest.New()
	i := b.Add("int", kindInt, false, 0, 4, intSigned<<24|32) // 1
	c := b.Add("char", kindInt, false, 0, 1, intSigned<<24|8) // 2
	u := b.Add("long unsigned int", kindInt, false, 0, 8, 64) // 3
	bo := b.Add("_Bool", kindInt, false, 0, 1, intBool<<24|8) // 4
	cc := b.Add("", kindConst, false, 0, c)                   // 5
	s := b.Add("", kindPtr, false, 0, cc)                     // 6 const char *
	arr := b.Add("", kindArray, false, 0, 0, c, u, 16)        // 7 char[16]
	anon := b.Add("", kindUnion, false, 2, 8,                 // 8
		b.Str("a"), i, 0, b.Str("b"), u, 0)
	node := b.Add("node", kindStruct, true, 6, 48, // 9
		b.Str("next"), 10, 0,
		b.Str("name"), arr, 8*8,
		0, anon, 24*8,
		b.Str("low"), u, 32*8|3<<24,
		b.Str("high"), i, (32*8+3)|7<<24,
		b.Str("on"), bo, 40*8)
	pn := b.Add("", kindPtr, false, 0, node)                                              // 10 struct node *
	e := b.Add("color", kindEnum, true, 2, 4, b.Str("RED"), 1, b.Str("NONE"), 0xffffffff) // 11
	e64 := b.Add("wide", kindEnum64, false, 1, 8, b.Str("HUGE"), 1, 2)                    // 12
	td := b.Add("node_t", kindTypedef, false, 0, node)                                    // 13
	tag := b.Add("user", kindTypeTag, false, 0, c)                                        // 14
	up := b.Add("", kindPtr, false, 0, tag)                                               // 15 char __user *
	proto := b.Add("", kindFuncProto, false, 5, i,                                        // 16
		b.Str("n"), pn, b.Str("name"), s, b.Str("to"), up, b.Str("c"), e, b.Str("on"), bo)
	b.Add("work", kindFunc, false, 0, proto)  // 17
	pp := b.Add("", kindPtr, false, 0, proto) // 18
	b.Add("btf_trace_work", kindTypedef, false, 0, pp)
	b.Add("count", kindVar, false, 0, u, 1)
	b.Add("opaque", kindFwd, true, 0, 0)
	b.Add("", kindVolatile, false, 0, td)
	b.Add("", kindRestrict, false, 0, up)
	b.Add("double", kindFloat, false, 0, 8)
	b.Add(".data", kindDatasec, false, 1, 8, 20, 0, 8)
	b.Add("tag", kindDeclTag, false, 0, node, 0)
	va := b.Add("", kindFuncProto, false, 2, 0, b.Str("fmt"), s, 0, 0)
	b.Add("log", kindFunc, false, 0, va)
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
	s.b.each(func(r record) bool {
		deep(s.ctype(r.id), 0)
		s.proto(r.id)
		name := s.b.name(r)
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
		x, err := newBlob(base, nil)
		if err != nil {
			return
		}
		k := New(Config{})
		k.main = &Scope{k: k, b: x}
		walkAll(k.main)
		if y, err := newBlob(split, x); err == nil {
			walkAll(&Scope{k: k, name: "m", b: y, above: k.main})
		}
	})
}

func FuzzSymbols(f *testing.F) {
	f.Add([]byte("ffffffff81000000 T _text\nffffffff81000010 t f\tT [mod]\n0 A x\n"), "f", uint64(0xffffffff81000011))
	f.Fuzz(func(t *testing.T, b []byte, name string, addr uint64) {
		s, err := newSymbols(b)
		if err != nil {
			return
		}
		s.Each(func(x Symbol) bool { return x.Name != "" })
		for _, x := range s.Named(name) {
			if x.Name != name {
				t.Fatalf("%q for %q", x.Name, name)
			}
		}
		if at, end := s.At(addr); len(at) > 0 && (at[0].Addr > addr || end != 0 && end <= addr) {
			t.Fatalf("%+v %x for %x", at, end, addr)
		}
	})
}
