package kept

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// section makes a section with contents that n decides.
func section(n byte, size int) (Section, []byte) {
	b := bytes.Repeat([]byte{n, 1, 2, 3}, size/4)
	return Section{BuildID: "id", FileSize: 1000, Packed: 50, Size: uint64(len(b)), Sum: uint32(n)}, b
}

// has reports whether d gives the contents of s.
func has(t *testing.T, d Folder, s Section, want []byte) bool {
	t.Helper()
	m := d.Get(s)
	if m == nil {
		return false
	}
	defer m.Close()
	if !bytes.Equal(m.Bytes[:s.Size], want) {
		t.Errorf("other contents")
	}
	return true
}

func TestKept(t *testing.T) {
	d := Folder(filepath.Join(t.TempDir(), "cache"))
	s, b := section(1, worth)
	if has(t, d, s, b) {
		t.Error("something is there before")
	}
	d.Put(s, b)
	if !has(t, d, s, b) {
		t.Error("nothing is there")
	}
	for what, change := range map[string]func(*Section){
		"build ID": func(s *Section) { s.BuildID = "other" }, "file size": func(s *Section) { s.FileSize++ },
		"packed size": func(s *Section) { s.Packed++ }, "size": func(s *Section) { s.Size++ },
		"checksum": func(s *Section) { s.Sum++ }, "no build ID": func(s *Section) { s.BuildID = "" },
	} {
		other := s
		change(&other)
		if has(t, d, other, b) {
			t.Errorf("another %s gives the same", what)
		}
	}
	small, c := section(2, worth-4)
	d.Put(small, c)
	d.Put(Section{FileSize: 1, Size: s.Size}, b)
	d.Put(s, b[4:])
	Folder("").Put(s, b)
	if files, _ := os.ReadDir(string(d)); len(files) != 1 {
		t.Errorf("%d files, want 1", len(files))
	}
	if has(t, "", s, b) {
		t.Error("no folder gives something")
	}
}

// TestDamagedKept changes files: they are not believed, and taken away.
func TestDamagedKept(t *testing.T) {
	for what, damage := range map[string]func(path string, b []byte) error{
		"a byte":  func(p string, b []byte) error { b[len(b)/2] ^= 4; return os.WriteFile(p, b, 0o600) },
		"zeros":   func(p string, b []byte) error { return os.WriteFile(p, make([]byte, len(b)), 0o600) },
		"cut":     func(p string, b []byte) error { return os.WriteFile(p, b[:len(b)-4], 0o600) },
		"empty":   func(p string, b []byte) error { return os.WriteFile(p, nil, 0o600) },
		"rights":  func(p string, _ []byte) error { return os.Chmod(p, 0o666) },
		"removed": func(p string, _ []byte) error { return os.Remove(p) },
	} {
		d := Folder(t.TempDir())
		s, b := section(3, worth)
		d.Put(s, b)
		path := d.path(s)
		all, err := os.ReadFile(path)
		if err == nil {
			err = damage(path, all)
		}
		if err != nil {
			t.Fatal(err)
		}
		if has(t, d, s, b) {
			t.Errorf("%s: it is believed", what)
		}
		if d.Put(s, b); !has(t, d, s, b) {
			t.Errorf("%s: it is not made again", what)
		}
	}
	d := Folder(t.TempDir())
	os.Chmod(string(d), 0o777)
	s, b := section(4, worth)
	if d.Put(s, b); has(t, d, s, b) {
		t.Error("a folder of everybody is used")
	}
}

func TestPrune(t *testing.T) {
	d := Folder(t.TempDir())
	other := filepath.Join(string(d), "rows-1")
	if err := os.WriteFile(other, make([]byte, worth), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []Section
	for n := range byte(4) {
		s, b := section(n, worth)
		d.Put(s, b)
		all = append(all, s)
		when := time.Now().Add(-time.Duration(10-n) * time.Hour)
		if err := os.Chtimes(d.path(s), when, when); err != nil {
			t.Fatal(err)
		}
	}
	d.Get(all[0]).Close() // used now
	d.prune(2 * (worth + trailer))
	for n, s := range all {
		_, err := os.Stat(d.path(s))
		if want := n == 0 || n == 3; (err == nil) != want {
			t.Errorf("section %d: there %v, want %v", n, err == nil, want)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
