package dw_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/foreign"
)

// The file shrinks while it is mapped: reading beyond its end raises SIGBUS.
func TestShrunk(t *testing.T) {
	elftest.Tolerant(t)
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "prog")
	os.WriteFile(p, good, 0o755)
	f, err := elffile.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Changed() != nil {
		t.Error("changed before it was")
	}
	d, err := dw.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := dwtype.Of(d).NamedType("struct outer"); !errors.Is(err, foreign.ErrChanged) {
		t.Errorf("error %v", err)
	}
	if f.Changed() == nil {
		t.Error("not seen as changed")
	}
}

func TestDetached(t *testing.T) {
	full := elftest.C(t, "-g -gdwarf-5", "types.c")
	dir := t.TempDir()
	prog, debug := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.debug")
	elftest.Run(t, "objcopy", "--only-keep-debug", full, debug)
	elftest.Run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, full, prog)
	check := func(name, why string) {
		t.Helper()
		f := openELF(t, prog)
		d, err := dw.Open(f)
		if got := f.NoDebugFile(); (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: %q", name, got)
		}
		if why != "" {
			if !errors.Is(err, debuginfo.ErrNoTypes) {
				t.Errorf("%s: error %v", name, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := dwtype.Of(d).NamedType("struct outer"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(f.SymbolsNamed("main")) != 1 || f.DebugFile() == "" || !f.HasSymtab() {
			t.Errorf("%s: no symbols", name)
		}
		if _, err := f.Frame(f.SymbolsNamed("main")[0].Addr + 1); err != nil {
			t.Errorf("%s: frame: %v", name, err)
		}
	}
	check("beside", "")
	os.Mkdir(filepath.Join(dir, ".debug"), 0o755)
	os.Rename(debug, filepath.Join(dir, ".debug", "prog.debug"))
	check(".debug", "")
	id := openELF(t, prog).BuildID()
	store := t.TempDir()
	os.MkdirAll(filepath.Join(store, ".build-id", id[:2]), 0o755)
	os.Rename(filepath.Join(dir, ".debug", "prog.debug"), filepath.Join(store, ".build-id", id[:2], id[2:]+".debug"))
	check("nowhere", "no debug file for its build ID is installed")
	t.Setenv("DEBUGINFO_PATH", store)
	check("build ID", "")
	// A debug file of another build does not count.
	other := elftest.C(t, "-g -gdwarf-4", "types.c")
	elftest.Run(t, "objcopy", "--only-keep-debug", other, filepath.Join(store, ".build-id", id[:2], id[2:]+".debug"))
	check("another build", id[2:]+".debug is the debug file of another build")
}

// Thread-local offsets, against the linker's: it puts them into the code as displacements from fs.
func TestThreadLocal(t *testing.T) {
	f := openELF(t, elftest.C(t, "-g -O2 -gdwarf-5", "code.c"))
	d, _ := dw.Open(f)
	refs, err := d.FindGlobals("tls")
	if err != nil || len(refs) != 1 {
		t.Fatal(refs, err)
	}
	v, err := d.Entry(refs[0].Die)
	if err != nil {
		t.Fatal(err)
	}
	ty, _ := dwtype.Of(d).TypeOf(v)
	p, err := refs[0].Unit.VarPlace(v, ty, refs[0].Unit.Env(nil, 0), 0)
	if err != nil || !p.InMemory || p.Addr.String() != "tls; const -4; add .0 .1" {
		t.Errorf("tls is at %v, %v", p.Addr, err)
	}
}
