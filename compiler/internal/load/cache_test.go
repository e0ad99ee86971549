package load

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/diag"
)

// bigDir makes a folder with more files than are indexed anew each time.
func bigDir(t testing.TB) (dir, kept string) {
	dir, kept = t.TempDir(), t.TempDir()
	for i := range fewFiles + 6 {
		text := fmt.Sprintf("function f%d(a) { return a + g%d }\nprivate global g%d = %d\nprobe al%d = begin { x = "+
			"%d }\n%%( kernel_v >= \"9\" %%? function only%d() { } %%)\n", i, i, i, i, i, i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("t%d.stp", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, kept
}

func cached(t testing.TB, dir, kept string) *Library {
	t.Helper()
	l, ds := New(Options{Dirs: []string{dir}, Cache: kept})
	if len(ds) > 0 {
		t.Fatal(ds[0].Message)
	}
	return l
}

func cacheFile(t testing.TB, kept string) string {
	t.Helper()
	list, _ := filepath.Glob(filepath.Join(kept, "*"))
	if len(list) != 1 || !strings.HasPrefix(filepath.Base(list[0]), "index-") {
		t.Fatal("the cache folder holds ", list)
	}
	return list[0]
}

// TestCache: what is kept about a folder is what indexing it gives, and files that have changed are seen.
func TestCache(t *testing.T) {
	dir, kept := bigDir(t)
	first := cached(t, dir, kept)
	file := cacheFile(t, kept)
	before, _ := os.Stat(file)
	second := cached(t, dir, kept)
	if len(first.dirs) != fewFiles+6 || len(second.dirs) != len(first.dirs) {
		t.Fatal(len(first.dirs), len(second.dirs))
	}
	for i := range first.dirs {
		if !reflect.DeepEqual(first.dirs[i].entries, second.dirs[i].entries) {
			t.Errorf("%s:\n%+v\n%+v", first.dirs[i].file.Name, first.dirs[i].entries, second.dirs[i].entries)
		}
	}
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("nothing has changed, but the cache was written")
	}
	if fs := second.Functions("f3", second.script); len(fs) != 1 || fs[0].Decl.Name.Name != "f3" {
		t.Error("f3 is not found")
	}
	changed := filepath.Join(dir, "t3.stp")
	os.WriteFile(changed, []byte("function other() { return 1 }"), 0o644)
	os.Remove(filepath.Join(dir, "t4.stp"))
	third := cached(t, dir, kept)
	for name, want := range map[string]int{"f3": 0, "f4": 0, "f5": 1, "other": 1} {
		if fs := third.Functions(name, third.script); len(fs) != want {
			t.Errorf("%s after a change: %d functions", name, len(fs))
		}
	}
	if now, _ := os.Stat(file); os.SameFile(before, now) {
		t.Error("the change was not kept")
	}
	// A small folder leaves nothing behind.
	small, none := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(small, "a.stp"), []byte("function f() { }"), 0o644)
	cached(t, small, none)
	if list, _ := os.ReadDir(none); len(list) != 0 {
		t.Error("something is kept about a small folder")
	}
	for _, other := range []string{"rows-1", "headers-1", "section-1"} {
		if err := os.WriteFile(filepath.Join(kept, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := ClearCache(kept); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(kept); len(list) != 0 {
		t.Error("ClearCache left something")
	}
}

// TestOddCache: a cache that is cut, changed, of another build or no file at all is not believed.
func TestOddCache(t *testing.T) {
	dir, kept := bigDir(t)
	cached(t, dir, kept)
	file := cacheFile(t, kept)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	odd := [][]byte{nil, good[:5], good[:len(good)/2], good[:len(good)-1], append(append([]byte(nil), good...), 0),
		[]byte("other build\n" + string(good))}
	for i := 0; i < len(good); i += 97 {
		b := append([]byte(nil), good...)
		b[i] ^= 0x55
		odd = append(odd, b)
	}
	for i, b := range odd {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		l := cached(t, dir, kept)
		if fs := l.Functions("f7", l.script); len(fs) != 1 {
			t.Fatalf("case %d: f7 is not found", i)
		}
	}
}

// TestBrokenFile: a file that does not parse is left out with a warning.
func TestBrokenFile(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "bad.stp"), []byte("function f() { return 1"), 0o644)
	os.WriteFile(filepath.Join(dir, "good.stp"), []byte("@twice(two)"), 0o644)
	os.WriteFile(filepath.Join(dir, "zz.stpm"), []byte("@define twice(n) %( function @n() { return 2 } %)"), 0o644)
	l, ds := New(Options{Dirs: []string{dir}})
	if ds.HasErrors() || len(ds) != 1 || ds[0].Severity != diag.Warning {
		t.Fatal(ds)
	}
	if fs := l.Functions("two", l.script); len(fs) != 1 {
		t.Error("a macro of a file that comes later is not known")
	}
}

func FuzzCache(f *testing.F) {
	var e encoder
	l, _ := New(Options{})
	e.num(1)
	e.text("a.stp")
	for _, n := range []int64{1 << 20, 5, 1} {
		e.num(n)
	}
	e.num(int64(len(l.embeddedFile(0).entries)))
	for _, x := range l.embeddedFile(0).entries {
		e.entry(&x)
	}
	f.Add(e.b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &cache{build: "b"}
		head := binary.LittleEndian.AppendUint32([]byte("b\n"), crc32.ChecksumIEEE(data))
		c.parse(append(head, data...))
	})
}
