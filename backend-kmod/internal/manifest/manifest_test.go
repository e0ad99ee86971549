package manifest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/source"
)

func sample(t testing.TB) *Manifest {
	p := irtest.Parse(t, "global n long init 5\nprobe \"begin\" {\n  site begin point=\"begin\"\n  long r0\nb0:\n  r0 = gget @n ~7\n  print \"%d\\n\"(r0) ~8\n  end ~9\n}")
	p.Files = new(source.FileSet)
	p.Files.Add("s.stp", []byte("probe begin { println(n) }"))
	return &Manifest{Program: p, Digest: Digest{1, 2, 3}, Traced: []Traced{{"/bin/x", 99, "abc"}}}
}

// object is the least that looks like a module.
func object(t testing.TB) []byte {
	names := "\x00.modinfo\x00.shstrtab\x00"
	info := "license=GPL\x00name=some_mod\x00\x00\x00vermagic=6.1.0-x SMP preempt \x00"
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(b[16:], uint16(elf.ET_REL))
	le.PutUint16(b[18:], uint16(elf.EM_X86_64))
	le.PutUint32(b[20:], 1)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], 3)
	le.PutUint16(b[62:], 2)
	at := len(b)
	b = append(b, names+info...)
	le.PutUint64(b[40:], uint64(len(b)))
	sh := func(name, typ uint32, off, size int) {
		var s [64]byte
		le.PutUint32(s[0:], name)
		le.PutUint32(s[4:], typ)
		le.PutUint64(s[24:], uint64(off))
		le.PutUint64(s[32:], uint64(size))
		b = append(b, s[:]...)
	}
	sh(0, 0, 0, 0)
	sh(1, uint32(elf.SHT_PROGBITS), at+len(names), len(info))
	sh(10, uint32(elf.SHT_STRTAB), at, len(names))
	return b
}

// TestTravel takes a manifest into a module and out again.
func TestTravel(t *testing.T) {
	m := sample(t)
	data, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ko := object(t)
	if mod, err := Read(ko); !errors.Is(err, ErrNone) || mod.Name != "some_mod" || mod.Release != "6.1.0-x" {
		t.Errorf("%+v, %v", mod, err)
	}
	out, err := Attach(ko, data)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := Read(out)
	if err != nil || mod.Name != "some_mod" || mod.Release != "6.1.0-x" {
		t.Fatalf("%+v, %v", mod, err)
	}
	back, err := Decode(mod.Carried)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Program.Portable()
	b, _ := back.Program.Portable()
	if a != b || back.Digest != m.Digest || len(back.Traced) != 1 || back.Traced[0] != m.Traced[0] {
		t.Errorf("became %+v\n%s", back, b)
	}
	if p := back.Program.Files.Position(8); p.String() != "s.stp:1:8" || p.File.Line(1) != "probe begin { println(n) }" {
		t.Errorf("position %s %q", p, p.File.Line(1))
	}
	if _, err := Attach(out, data); err == nil {
		t.Error("attached twice")
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
	for _, b := range [][]byte{nil, []byte("\x7fELF"), data} {
		if _, err := Read(b); err == nil || !strings.Contains(err.Error(), "no kernel module") {
			t.Errorf("%v", err)
		}
		if _, err := Attach(b, data); err == nil {
			t.Error("attached to something that is no module")
		}
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
	if a, b, c := write("a", "text"), write("b", "text"), write("a", "tixt"); a.ID != b.ID || a.ID == c.ID || a.Size != 4 {
		t.Errorf("%v %v %v", a, b, c)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := Look(exe); err != nil || len(l.ID) != 64 {
		t.Errorf("%v %v", l, err)
	}
	if _, err := Look(dir + "/none"); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

func FuzzDecode(f *testing.F) {
	m := sample(f)
	data, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	ko, err := Attach(object(f), data)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ko, []byte{})
	f.Add(object(f), []byte("\x03abc"))
	f.Add([]byte{}, data)
	f.Fuzz(func(t *testing.T, ko, plain []byte) {
		decode(plain)
		Decode(plain)
		if m, err := Read(ko); err == nil {
			Decode(m.Carried)
		}
		if out, err := Attach(ko, plain); err == nil {
			if m, err := Read(out); err == nil && !bytes.Equal(m.Carried, plain) {
				t.Fatal("not what was attached")
			}
		}
	})
}
