package dw

import (
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func resolve(tb testing.TB, path, name string) {
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	d, err := Open(f)
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
	n := 0
	for _, v := range Scope(t, pc) {
		ty, err := d.TypeOf(v)
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

// One look through all entries of a program.
func BenchmarkFindFuncs(b *testing.B) {
	d := openDwarf(b, elftest.GoCommand(b))
	info, _ := d.src.Section(".debug_info")
	b.SetBytes(int64(len(info)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.FindFuncs(func(name []byte) bool { return string(name) == "strings.HasPrefix" }); err != nil {
			b.Fatal(err)
		}
	}
}
