package elffile

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/debuginfo/kept"
)

// TestUnreadable: programs without section headers are told from others, and packed ones from those.
func TestUnreadable(t *testing.T) {
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	why := func(name string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
		return openFile(t, path).Unreadable()
	}
	if s := why("own", own); s != "" {
		t.Errorf("this program: %s", s)
	}
	binary.LittleEndian.PutUint64(own[40:], 0) // e_shoff
	clear(own[58:64])                          // e_shentsize, e_shnum, e_shstrndx
	if s := why("bare", own); !strings.Contains(s, "section headers") {
		t.Errorf("without section headers: %q", s)
	}
	phoff, phnum := binary.LittleEndian.Uint64(own[32:]), binary.LittleEndian.Uint16(own[56:])
	copy(own[phoff+uint64(phnum)*56+4:], "UPX!")
	if s := why("packed", own); !strings.Contains(s, "UPX") {
		t.Errorf("packed: %q", s)
	}
}

// TestKeptSections reads a large section three times: inflated, as the first time left it, and inflated again because
// that was changed.
func TestKeptSections(t *testing.T) {
	dir := t.TempDir()
	want := make([]byte, 3<<20)
	for i := range want {
		want[i] = byte(i>>8) ^ byte(i*7)
	}
	large, out, packed := filepath.Join(dir, "large"), filepath.Join(dir, "out"), filepath.Join(dir, "packed")
	if err := os.WriteFile(large, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--add-section=.debug_large=" + large, elftest.C(t, "-g -Wl,--build-id=0x0123456789abcdee", "types.c"), out},
		{"--compress-debug-sections=zlib-gabi", out, packed},
	} {
		if b, err := elftest.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	cache := kept.Folder(filepath.Join(dir, "cache"))
	for _, when := range []string{"inflated", "kept", "damaged"} {
		left, _ := filepath.Glob(filepath.Join(string(cache), "*"))
		if when == "damaged" {
			if err := os.WriteFile(left[0], make([]byte, len(want)+8), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := openFile(t, packed)
		f.Kept = cache
		b, err := f.Section(".debug_large")
		if err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: %d bytes, want %d (%v)", when, len(b), len(want), err)
		}
		if mapped := len(f.earlier) > 0; mapped != (when == "kept") || mapped && len(left) != 1 {
			t.Errorf("%s: of a file %v; left are %v", when, mapped, left)
		}
		if err := f.Close(); err != nil || len(f.earlier) > 0 {
			t.Errorf("%s: closed with %d files, %v", when, len(f.earlier), err)
		}
	}
}
