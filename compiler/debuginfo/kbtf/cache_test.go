package kbtf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
)

// fakeProc makes a proc file system with symbols.
func fakeProc(t *testing.T, boot, symbols string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sys/kernel/random"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sys/kernel/random/boot_id": boot + "\n", "kallsyms": symbols} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const bootID = "65368008-64d1-4ad0-94c1-bd040fe977d1"

// TestKeptSymbols: the symbols of the kernel itself are kept for a boot, those of modules are not.
func TestKeptSymbols(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "gostap")
	proc := fakeProc(t, bootID, kbtftest.Symbols)
	show := func(s *Symbols, err error) string {
		if err != nil {
			return err.Error()
		}
		out := ""
		s.Each(func(x Symbol) bool { out += fmt.Sprintln(x, s.Named(x.Name)); return true })
		for addr := uint64(0xffffffff80ffffff); addr < 0xffffffff81300020; addr += 0x1f35 {
			at, end := s.At(addr)
			out += fmt.Sprintln(at, end)
		}
		return out
	}
	own := func(proc string) string { return show(New(Config{Proc: proc, Cache: cache}).OwnSymbols()) }
	first := own(proc)
	if strings.Contains(first, "ext4") || !strings.Contains(first, "vfs_read") {
		t.Fatalf("first run:\n%s", first)
	}
	files := func() []string { fs, _ := filepath.Glob(cache + "/*"); return fs }
	if len(files()) != 1 {
		t.Fatalf("kept: %v", files())
	}
	empty := fakeProc(t, bootID, "ffffffff81000000 T other\n")
	if got := own(empty); got != first {
		t.Errorf("second run:\n%s\nfirst:\n%s", got, first)
	}
	// Modules are asked for each time.
	if syms, err := New(Config{Proc: proc, Cache: cache}).Symbols(); err != nil || len(syms.Named("ext4_read")) != 1 {
		t.Error("no ext4_read in the kernel's table", err)
	}
	// Another boot, an unsafe file and a damaged one: read anew.
	if got := own(fakeProc(t, strings.ToUpper(bootID), "ffffffff81000000 T other\n")); !strings.Contains(got,
		"other") || len(files()) != 1 {
		t.Errorf("another boot: %s, kept %v", got, files())
	}
	for what, spoil := range map[string]func(path string) error{
		"writable": func(p string) error { return os.Chmod(p, 0o666) },
		"cut":      func(p string) error { return os.Truncate(p, 100) },
		"empty":    func(p string) error { return os.Truncate(p, 0) },
		"folder":   func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) },
	} {
		own(proc)
		if err := spoil(files()[0]); err != nil {
			t.Fatal(err)
		}
		if got := own(fakeProc(t, bootID, "ffffffff81000000 T other\n")); !strings.Contains(got, "other") {
			t.Errorf("%s: %s", what, got)
		}
		os.RemoveAll(cache)
	}
	// Hidden addresses are not kept.
	own(fakeProc(t, bootID, "0000000000000000 T a\n0000000000000000 T b\n"))
	if len(files()) != 0 {
		t.Errorf("kept without addresses: %v", files())
	}
}

func FuzzCache(f *testing.F) {
	path := filepath.Join(f.TempDir(), "c")
	s, err := newSymbols([]byte(kbtftest.Symbols))
	if err != nil {
		f.Fatal(err)
	}
	var boot [16]byte
	if err := writeCache(path, boot, s); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, "vfs_read", uint64(0xffffffff81000111))
	f.Fuzz(func(t *testing.T, b []byte, name string, addr uint64) {
		s := decodeCache(bytes.Clone(b), boot)
		if s == nil {
			return
		}
		for _, x := range s.Named(name) {
			if x.Name != name {
				t.Fatalf("%q for %q", x.Name, name)
			}
		}
		s.At(addr)
		s.anchor("", addr)
		s.modules()
		s.prefixed(name)
	})
}
