package kbtf

import (
	"testing"

	"github.com/gostap/gostap/compiler/types"
)

// builder writes BTF.
type builder struct {
	types, strs []byte
	n           uint32
}

func newBuilder() *builder { return &builder{strs: []byte{0}} }

func (b *builder) str(s string) uint32 {
	if s == "" {
		return 0
	}
	off := uint32(len(b.strs))
	b.strs = append(append(b.strs, s...), 0)
	return off
}

// add appends a type: its name, kind, flag, number of elements, size or reference, and the words behind.
func (b *builder) add(name string, kind int, flag bool, vlen int, ref uint32, words ...uint32) uint32 {
	info := uint32(kind)<<24 | uint32(vlen)
	if flag {
		info |= 1 << 31
	}
	for _, w := range append([]uint32{b.str(name), info, ref}, words...) {
		b.types = le.AppendUint32(b.types, w)
	}
	b.n++
	return b.n
}

func (b *builder) bytes() []byte {
	out := le.AppendUint16(nil, btfMagic)
	out = append(out, 1, 0)
	for _, w := range []uint32{headerLen, 0, uint32(len(b.types)), uint32(len(b.types)), uint32(len(b.strs))} {
		out = le.AppendUint32(out, w)
	}
	return append(append(out, b.types...), b.strs...)
}

// sample is BTF with every kind of type.
func sample() *builder {
	b := newBuilder()
	i := b.add("int", kindInt, false, 0, 4, intSigned<<24|32) // 1
	c := b.add("char", kindInt, false, 0, 1, intSigned<<24|8) // 2
	u := b.add("long unsigned int", kindInt, false, 0, 8, 64) // 3
	bo := b.add("_Bool", kindInt, false, 0, 1, intBool<<24|8) // 4
	cc := b.add("", kindConst, false, 0, c)                   // 5
	s := b.add("", kindPtr, false, 0, cc)                     // 6 const char *
	arr := b.add("", kindArray, false, 0, 0, c, u, 16)        // 7 char[16]
	anon := b.add("", kindUnion, false, 2, 8,                 // 8
		b.str("a"), i, 0, b.str("b"), u, 0)
	node := b.add("node", kindStruct, true, 6, 48, // 9
		b.str("next"), 10, 0,
		b.str("name"), arr, 8*8,
		0, anon, 24*8,
		b.str("low"), u, 32*8|3<<24,
		b.str("high"), i, (32*8+3)|7<<24,
		b.str("on"), bo, 40*8)
	pn := b.add("", kindPtr, false, 0, node)                                              // 10 struct node *
	e := b.add("color", kindEnum, true, 2, 4, b.str("RED"), 1, b.str("NONE"), 0xffffffff) // 11
	e64 := b.add("wide", kindEnum64, false, 1, 8, b.str("HUGE"), 1, 2)                    // 12
	td := b.add("node_t", kindTypedef, false, 0, node)                                    // 13
	tag := b.add("user", kindTypeTag, false, 0, c)                                        // 14
	up := b.add("", kindPtr, false, 0, tag)                                               // 15 char __user *
	proto := b.add("", kindFuncProto, false, 5, i,                                        // 16
		b.str("n"), pn, b.str("name"), s, b.str("to"), up, b.str("c"), e, b.str("on"), bo)
	b.add("work", kindFunc, false, 0, proto)  // 17
	pp := b.add("", kindPtr, false, 0, proto) // 18
	b.add("btf_trace_work", kindTypedef, false, 0, pp)
	b.add("count", kindVar, false, 0, u, 1)
	b.add("opaque", kindFwd, true, 0, 0)
	b.add("", kindVolatile, false, 0, td)
	b.add("", kindRestrict, false, 0, up)
	b.add("double", kindFloat, false, 0, 8)
	b.add(".data", kindDatasec, false, 1, 8, 20, 0, 8)
	b.add("tag", kindDeclTag, false, 0, node, 0)
	va := b.add("", kindFuncProto, false, 2, 0, b.str("fmt"), s, 0, 0)
	b.add("log", kindFunc, false, 0, va)
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
	b := sample().bytes()
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
