package manifest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/source"
)

func sample(t testing.TB) *Manifest {
	p := irtest.Parse(t, "global n long init 5\nprobe \"begin\" {\n  site begin point=\"begin\"\n  long r0\nb0:\n  "+
		"r0 = gget @n ~7\n  print \"%d\\n\"(r0) ~8\n  end ~9\n}")
	p.Files = new(source.FileSet)
	p.Files.Add("s.stp", []byte("probe begin { println(n) }"))
	return &Manifest{Program: p, Digest: Digest{1, 2, 3}, Traced: []Traced{{"/bin/x", 99, "abc", "de"}},
		Runtime: "bpf", Kernel: "6.1 #1", Facts: []Fact{{"function", "f", "int(void)", 3}}, Guru: true}
}

// TestBack: what was written down comes back.
func TestBack(t *testing.T) {
	m := sample(t)
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Program.Portable()
	b, _ := back.Program.Portable()
	if a != b || back.Digest != m.Digest || len(back.Traced) != 1 || back.Traced[0] != m.Traced[0] ||
		len(back.Facts) != 1 || back.Facts[0] != m.Facts[0] || !back.Guru ||
		back.Runtime != "bpf" || back.Kernel != "6.1 #1" {
		t.Errorf("became %+v\n%s", back, b)
	}
}

// TestDamaged: what was changed on the way is refused.
func TestDamaged(t *testing.T) {
	data, err := sample(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		d := bytes.Clone(data)
		d[i] ^= 0x10
		if _, err := Decode(d); err == nil {
			t.Errorf("byte %d changed, and nobody saw it", i)
		}
		if _, err := Decode(data[:i]); err == nil {
			t.Errorf("cut at %d", i)
		}
	}
	newer := bytes.Clone(data)
	newer[len(magic)]++
	if _, err := Decode(newer); !errors.Is(err, ErrVersion) {
		t.Errorf("%v", err)
	}
}

// TestLook: a file is told by its build id, or by what is in it.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) Traced {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Look(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if a, b, c := write("a", "text"), write("b", "text"), write("a", "tixt"); a.ID != b.ID || a.ID == c.ID ||
		a.Size != 4 {
		t.Errorf("%v %v %v", a, b, c)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := Look(exe); err != nil || !strings.Contains(l.ID, "build id ") {
		t.Errorf("%v %v", l, err)
	}
	if _, err := Look(dir + "/none"); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	was := write("a", "text")
	if err := was.Same(); err != nil {
		t.Error(err)
	}
	write("a", "tixt")
	if err := was.Same(); err != ErrOther {
		t.Errorf("%v", err)
	}
	os.Remove(was.Path)
	if err := was.Same(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := sample(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("\x03abc"))
	f.Add(data)
	f.Fuzz(func(t *testing.T, plain []byte) {
		decode(plain)
		Decode(plain)
	})
}
