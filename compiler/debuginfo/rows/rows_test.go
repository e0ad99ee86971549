package rows

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
)

// TestRead: the rows of a file are those that its code has, by addresses that begin at its code.
func TestRead(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tab, err := Read(self, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(tab.Rows) < 1000 || !slices.IsSorted(tab.Rows) {
		t.Errorf("%d rows, sorted %v", len(tab.Rows), slices.IsSorted(tab.Rows))
	}
	f, err := elffile.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{"main.main", "runtime.goexit.abi0", "runtime.mallocgc"} {
		for _, s := range f.SymbolsNamed(name) {
			off, err := f.FileOffset(s.Addr)
			addr, ok := tab.Address(off)
			if err != nil || !ok || addr != s.Addr {
				t.Errorf("%s: offset %#x is at %#x %v, want %#x", name, off, addr, ok, s.Addr)
			}
			i, found := slices.BinarySearch(tab.Rows, (addr-tab.Base)<<32)
			if !found && (i == len(tab.Rows) || tab.Rows[i]>>32 != addr-tab.Base) {
				i--
			}
			if cfi.Packed(tab.Rows[i]).Kind() == cfi.PackUnknown {
				t.Errorf("nothing is known of %s", name)
			}
		}
	}
	if _, err := Read("/proc/self/maps", ""); err == nil {
		t.Error("a file that is no program")
	}
}

// TestKept: a table is what it was when it is read again, and one that is damaged is made anew.
func TestKept(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "kept")
	first, err := Read(self, dir)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(dir + "/rows-*")
	if len(names) != 1 {
		t.Fatalf("%d files are kept", len(names))
	}
	same := func(tab *Table) bool {
		return tab != nil && tab.Base == first.Base && slices.Equal(tab.Code, first.Code) &&
			slices.Equal(tab.Rows, first.Rows)
	}
	if !same(kept(names[0])) {
		t.Error("what was kept is not what was written")
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		b := slices.Clone(whole)
		if rnd.IntN(2) == 0 {
			b = b[:rnd.IntN(len(b))]
		} else {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
		if err := os.WriteFile(names[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		if kept(names[0]) != nil {
			t.Error("damage was not seen")
		}
	}
	if again, err := Read(self, dir); err != nil || !same(again) || !same(kept(names[0])) {
		t.Errorf("it was not made anew: %v", err)
	}
}
