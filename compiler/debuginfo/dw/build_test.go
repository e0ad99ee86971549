package dw

import (
	"os"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

func TestMain(m *testing.M) { os.Exit(elftest.Main(m)) }

func openFile(tb testing.TB, path string) *elffile.File {
	tb.Helper()
	f, err := elffile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

func openDwarf(tb testing.TB, path string) *Data {
	tb.Helper()
	d, err := Open(openFile(tb, path))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// explore asks a File for everything, for its panics.
func explore(f *elffile.File) {
	f.Symbols()
	f.SymbolAt(0x1139)
	f.BuildID()
	f.FileOffset(0x1139)
	for _, s := range f.ELF().Sections {
		f.Section(s.Name)
	}
	pcs := []uint64{0x1139, 0x1140, 0x401126}
	for _, s := range f.SymbolsNamed("main") {
		pcs = append(pcs, s.Addr, s.Addr+4)
	}
	for _, pc := range pcs {
		f.Frame(pc)
		f.Unwind(pc)
	}
	d, err := Open(f)
	if err != nil {
		return
	}
	units, _ := d.Units()
	for _, u := range units {
		u.Entry()
		u.Producer()
		u.Rows()
		u.Files()
	}
	for _, pc := range pcs {
		u, t, err := d.FuncTree(pc)
		if err != nil || t == nil {
			continue
		}
		u.RowAt(pc)
		InlineStack(t, pc)
		env := u.Env(t, pc)
		for _, v := range AllVars(t) {
			if ty, err := d.TypeOf(v); err == nil {
				u.VarPlace(v, ty, env, pc)
				u.LiveLines(v, t)
			}
		}
	}
	if ty, err := d.NamedType("struct outer"); err == nil {
		for _, f := range ty.Fields() {
			f.Type.Elem()
			f.Type.Fields()
			f.Type.Enums()
		}
	}
	d.NamedType("main.All")
	d.EnumWith("RED")
	d.FindGlobals("one")
	d.FindFuncs(func([]byte) bool { return true })
}
