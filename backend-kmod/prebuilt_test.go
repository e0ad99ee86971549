package kmod

import (
	"bytes"
	"context"
	"github.com/gostap/gostap/backend-kmod/internal/carry"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/backend"
	"github.com/gostap/gostap/compiler/diag/diagtest"
	"github.com/gostap/gostap/compiler/ir"
	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/manifest"
)

// module makes an object file that says of itself what modules do.
func module(t *testing.T) []byte {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	src := `static const char a[] __attribute__((section(".modinfo"), used)) = "name=built\0vermagic=6.1.0-x SMP";`
	if err := os.WriteFile(dir+"/m.c", []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-c", "-o", dir+"/m.o", dir+"/m.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	ko, err := os.ReadFile(dir + "/m.o")
	if err != nil {
		t.Fatal(err)
	}
	return ko
}

// TestOpen: a module that was built elsewhere gives its program back; one that is not what it should be is refused.
func TestOpen(t *testing.T) {
	p := irtest.Parse(t, "global n long\nprobe \"begin\" {\n  site begin point=\"begin\"\nb0:\n  gadd @n, 1\n  print "+
		"\"x\\n\"()\n  end\n}\nprobe \"p\" {\n  site uprobe path=\"/bin/true\" offset=0x1000 point=\"p\"\nb0:\n  "+
		"gadd @n, 1\n  end\n}")
	art, ds := NewFor(Options{}).Build(context.Background(), p, backend.BuildOptions{Name: "built"})
	if ds.HasErrors() {
		t.Fatal(ds[0].Message)
	}
	a := art.(*artifact)
	a.ko = module(t)
	bare := a.ko
	ko, err := a.carry()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := func(name string, data []byte) (*ir.Program, *artifact, error) {
		path := filepath.Join(dir, name)
		if data != nil {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, art, err := Open(path)
		if err != nil {
			return nil, nil, err
		}
		return p, art.(*artifact), nil
	}
	q, b, err := open("good.ko", ko)
	if err != nil {
		t.Fatal(err)
	}
	if q.String() != p.String() || b.name != "built" || b.config.Release != "6.1.0-x" || len(b.traced) != 1 ||
		b.traced[0].Path != "/bin/true" {
		t.Errorf("%+v\n%s", b, q)
	}
	if err := b.unchanged(); err != nil {
		t.Error(err)
	}
	b.traced[0].ID += "0"
	if err := b.unchanged(); err == nil || !strings.Contains(err.Error(), "/bin/true is not the file") {
		t.Errorf("%v", err)
	}
	b.traced[0].ID = strings.TrimSuffix(b.traced[0].ID, "0")
	b.traced[0].Code += "0" // the code is another one, which the build id does not tell where a linker was given it
	if err := b.unchanged(); err == nil || !strings.Contains(err.Error(), "/bin/true is not the file") {
		t.Errorf("%v", err)
	}
	b.traced[0].Path = dir + "/none"
	if err := b.unchanged(); err == nil || !strings.Contains(err.Error(), "cannot be read: no such file") {
		t.Errorf("%v", err)
	}
	at := bytes.Index(ko, append([]byte("gostap\x00"), manifest.Version))
	with := func(off int, by byte) []byte {
		c := bytes.Clone(ko)
		c[at+off] ^= by
		return c
	}
	other, err := (&manifest.Manifest{Program: p, Digest: manifest.Digest{1}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := carry.Attach(bare, other)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data      []byte
		msg, hint string
	}{
		"none.ko":    {nil, "no such file", ""},
		"text.ko":    {[]byte("text"), "it is no kernel module", ""},
		"bare.ko":    {bare, "was not made by gostap", "-p4 -m NAME"},
		"damaged.ko": {with(20, 1), "damaged", "-p4 -m damaged"},
		"version.ko": {with(7, 0x40), "another version of gostap", "-p4 -m version"},
		"digest.ko":  {wrong, "another version of gostap", "-p4 -m digest"},
	} {
		_, _, err := open(name, c.data)
		if d := diagtest.Find(t, err, CodePrebuilt); !strings.Contains(d.Message, name+": ") ||
			!strings.Contains(d.Message, c.msg) || !strings.Contains(d.Hint, c.hint) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
