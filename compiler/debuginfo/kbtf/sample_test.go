package kbtf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/btf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/types"
)

func sampleScope(t *testing.T) *Scope {
	t.Helper()
	x, err := btf.New(sample().Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := New(Config{})
	k.main = &Scope{k: k, b: x}
	return k.main
}

// layout writes the fields of t.
func layout(t *types.Ctype) string {
	var out []string
	for _, f := range t.Fields() {
		s := fmt.Sprintf("%s %s +%d", f.Type.Name, f.Name, f.Off)
		if f.BitSize > 0 {
			s += fmt.Sprintf(" %d:%d of %d", f.BitOff, f.BitSize, f.Type.Size)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestSampleTypes(t *testing.T) {
	s := sampleScope(t)
	node, err := s.Type("struct node")
	if err != nil {
		t.Fatal(err)
	}
	want := "struct node * next +0; char[16] name +8; union {...}  +24; long unsigned int low +32 0:3 of 8; int high " +
		"+32 3:7 of 4; _Bool on +40"
	if got := layout(node); got != want {
		t.Errorf("struct node:\n%s\nwant\n%s", got, want)
	}
	if got, want := layout(node.Fields()[2].Type), "int a +0; long unsigned int b +0"; got != want {
		t.Errorf("union: %s", got)
	}
	td, err := s.Type("node_t")
	if err != nil || td.Kind != types.Struct || td.Name != "node_t" || len(td.Fields()) != 6 || td.Size != 48 {
		t.Errorf("node_t: %+v %v", td, err)
	}
	for name, want := range map[string]string{
		"unsigned long": "long unsigned int", "node": "struct node", "enum color": "enum color", "color": "enum color",
		"struct node *": "struct node *", "node_t**": "node_t **", "const int": "int", "bool": "_Bool",
	} {
		if ty, err := s.Type(name); err != nil || ty.Name != want {
			t.Errorf("%s: %v %v", name, ty, err)
		}
	}
	for _, name := range []string{"struct nod", "union node", "", "*", "opaque", "struct opaque"} {
		if ty, err := s.Type(name); err == nil {
			t.Errorf("%q gives %+v", name, ty)
		}
	}
}

func TestSampleFunctions(t *testing.T) {
	s := sampleScope(t)
	p, err := s.FuncProto("work")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range p.Params {
		got = append(got, fmt.Sprintf("%s %s %t", x.Type.Name, x.Name, x.Type.User))
	}
	if want := "struct node * n false, const char * name false, char * to true, enum color c false, " +
		"_Bool on false"; strings.Join(got, ", ") != want {
		t.Errorf("parameters of work:\n%s\nwant\n%s", strings.Join(got, ", "), want)
	}
	if p.Result.Name != "int" || !p.Result.Signed || p.Variadic || p.ID != 17 {
		t.Errorf("work: %+v", p)
	}
	if p, err := s.FuncProto("log"); err != nil || !p.Variadic || len(p.Params) != 1 || p.Result.Kind != types.Void {
		t.Errorf("log: %+v %v", p, err)
	}
	if p, err := s.TypedefProto("btf_trace_work"); err != nil || len(p.Params) != 5 {
		t.Errorf("btf_trace_work: %+v %v", p, err)
	}
	if _, err := s.TypedefProto("node_t"); err == nil {
		t.Error("node_t has a prototype")
	}
	if ty, err := s.VarType("count"); err != nil || ty.Size != 8 {
		t.Errorf("count: %v %v", ty, err)
	}
	for name, want := range map[string]int64{"RED": 1, "NONE": -1, "HUGE": 1 | 2<<32} {
		if v, _, ok := s.Enumerator(name); !ok || v != want {
			t.Errorf("%s: %d %t", name, v, ok)
		}
	}
	if _, _, ok := s.Enumerator("GREEN"); ok {
		t.Error("GREEN exists")
	}
	if got := s.FuncNames("*o*"); strings.Join(got, " ") != "log work" {
		t.Errorf("functions: %v", got)
	}
	// The table gives the same as the search.
	for range 30 {
		if p, err := s.FuncProto("work"); err != nil || p.ID != 17 {
			t.Fatalf("work: %+v %v", p, err)
		}
		if _, err := s.FuncProto("wor"); err == nil {
			t.Fatal("wor exists")
		}
	}
}

func TestDamagedBTF(t *testing.T) {
	good := sample().Bytes()
	for name, b := range map[string][]byte{
		"empty": nil, "short": good[:20], "cut": good[:len(good)-1], "magic": append([]byte{1}, good[1:]...),
		"other byte order": {0xeb, 0x9f, 1, 0, 24: 0},
	} {
		if _, err := btf.New(b, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	bad := append([]byte(nil), good...)
	bad[24+7] = 31 // an unknown kind
	if _, err := btf.New(bad, nil); err == nil || !strings.Contains(err.Error(), "type 1") {
		t.Errorf("unknown kind: %v", err)
	}
}

// TestSplit reads what a module adds: numbers and strings count on from the kernel's.
func TestSplit(t *testing.T) {
	base := sampleScope(t)
	b := sample().Split()
	// 10 is the kernel's struct node *
	extra := b.Struct(btf.KindStruct, "extra", 8, kbtftest.M{Name: "node", Type: 10})
	b.Func("modfn", 1, kbtftest.M{Name: "e", Type: b.Pointer(extra)})
	x, err := btf.New(b.Bytes(), base.b)
	if err != nil {
		t.Fatal(err)
	}
	s := &Scope{k: base.k, name: "m", b: x, above: base}
	p, err := s.FuncProto("modfn")
	if err != nil || p.Params[0].Type.Name != "struct extra *" || p.Result.Name != "int" {
		t.Fatalf("modfn: %+v %v", p, err)
	}
	node, err := base.Type("struct node")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Params[0].Type.Elem().Fields()[0].Type.Elem(); got != node {
		t.Errorf("the module's struct node is %p, the kernel's %p", got, node)
	}
	if _, err := s.FuncProto("work"); err != nil {
		t.Errorf("the kernel's function from the module: %v", err)
	}
	if _, err := base.FuncProto("modfn"); err == nil {
		t.Error("the module's function from the kernel")
	}
}
