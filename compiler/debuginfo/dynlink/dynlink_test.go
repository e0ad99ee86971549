package dynlink

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/machine"
)

// build links text into a file of dir and gives its path.
func build(t *testing.T, dir, name, text string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	src, out := filepath.Join(t.TempDir(), "x.c"), filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("gcc", append([]string{"-o", out, src}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// TestNeeded compares with what the dynamic linker itself maps, for each way in which a program can name its libraries.
func TestNeeded(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	build(t, dir, "deep/libtwo.so", "int two(void) { return 2; }", "-shared", "-fPIC", "-Wl,-soname,libtwo.so")
	build(t, dir, "lib/libone.so", "int two(void); int one(void) { return two(); }", "-shared", "-fPIC",
		"-Wl,-soname,libone.so", "-L"+in("deep"), "-ltwo", "-Wl,--no-as-needed,-rpath,$ORIGIN/../deep")
	const text = "int one(void); int main(void) { return one() != 2; }"
	link := []string{"-L" + in("lib"), "-lone", "-Wl,-rpath-link," + in("deep")}
	for _, c := range []struct {
		name  string
		flags []string
		env   string
	}{
		{"runpath", append(link, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib"), ""},
		{"rpath", append(link, "-Wl,--disable-new-dtags,-rpath,"+in("lib")), ""},
		{"nopie", append(link, "-no-pie", "-Wl,-rpath,"+in("lib")), ""},
		{"env", link, in("lib")},
	} {
		prog := build(t, dir, c.name, text, c.flags...)
		libs, err := Needed(prog, Search{LibraryPath: c.env})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		cmd := exec.Command("ldd", prog)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+c.env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("ldd: %v\n%s", err, out)
		}
		want := 0
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			path := ""
			if len(f) > 2 && f[1] == "=>" {
				path = f[2]
			} else if strings.HasPrefix(f[0], "/") {
				path = f[0]
			} else {
				continue // the kernel's own
			}
			want++
			a, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(libs, func(l Lib) bool {
				return slices.ContainsFunc(l.Paths, func(p string) bool {
					b, err := os.Stat(p)
					return err == nil && os.SameFile(a, b)
				})
			}) {
				t.Errorf("%s: %s is missing in %v", c.name, path, libs)
			}
		}
		if len(libs) != want || want < 4 {
			t.Errorf("%s: %v, of %d", c.name, libs, want)
		}
	}
	if libs, err := Needed(in("lib/libone.so"), Search{}); !errors.Is(err, ErrLibrary) {
		t.Errorf("a library: %v, %v", libs, err)
	}
	static := build(t, dir, "static", "int main(void) { return 0; }", "-static")
	if libs, err := Needed(static, Search{}); err != nil || len(libs) != 0 {
		t.Errorf("static: %v, %v", libs, err)
	}
	if _, err := Needed("/etc/passwd", Search{}); err == nil {
		t.Error("a text file has libraries")
	}
	// What is missing is listed without a file.
	lost := build(t, dir, "lost", text, link...)
	libs, err := Needed(lost, Search{})
	if err != nil || len(libs) == 0 || libs[0].Name != "libone.so" || len(libs[0].Paths) != 0 {
		t.Errorf("lost: %v, %v", libs, err)
	}
}

// TestVariants: a directory that has builds for newer processors gives all of them.
func TestVariants(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"", "glibc-hwcaps/x86-64-v3/"} {
		build(t, dir, sub+"libv.so", "int v(void) { return 1; }", "-shared", "-fPIC", "-Wl,-soname,libv.so")
	}
	prog := build(t, dir, "prog", "int v(void); int main(void) { return v(); }", "-L"+dir, "-lv", "-Wl,-rpath,"+dir)
	libs, err := Needed(prog, Search{})
	if err != nil || len(libs) == 0 || len(libs[0].Paths) != 2 {
		t.Errorf("%v, %v", libs, err)
	}
}

// cacheOf makes a cache of entries (flags, hwcap, name, path).
func cacheOf(entries ...[4]any) []byte {
	le := binary.LittleEndian
	b := make([]byte, cacheHeader+cacheEntry*len(entries))
	copy(b, cacheMagic)
	le.PutUint32(b[20:], uint32(len(entries)))
	for i, e := range entries {
		at := b[cacheHeader+i*cacheEntry:]
		le.PutUint32(at, uint32(e[0].(int)))
		le.PutUint64(at[16:], uint64(e[1].(int)))
		le.PutUint32(at[4:], uint32(len(b)))
		b = append(b, e[2].(string)+"\x00"...)
		le.PutUint32(b[cacheHeader+i*cacheEntry+8:], uint32(len(b)))
		b = append(b, e[3].(string)+"\x00"...)
	}
	return b
}

func TestCache(t *testing.T) {
	b := cacheOf([4]any{0x0303, 1 << 62, "liba.so", "/v3/liba.so"}, [4]any{0x0303, 0, "liba.so", "/lib/liba.so"},
		[4]any{0x0303, 0, "liba.so", "/usr/lib/liba.so"}, [4]any{0x0803, 0, "liba.so", "/lib32/liba.so"},
		[4]any{0x0303, 0, "libb.so", "/lib/libb.so"})
	for _, c := range [][]byte{b, append([]byte("ld.so-1.7.0\x00\x00\x00\x00\x00"), b...)} {
		got := parseCache(c, machine.AMD64.CacheFlags)
		if !slices.Equal(got["liba.so"], []string{"/v3/liba.so", "/lib/liba.so"}) ||
			!slices.Equal(got["libb.so"], []string{"/lib/libb.so"}) || len(got) != 2 {
			t.Errorf("%v", got)
		}
	}
	if b, err := os.ReadFile("/etc/ld.so.cache"); err == nil &&
		len(parseCache(b, machine.AMD64.CacheFlags)["libc.so.6"]) == 0 {
		t.Error("this machine's cache has no C library")
	}
}

func FuzzCache(f *testing.F) {
	f.Add(cacheOf([4]any{0x0303, 0, "liba.so", "/lib/liba.so"}))
	f.Add(cacheOf())
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, paths := range parseCache(b, machine.AMD64.CacheFlags) {
			if name == "" || len(paths) == 0 {
				t.Errorf("%q %q", name, paths)
			}
		}
	})
}

// FuzzNeeded gives damaged programs to the reader.
func FuzzNeeded(f *testing.F) {
	if b, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(b)
	}
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		Needed(path, Search{}) //nolint:errcheck // it must not panic
	})
}
