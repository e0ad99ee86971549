package elffile

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
