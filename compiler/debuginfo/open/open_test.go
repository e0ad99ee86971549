package open

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.c")
	os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o644)
	goSrc := filepath.Join(dir, "x.go")
	os.WriteFile(goSrc, []byte("package main\nfunc main() {}\n"), 0o644)
	for _, c := range []struct {
		name string
		cmd  []string
		lang debuginfo.Lang
	}{
		{"c", []string{"gcc", "-g"}, debuginfo.C},
		{"c-stripped", []string{"gcc", "-s"}, debuginfo.C},
		{"go", []string{"go", "build"}, debuginfo.Go},
		{"go-stripped", []string{"go", "build", "-ldflags=-s -w"}, debuginfo.Go},
		{"go-pie", []string{"go", "build", "-buildmode=pie"}, debuginfo.Go},
	} {
		out, in := filepath.Join(dir, c.name), src
		if c.lang == debuginfo.Go {
			in = goSrc
		}
		if b, err := exec.Command(c.cmd[0], append(c.cmd[1:], "-o", out, in)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, b)
		}
		im, err := Open(out)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if im.Lang() != c.lang || im.Path() != out {
			t.Errorf("%s: %v %s", c.name, im.Lang(), im.Path())
		}
		if id, ok := im.(debuginfo.Identified); ok {
			if fi, err := os.Stat(out); err != nil || id.FileID().Size != fi.Size() ||
				id.FileID().Mtime != fi.ModTime().UnixNano() {
				t.Errorf("%s: is %+v", c.name, id.FileID())
			}
		} else if c.lang == debuginfo.C {
			t.Errorf("%s: not identified", c.name)
		}
		im.Close()
	}
	if _, err := Open(src); !errors.Is(err, debuginfo.ErrNotELF) {
		t.Errorf("source file: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
