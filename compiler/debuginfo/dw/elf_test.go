package dw

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	arch "github.com/gostap/gostap/compiler/machine"
)

func TestOpenErrors(t *testing.T) {
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	patch := func(off int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[off:], b)
		return c
	}
	obj := filepath.Join(elftest.Dir(), "obj.o")
	elftest.Run(t, "gcc", "-c", "-o", obj, elftest.Source(t, "types.c"))
	object, _ := os.ReadFile(obj)
	for _, c := range []struct {
		name string
		data []byte
		is   error
		text string
	}{
		{"empty", nil, debuginfo.ErrNotELF, "the file is empty"},
		{"script", []byte("#!/bin/sh\necho " + strings.Repeat("x", 100)), debuginfo.ErrNotELF, "it is a script"},
		{"text", []byte(strings.Repeat("hello ", 100)), debuginfo.ErrNotELF, "does not begin with the ELF magic"},
		{"archive", []byte("!<arch>\n" + strings.Repeat("x", 100)), debuginfo.ErrNotELF, "static library"},
		{"object", object, debuginfo.ErrNotELF, "has not been linked"},
		{"short", good[:20], debuginfo.ErrNotELF, "cut short"},
		{"class32", patch(elf.EI_CLASS, 1), debuginfo.ErrArch, "x86-64, 32 bits"},
		{"bigendian", patch(elf.EI_DATA, 2), debuginfo.ErrArch, "big-endian; this gostap traces x86-64 only"},
		{"arm64", patch(18, byte(elf.EM_AARCH64)), debuginfo.ErrArch, "AArch64; this gostap traces x86-64 only"},
		{"core", patch(16, byte(elf.ET_CORE)), debuginfo.ErrNotELF, "ET_CORE"},
	} {
		p := filepath.Join(t.TempDir(), c.name)
		os.WriteFile(p, c.data, 0o644)
		f, err := OpenELF(p)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if f != nil {
			f.Close()
		}
	}
	if _, err := OpenELF(t.TempDir()); !errors.Is(err, debuginfo.ErrNotELF) {
		t.Errorf("directory: %v", err)
	}
	if _, err := OpenELF("/nonexistent/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// A file cut anywhere gives an error or what is left, never a panic.
func TestTruncated(t *testing.T) {
	elftest.Tolerant(t)
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(good); n += 97 {
		if f, err := InMemory(good[:n:n]); err == nil {
			explore(f)
		}
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
	f, err := OpenELF(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Changed() != nil {
		t.Error("changed before it was")
	}
	if _, err := f.Data(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p, 0); err != nil {
		t.Fatal(err)
	}
	d, _ := f.Data()
	if _, err := d.NamedType("struct outer"); !errors.Is(err, ErrChanged) {
		t.Errorf("error %v", err)
	}
	if f.Changed() == nil {
		t.Error("not seen as changed")
	}
}

func TestAddresses(t *testing.T) {
	for _, flags := range []string{"-g -gdwarf-5", "-g -no-pie -fno-pie"} {
		f := openFile(t, elftest.C(t, flags, "types.c"))
		pie := !strings.Contains(flags, "no-pie")
		if f.Relocated() != pie || !f.Executable() {
			t.Errorf("%s: relocated %v, executable %v", flags, f.Relocated(), f.Executable())
		}
		if pie != (f.LoadBase() == 0) {
			t.Errorf("%s: load base %#x", flags, f.LoadBase())
		}
		main := f.SymbolsNamed("main")[0]
		off, err := f.FileOffset(main.Addr)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Bytes(main.Addr, 8)
		if err != nil || !bytes.Equal(b, f.mem[off:off+8]) {
			t.Errorf("bytes at main: %x, %v", b, err)
		}
		if _, err := f.FileOffset(1); err == nil && pie == false {
			t.Error("address 1 has an offset")
		}
		if s, ok := f.SymbolAt(main.Addr + 3); !ok || s.Name != "main" {
			t.Errorf("symbol at main+3: %v", s)
		}
		if !f.InText(main.Addr) {
			t.Error("main is not in the text")
		}
	}
}

func TestBuildID(t *testing.T) {
	c := openFile(t, elftest.C(t, "-g -Wl,--build-id=0x0123456789abcdef", "types.c"))
	if c.BuildID() != "0123456789abcdef" {
		t.Errorf("build ID %q", c.BuildID())
	}
	g := openFile(t, elftest.Go(t, "-ldflags=-B=none", "types.go"))
	if !strings.Contains(g.BuildID(), "/") {
		t.Errorf("Go build ID %q", g.BuildID())
	}
}

func TestCompressedSections(t *testing.T) {
	plain := elftest.C(t, "-g -gdwarf-5", "types.c")
	want := openFile(t, plain)
	for _, kind := range []string{"zlib-gabi", "zlib-gnu", "zstd"} {
		out := filepath.Join(t.TempDir(), kind)
		cmd := []string{"--compress-debug-sections=" + kind, plain, out}
		if !supports(t, "objcopy", cmd) {
			t.Logf("objcopy has no %s", kind)
			continue
		}
		f := openFile(t, out)
		if !f.compressed(".debug_info") {
			t.Errorf("%s: not compressed", kind)
		}
		f.Prefetch(".debug_info", ".debug_abbrev", ".debug_str")
		for _, s := range []string{".debug_info", ".debug_abbrev", ".debug_str", ".debug_line"} {
			a, err := f.Section(s)
			b, err2 := want.Section(s)
			if err != nil || err2 != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s differs (%v, %v)", kind, s, err, err2)
			}
		}
		if _, err := f.Section(".debug_nonesuch"); !errors.Is(err, ErrNoSection) {
			t.Errorf("missing section: %v", err)
		}
	}
}

func supports(t *testing.T, name string, args []string) bool {
	t.Helper()
	return elftest.Command(name, args...).Run() == nil
}

// A header that promises far more than the bytes can hold must not be believed.
func TestInflateBomb(t *testing.T) {
	elftest.Tolerant(t)
	out := filepath.Join(t.TempDir(), "z")
	elftest.Run(t, "objcopy", "--compress-debug-sections=zlib-gabi", elftest.C(t, "-g -gdwarf-5", "types.c"), out)
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := InMemory(b)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.header(".debug_info")
	binary.LittleEndian.PutUint64(b[s.Offset+8:], 1<<40)
	if f, err = InMemory(b); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Section(".debug_info"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
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
		d, err := f.Data()
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

// TestStubs: jumps of each shape lead to the slots that relocations name, and bytes that are none lead nowhere.
func TestStubs(t *testing.T) {
	for _, c := range []struct {
		code string
		want uint64
		ok   bool
	}{
		{"\xff\x25\x10\x00\x00\x00\x68\x00\x00\x00\x00\xe9\x00\x00\x00\x00", 0x1016, true},
		{"\xf3\x0f\x1e\xfa\xff\x25\x10\x00\x00\x00", 0x101a, true},     // endbr64
		{"\xf3\x0f\x1e\xfa\xf2\xff\x25\xfb\xff\xff\xff", 0x1006, true}, // endbr64, bnd; backwards
		{"\xff\x35\x10\x00\x00\x00", 0, false},                         // push: the first stub
		{"\xff\x25\x10\x00", 0, false},
		{"", 0, false},
	} {
		if got, ok := arch.AMD64.Code.StubSlot([]byte(c.code), 0x1000); got != c.want || ok != c.ok {
			t.Errorf("%x: %#x %v", c.code, got, ok)
		}
	}
}
