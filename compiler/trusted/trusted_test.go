package trusted

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCheck spoils one thing at a time on the way to a file.
func TestCheck(t *testing.T) {
	base := t.TempDir() // below /tmp, in which everybody may make files
	good := func() {
		for path, mode := range map[string]os.FileMode{"": 0o755, "a": 0o755, "a/b": 0o700, "a/b/file": 0o644} {
			os.Lchown(filepath.Join(base, path), os.Geteuid(), -1)
			if err := os.Chmod(filepath.Join(base, path), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(base, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(base, "a/b/file")
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	short, far := filepath.Join(base, "short"), filepath.Join(base, "far")
	for link, to := range map[string]string{short: "a/./b/../b", far: base + "/short/file"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{file, filepath.Join(short, "file"), far}
	good()
	for _, p := range paths {
		if b, err := ReadFile(p, 100); string(b) != "text" || err != nil {
			t.Errorf("%s: %q %v", p, b, err)
		}
	}
	if _, err := ReadFile(file, 3); err == nil {
		t.Error("not bounded")
	}
	chown := func(path string) func() error {
		return func() error { return os.Lchown(filepath.Join(base, path), 65534, -1) }
	}
	chmod := func(path string, mode os.FileMode) func() error {
		return func() error { return os.Chmod(filepath.Join(base, path), mode) }
	}
	for _, c := range []struct {
		name  string
		spoil func() error
		why   string
		root  bool // takes root
	}{
		{"file of another", chown("a/b/file"), "file belongs to nobody", true},
		{"folder of another", chown("a/b"), "a/b belongs to nobody", true},
		{"folder above", chown("a"), "a belongs to nobody", true},
		{"file for all", chmod("a/b/file", 0o646), "everybody", false},
		{"file for the group", chmod("a/b/file", 0o664), "its group", false},
		{"folder for all", chmod("a/b", 0o777), "everybody", false},
		{"folder above for the group", chmod("a", 0o775), "a may be written to by its group", false},
		{"sticky folder", chmod("a", os.ModeSticky|0o777), "", false},
	} {
		if c.root && os.Geteuid() != 0 {
			continue
		}
		good()
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			_, err := ReadFile(p, 100)
			var e *Error
			if c.why == "" && err == nil {
				continue
			}
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.why) || c.why == "" {
				t.Errorf("%s, %s: %v", c.name, p, err)
			}
		}
	}
	good()
	if os.Geteuid() == 0 {
		if err := os.Lchown(far, 65534, -1); err != nil {
			t.Fatal(err)
		}
		if err := Check(far); err == nil || !strings.Contains(err.Error(), "far belongs to nobody") {
			t.Errorf("a link of another: %v", err)
		}
	}
	if err := Check(filepath.Join(base, "none/x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if err := Dir(filepath.Join(base, "a/b/none/x")); err != nil {
		t.Errorf("a folder to be made: %v", err)
	}
	os.Chmod(filepath.Join(base, "a"), 0o777)
	if err := Dir(filepath.Join(base, "a/b/none/x")); err == nil {
		t.Error("a folder to be made in a folder that everybody may write to")
	}
	good()
	os.Symlink("loop", filepath.Join(base, "loop"))
	if err := Check(filepath.Join(base, "loop/x")); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
	pipe := filepath.Join(base, "a/b/pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pipe); err == nil {
		t.Error("a pipe")
	}
}
