package cachefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a/b/file")
	for _, want := range []string{"one two", "three"} {
		if err := Write(path, []byte(want[:2]), nil, []byte(want[2:])); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%q %v, want %q", b, err, want)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", st.Mode(), err)
	}
	// Where it cannot take its place nothing is left behind.
	blocked := filepath.Join(dir, "a/full")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(blocked, []byte("text")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a/new-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
