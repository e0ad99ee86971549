package dwtype

import (
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"

	"fmt"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/types"
)

var dwarfs = []string{"-g -gdwarf-5", "-g -gdwarf-4", "-g -gdwarf-3 -gstrict-dwarf", "-g -gdwarf-2 -gstrict-dwarf",
	"-g -gdwarf-5 -fdebug-types-section"}

// find looks a member up, through anonymous ones.
func find(t *types.Ctype, name string) (types.Field, bool) {
	for _, f := range t.Fields() {
		if f.Name == name {
			return f, true
		}
		if f.Name == "" {
			if g, ok := find(f.Type, name); ok {
				g.Off += f.Off
				return g, true
			}
		}
	}
	return types.Field{}, false
}

func TestCLayout(t *testing.T) {
	for _, flags := range dwarfs {
		t.Run(flags, func(t *testing.T) {
			path := elftest.C(t, flags, "types.c")
			d := openData(t, path)
			outer, err := Of(d).NamedType("struct outer")
			if err != nil {
				t.Fatal(err)
			}
			packed, err := Of(d).NamedType("struct packed")
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(elftest.Run(t, path)) {
				var name string
				var a, b int64
				fmt.Sscan(line, &name, &a, &b)
				if name == "sizeof" {
					if outer.Size != a || packed.Size != b {
						t.Errorf("sizes %d and %d, want %d and %d", outer.Size, packed.Size, a, b)
					}
					continue
				}
				f, ok := find(outer, name)
				if name == "tail" {
					b = -1
				}
				if !ok || f.Off != a || f.Type.Size != b {
					t.Errorf("%s: %+v, want offset %d, size %d", name, f, a, b)
				}
			}
		})
	}
}

func TestCNames(t *testing.T) {
	for _, flags := range dwarfs {
		d := openData(t, elftest.C(t, flags, "types.c"))
		outer, err := Of(d).NamedType("struct outer")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"c": "char", "s": "short int", "cvp": "const volatile int *const", "big": "u64", "v": "union val",
			"grid": "int[2][3][4]", "names": "char *[5]", "h": "handler", "rows": "int (*)[7]",
			"next": "struct outer *",
			"link": "struct outer **", "hidden": "struct opaque *", "lv": "enum level", "yes": "_Bool",
			"ld":   "long double",
			"wide": "__int128", "make": "struct outer *(*)(void)", "tail": "int[]", "x": "int",
		}
		for name, typ := range want {
			f, _ := find(outer, name)
			if f.Type == nil || f.Type.Name != typ {
				t.Errorf("%s: %s is a %v, want %q", flags, name, f.Type, typ)
			}
		}
		if f, _ := find(outer, "grid"); f.Type.Count != 2 || f.Type.Elem().Count != 3 ||
			f.Type.Elem().Name != "int[3][4]" || f.Type.Elem().Elem().Elem().Kind != types.Int {
			t.Errorf("%s: grid is nested the wrong way round", flags)
		}
		if f, _ := find(outer, "h"); f.Type.Kind != types.Pointer ||
			f.Type.Elem().Name != "int (struct outer *, const char *, ...)" {
			t.Errorf("%s: h points to %q", flags, f.Type.Elem().Name)
		}
		if f, _ := find(outer, "hidden"); f.Type.Elem().Size != -1 || len(f.Type.Elem().Fields()) != 0 {
			t.Errorf("%s: struct opaque is not incomplete", flags)
		}
		if f, _ := find(outer, "lv"); !f.Type.Signed || f.Type.Enums()[0] != (types.Enumerator{Name: "LOW", Val: -2}) ||
			f.Type.Enums()[2].Val != 200 {
			t.Errorf("%s: enum level: %v %v", flags, f.Type.Signed, f.Type.Enums())
		}
		if f, _ := find(outer, "pl"); f.Type.Signed {
			t.Errorf("%s: enum plain is signed", flags)
		}
		next, _ := find(outer, "next")
		if next.Type.Elem() != outer {
			t.Errorf("%s: next does not lead back", flags)
		}
	}
}

// Bit positions from the start of the struct, as the psABI lays them out.
func TestBitFields(t *testing.T) {
	for _, flags := range dwarfs {
		d := openData(t, elftest.C(t, flags, "types.c"))
		p, err := Of(d).NamedType("struct packed")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][2]int64{"b": {8, 20}, "c": {28, 20}, "d": {48, 60}} {
			f, ok := find(p, name)
			if !ok || 8*f.Off+f.BitOff != want[0] || f.BitSize != want[1] {
				t.Errorf("%s: packed.%s at bit %d, %d bits; want %v", flags, name, 8*f.Off+f.BitOff, f.BitSize, want)
			}
			if f.BitOff < 0 || f.BitOff+f.BitSize > 8*f.Type.Size || f.Off+f.Type.Size > p.Size {
				t.Errorf("%s: packed.%s is not in its word: %+v", flags, name, f)
			}
		}
		o, _ := Of(d).NamedType("struct outer")
		flagsField, _ := find(o, "flags")
		base := 8*flagsField.Off + flagsField.BitOff
		for name, want := range map[string][2]int64{"flags": {0, 3}, "neg": {3, 4}} {
			f, _ := find(o, name)
			if 8*f.Off+f.BitOff-base != want[0] || f.BitSize != want[1] || f.Type.Signed != (name == "neg") {
				t.Errorf("%s: outer.%s: %+v", flags, name, f)
			}
		}
	}
}

