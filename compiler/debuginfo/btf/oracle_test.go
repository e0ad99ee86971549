package btf_test

import (
	"fmt"
	"reflect"
	"testing"

	ebtf "github.com/cilium/ebpf/btf"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
)

// described is a type as both readers tell it.
type described struct {
	kind, name string
	size       int64
	refs       []uint32
	parts      []string
}

// TestAgainstEbpf compares every type of the running kernel with what the eBPF library reads.
func TestAgainstEbpf(t *testing.T) {
	x, err := btf.Running()
	if err != nil {
		t.Skip("the running kernel has no BTF: ", err)
	}
	spec, err := ebtf.LoadKernelSpec()
	if err != nil {
		t.Skip("the library cannot read the kernel's BTF: ", err)
	}
	n, members, bitFields := 0, 0, 0
	// The library keeps declaration tags with what they are of.
	x.Each(func(r btf.Record) bool {
		want, err := spec.TypeByID(ebtf.TypeID(r.ID()))
		if err != nil {
			t.Fatal(r.ID(), err)
		}
		n++
		got := own(x, r)
		if w := library(t, spec, want); r.Kind() != btf.KindDeclTag && !reflect.DeepEqual(got, w) {
			t.Errorf("type %d is %+v, want %+v", r.ID(), got, w)
		}
		if r.Kind() == btf.KindStruct || r.Kind() == btf.KindUnion {
			members += r.Len()
			for i := range r.Len() {
				if x.Member(r, i).Bits > 0 {
					bitFields++
				}
			}
		}
		return !t.Failed()
	})
	if _, err := spec.TypeByID(ebtf.TypeID(n + 1)); err == nil {
		t.Errorf("the library has more than %d types", n)
	}
	t.Logf("%d types with %d members, %d of them bit fields", n, members, bitFields)
	if n < 10000 || members < 10000 || bitFields < 100 {
		t.Error("that is too little for a kernel")
	}
}

var kindNames = [...]string{btf.KindInt: "Int", btf.KindPtr: "Pointer", btf.KindArray: "Array",
	btf.KindStruct: "Struct", btf.KindUnion: "Union", btf.KindEnum: "Enum", btf.KindEnum64: "Enum", btf.KindFwd: "Fwd",
	btf.KindTypedef:  "Typedef",
	btf.KindVolatile: "Volatile", btf.KindConst: "Const", btf.KindRestrict: "Restrict", btf.KindFunc: "Func",
	btf.KindFuncProto: "FuncProto", btf.KindVar: "Var", btf.KindDatasec: "Datasec", btf.KindFloat: "Float",
	btf.KindTypeTag: "TypeTag"}

func own(x *btf.Types, r btf.Record) described {
	d := described{kind: kindNames[r.Kind()], name: x.Name(r)}
	switch r.Kind() {
	case btf.KindInt, btf.KindFloat, btf.KindEnum, btf.KindEnum64:
		d.size = r.Size()
	case btf.KindStruct, btf.KindUnion:
		d.size = r.Size()
		for i := range r.Len() {
			m := x.Member(r, i)
			d.refs, d.parts = append(d.refs, m.Type), append(d.parts, fmt.Sprint(m.Name, m.Bit, m.Bits))
		}
	case btf.KindArray:
		d.size, d.refs = int64(r.Word(2)), []uint32{r.Word(0)}
	case btf.KindFuncProto:
		d.refs = []uint32{r.Ref()}
		for i := range r.Len() {
			d.refs, d.parts = append(d.refs, r.Word(2*i+1)), append(d.parts, x.String(r.Word(2*i)))
		}
	case btf.KindPtr, btf.KindTypedef, btf.KindVolatile, btf.KindConst, btf.KindRestrict, btf.KindFunc,
		btf.KindVar, btf.KindTypeTag:
		d.refs = []uint32{r.Ref()}
	}
	return d
}

func library(t *testing.T, spec *ebtf.Spec, typ ebtf.Type) described {
	d := described{kind: reflect.TypeOf(typ).Elem().Name(), name: typ.TypeName()}
	ref := func(to ebtf.Type) {
		id, err := spec.TypeID(to)
		if err != nil {
			t.Fatal(err)
		}
		d.refs = append(d.refs, uint32(id))
	}
	members := func(size uint32, ms []ebtf.Member) {
		d.size = int64(size)
		for _, m := range ms {
			ref(m.Type)
			d.parts = append(d.parts, fmt.Sprint(m.Name, int64(m.Offset), int64(m.BitfieldSize)))
		}
	}
	switch typ := typ.(type) {
	case *ebtf.Int:
		d.size = int64(typ.Size)
	case *ebtf.Float:
		d.size = int64(typ.Size)
	case *ebtf.Enum:
		d.size = int64(typ.Size)
	case *ebtf.Struct:
		members(typ.Size, typ.Members)
	case *ebtf.Union:
		members(typ.Size, typ.Members)
	case *ebtf.Array:
		d.size = int64(typ.Nelems)
		ref(typ.Type)
	case *ebtf.FuncProto:
		ref(typ.Return)
		for _, p := range typ.Params {
			ref(p.Type)
			d.parts = append(d.parts, p.Name)
		}
	case *ebtf.Pointer:
		ref(typ.Target)
	case *ebtf.Typedef:
		ref(typ.Type)
	case *ebtf.Volatile:
		ref(typ.Type)
	case *ebtf.Const:
		ref(typ.Type)
	case *ebtf.Restrict:
		ref(typ.Type)
	case *ebtf.Func:
		ref(typ.Type)
	case *ebtf.Var:
		ref(typ.Type)
	case *ebtf.TypeTag:
		d.name = typ.Value
		ref(typ.Type)
	}
	return d
}
