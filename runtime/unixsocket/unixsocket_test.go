package unixsocket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSocket: a socket is made anew where nobody answers, and nothing else is touched.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, 0o600); err == nil || !strings.Contains(err.Error(), "somebody serves") {
		t.Errorf("a socket that is served: %v", err)
	}
	l.UnixListener.Close() // as where it is killed
	if l, err = Listen(path, 0o666); err != nil {
		t.Fatalf("a socket that was left: %v", err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o666 {
		t.Errorf("mode %v", st.Mode())
	}
	l.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("it is still there when it is closed")
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path, 0o600); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Error("the file is gone")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A path of all the bytes that the kernel takes, and one more; and a socket that another took the place of.
func TestPaths(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, strings.Repeat("x", longest-len(dir)-1))
	if _, err := Listen(path+"x", 0o600); err == nil || !strings.Contains(err.Error(), "107 bytes") {
		t.Errorf("a path that is too long: %v", err)
	}
	l, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := Listen(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
	other.Close()
}
