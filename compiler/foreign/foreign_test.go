package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gostap/gostap/tests/patience"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, sock := filepath.Join(dir, "pipe"), filepath.Join(dir, "sock")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: sock}); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for path, is := range map[string]string{pipe: "a named pipe", link: "a named pipe", sock: "a socket",
		dir: "a directory", "/dev/zero": "a device", "/dev/null": "a device"} {
		done := make(chan error, 1)
		go func() {
			_, err := Open(path)
			if err == nil {
				_, err = OpenText(path)
			}
			done <- err
		}()
		select {
		case err := <-done:
			var nr *NotRegularError
			if !errors.As(err, &nr) || nr.Is != is || errors.Is(err, unix.EISDIR) != (is == "a directory") {
				t.Errorf("%s: %v", path, err)
			}
		case <-patience.After(time.Minute):
			t.Fatalf("%s: opening waits", path)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for _, path := range []string{file, "/proc/self/maps", "/sys/kernel/notes"} {
		b, err := ReadFile(path, 1<<20)
		if want, werr := os.ReadFile(path); err != nil || werr == nil && path != "/proc/self/maps" &&
			!bytes.Equal(b, want) || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
	}
	if _, err := ReadFile(file, 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("too large: %v", err)
	}
	if _, err := ReadFile("/proc/self/maps", 100); err == nil {
		t.Error("a file of procfs is not bounded")
	}
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	if _, err := Read(zero, "standard input", 2<<20); err == nil ||
		!strings.Contains(err.Error(), "standard input has more than 2 MB") {
		t.Errorf("endless: %v", err)
	}
	// What a shell's <(command) gives.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fmt.Fprint(w, "from a pipe")
	w.Close()
	f, err := OpenText(fmt.Sprintf("/dev/fd/%d", r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if b, err := Read(f, "pipe", 100); err != nil || string(b) != "from a pipe" {
		t.Errorf("%q %v", b, err)
	}
}

// mapped maps a file of some pages, with its path.
func mapped(t *testing.T) (*Mapping, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 5*4096+100), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Map(f, path, 5*4096+100, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, path
}

func TestGuard(t *testing.T) {
	m, path := mapped(t)
	other, _ := mapped(t)
	look := func(m *Mapping, at int) (b byte, err error) {
		defer Guard(&err)()
		return m.Bytes[at], nil
	}
	if b, err := look(m, 5*4096); b != 'x' || err != nil {
		t.Fatal(b, err)
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	_, err := look(m, 5*4096+50)
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.Path != path || !errors.Is(err, ErrChanged) {
		t.Errorf("cut: %v", err)
	}
	if !m.Cut() || other.Cut() {
		t.Errorf("cut: %v, the other: %v", m.Cut(), other.Cut())
	}
	if b, err := look(m, 0); b != 'x' || err != nil {
		t.Error("what is left:", b, err)
	}
	if _, err := look(m, 1<<30); !errors.Is(err, ErrCorrupt) {
		t.Errorf("beyond the end: %v", err)
	}
	// Without Guard: the panic of a Goroutine is told from others.
	var explained, alien error
	func() {
		defer Goroutine()()
		defer func() { explained = Explain(recover()) }()
		runtime.KeepAlive(m.Bytes[5*4096])
	}()
	func() {
		defer func() { alien = Explain(recover()) }()
		var p *int
		runtime.KeepAlive(*p)
	}()
	if !errors.As(explained, &changed) || changed.Path != path || alien != nil {
		t.Errorf("explained %v, alien %v", explained, alien)
	}
}
