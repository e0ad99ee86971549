package carry

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/ir/irtest"
	"github.com/gostap/gostap/compiler/manifest"
	"github.com/gostap/gostap/compiler/source"
)

func sample(t testing.TB) *manifest.Manifest {
	p := irtest.Parse(t, "global n long init 5\nprobe \"begin\" {\n  site begin point=\"begin\"\n  long r0\nb0:\n  "+
		"r0 = gget @n ~7\n  print \"%d\\n\"(r0) ~8\n  end ~9\n}")
	p.Files = new(source.FileSet)
	p.Files.Add("s.stp", []byte("probe begin { println(n) }"))
	return &manifest.Manifest{Program: p, Digest: manifest.Digest{1, 2, 3},
		Traced: []manifest.Traced{{Path: "/bin/x", Size: 99, ID: "abc"}}}
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
	back, err := manifest.Decode(mod.Carried)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Program.Portable()
	b, _ := back.Program.Portable()
	if a != b || back.Digest != m.Digest || len(back.Traced) != 1 || back.Traced[0] != m.Traced[0] {
		t.Errorf("became %+v\n%s", back, b)
	}
	if p := back.Program.Files.Position(8); p.String() != "s.stp:1:8" ||
		p.File.Line(1) != "probe begin { println(n) }" {
		t.Errorf("position %s %q", p, p.File.Line(1))
	}
	if _, err := Attach(out, data); err == nil {
		t.Error("attached twice")
	}
}

// TestRefused: what is no module is refused.
func TestRefused(t *testing.T) {
	data, err := sample(t).Encode()
	if err != nil {
		t.Fatal(err)
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

func FuzzCarry(f *testing.F) {
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
		if m, err := Read(ko); err == nil {
			manifest.Decode(m.Carried)
		}
		if out, err := Attach(ko, plain); err == nil {
			if m, err := Read(out); err == nil && !bytes.Equal(m.Carried, plain) {
				t.Fatal("not what was attached")
			}
		}
	})
}
