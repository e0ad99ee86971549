package dwtype

import (
	"debug/dwarf"
	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func resolve(tb testing.TB, path, name string) {
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	d, err := dw.Open(f)
	if err != nil {
		tb.Skip(err)
	}
	syms := f.SymbolsNamed(name)
	if len(syms) != 1 {
		tb.Fatalf("%d symbols", len(syms))
	}
	pc := syms[0].Addr
	u, t, err := d.FuncTree(pc)
	if err != nil || t == nil {
		tb.Fatal(t, err)
	}
	env := u.Env(t, pc)
	n, ts := 0, Of(d)
	for _, v := range dw.Scope(t, pc) {
		ty, err := ts.TypeOf(v)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := u.VarPlace(v, ty, env, pc); err == nil {
			n++
		}
	}
	if n == 0 {
		tb.Fatal("no variable has a place")
	}
}

func BenchmarkResolveGo(b *testing.B) {
	path := elftest.GoCommand(b)
	b.ReportAllocs()
	for b.Loop() {
		resolve(b, path, "cmd/go/internal/work.(*Builder).build")
	}
}

// BenchmarkTypes sets types beside Delve's: two hundred of variables all over a program.
func BenchmarkTypes(b *testing.B) {
	d := openData(b, elftest.GoCommand(b))
	funcs, _, err := d.FindFuncs(func([]byte) bool { return true })
	if err != nil {
		b.Fatal(err)
	}
	var types []dwarf.Offset
	for i := 0; i < len(funcs); i += max(1, len(funcs)/200) {
		t, err := funcs[i].Unit.Tree(funcs[i].Die)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range t.Children {
			if off, ok := c.Val(dwarf.AttrType).(dwarf.Offset); ok {
				types = append(types, off)
			}
		}
	}
	types = types[:min(len(types), 200)]
	b.Run("type/own", func(b *testing.B) {
		elftest.CPU(b, func() {
			ts := Of(d)
			for _, off := range types {
				t, err := ts.Type(off)
				if err != nil {
					b.Fatal(err)
				}
				t.Fields()
			}
		})
	})
	b.Run("type/delve", func(b *testing.B) {
		elftest.CPU(b, func() {
			cache := map[dwarf.Offset]godwarf.Type{}
			for _, off := range types {
				if _, err := godwarf.ReadType(d.DWARF(), 0, off, cache); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