func TestNamedTypes(t *testing.T) {
	d := openData(t, elftest.C(t, "-g -gdwarf-5", "types.c"))
	for name, kind := range map[string]types.Kind{
		"u64": types.Int, "union val": types.Union, "enum level": types.Enum, "int": types.Int, "outer": types.Struct,
		"struct outer *": types.Pointer, "named_by_typedef": types.Struct, "struct empty": types.Struct,
		"handler": types.Pointer,
		"char **": types.Pointer,
	} {
		ty, err := Of(d).NamedType(name)
		if err != nil || ty.Kind != kind {
			t.Errorf("%s: %v %v", name, ty, err)
		}
	}
	if ty, err := Of(d).NamedType("struct nonesuch"); err == nil {
		t.Errorf("struct nonesuch: %v", ty)
	}
	if ty, err := Of(d).NamedType("struct u64"); err == nil {
		t.Errorf("struct u64: %v", ty)
	}
}

func TestGoTypes(t *testing.T) {
	for _, flags := range []string{"", "-ldflags=-compressdwarf=false"} {
		path := elftest.Go(t, flags, "types.go")
		d := openData(t, path)
		all, err := Of(d).NamedType("main.All")
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]types.Kind{
			"struct": types.Struct, "bool": types.Bool, "string": types.GoString, "slice": types.GoSlice,
			"array": types.Array,
			"map":   types.GoMap, "chan": types.GoChan, "func": types.GoFunc, "interface": types.GoInterface,
			"complex128": types.Complex, "float32": types.Float, "ptr": types.Pointer, "uintptr": types.Int,
			"uint8": types.Int,
		}
		n := 0
		for line := range strings.Lines(elftest.Run(t, path)) {
			var name, kind string
			var off, size int64
			fmt.Sscan(line, &name, &off, &size, &kind)
			if name == "sizeof" {
				if all.Size != off {
					t.Errorf("size %d, want %d", all.Size, off)
				}
				continue
			}
			n++
			f, ok := find(all, name)
			if !ok || f.Off != off || f.Type.Size != size || f.Type.Kind != kinds[kind] || !f.Type.Go ||
				f.Embedded != (name == "Inner") {
				t.Errorf("%s: %+v %+v; want offset %d, size %d, %s", name, f, f.Type, off, size, kind)
			}
		}
		if n != len(all.Fields()) {
			t.Errorf("%d fields, want %d", len(all.Fields()), n)
		}
		field := func(name string) *types.Ctype { f, _ := find(all, name); return f.Type }
		checks := map[string]bool{
			"map": field("M").Name == "map[string]*main.Inner" && field("M").Key().Kind == types.GoString &&
				field("M").Elem().Elem().Name == "main.Inner",
			"chan": field("Ch").Elem().Name == "main.Num" && field("Ch").Elem().Signed &&
				field("Ch").Elem().Size == 4,
			"slice": field("Sl").Elem().Name == "main.Inner" && len(field("Sl").Fields()) == 3,
			"array": field("Arr").Count == 3 && field("Arr").Elem().Count == 2 &&
				field("Arr").Elem().Elem().Size == 2,
			"empty":     field("Any").Empty && !field("Err").Empty && !field("If").Empty,
			"pointer":   field("Ptr").Elem().Fields() != nil && field("Ptr").Name == "*main.All",
			"generic":   field("Gen").Name == "*main.Node[string]" && len(field("Gen").Elem().Fields()) == 2,
			"anonymous": len(field("Anon").Fields()) == 2,
			"string":    len(field("Str").Fields()) == 2,
		}
		for name, ok := range checks {
			if !ok {
				t.Errorf("%s: wrong", name)
			}
		}
	}
}

// Type units of DWARF 4 are in a section of their own, which is refused by name.
func TestDebugTypes4(t *testing.T) {
	d := openData(t, elftest.C(t, "-g -gdwarf-4 -fdebug-types-section", "types.c"))
	refs, err := d.FindGlobals("one")
	if err != nil || len(refs) != 1 {
		t.Fatal(refs, err)
	}
	v, err := d.Entry(refs[0].Die)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Of(d).TypeOf(v); err == nil || !strings.Contains(err.Error(), ".debug_types, which is not supported") {
		t.Errorf("error %v", err)
	}
}

func openELF(tb testing.TB, path string) *elffile.File {
	tb.Helper()
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func openData(tb testing.TB, path string) *dw.Data {
	tb.Helper()
	d, err := dw.Open(openELF(tb, path))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
