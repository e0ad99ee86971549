package dw

import (
	"math/rand/v2"

	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/foreign"
)

// TestDamaged explores files with damage in them, and files that were cut anywhere: an error or what is left, never a
// panic.
func TestDamaged(t *testing.T) {
	elftest.Tolerant(t)
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := elftest.NewMutator(good)
	if err != nil {
		t.Fatal(err)
	}
	rnd, read := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 300 {
		b, _ := m.Mutate(rnd)
		if i%10 == 0 { // the headers of sections stand at the end: that leaves none
			b = b[:len(b)*i/300]
		}
		if f, err := elffile.InMemory(b); err == nil {
			explore(f)
			read++
		}
	}
	if read < 100 {
		t.Errorf("only %d files were opened", read)
	}
}

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
	d, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NamedType("struct outer"); !errors.Is(err, foreign.ErrChanged) {
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
		f := openFile(t, prog)
		d, err := Open(f)
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
		if _, err := d.NamedType("struct outer"); err != nil {
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
	id := openFile(t, prog).BuildID()
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
