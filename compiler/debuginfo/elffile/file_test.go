package elffile

import (
	"math/rand/v2"

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
	"github.com/gostap/gostap/compiler/foreign"
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
		f, err := Open(p)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if f != nil {
			f.Close()
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, debuginfo.ErrNotELF) {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open("/nonexistent/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
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
		if !f.Compressed(".debug_info") {
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
	if _, err := f.Section(".debug_info"); !errors.Is(err, foreign.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
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

// TestDamaged asks files with damage in them, and files that were cut anywhere, for what stands in them: that is an
// error or what is left, never a panic.
func TestDamaged(t *testing.T) {
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	elftest.Tolerant(t)
	ask := func(b []byte) bool {
		f, err := InMemory(b)
		if err != nil {
			return false
		}
		for _, s := range f.ELF().Sections {
			f.Section(s.Name)
		}
		f.Symbols()
		f.Stubs()
		f.Marks()
		for pc := uint64(0x1000); pc < 0x1200; pc += 16 {
			f.SymbolAt(pc)
			f.FileOffset(pc)
			f.Word(pc)
			f.Frame(pc)
			f.FrameRange(pc)
		}
		return true
	}
	for n := 0; n < len(good); n += 97 {
		ask(good[:n:n])
	}
	m, err := elftest.NewMutator(good)
	if err != nil {
		t.Fatal(err)
	}
	rnd, read := rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		if b, _ := m.Mutate(rnd); ask(b) {
			read++
		}
	}
	if read < 100 {
		t.Errorf("only %d files were opened", read)
	}
}
