package gotype

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gostap/gostap/compiler/types"
)

// memory is a file whose first byte is at address 0x1000.
type memory []byte

func (m memory) Bytes(addr uint64, n int) ([]byte, error) {
	if addr < 0x1000 || addr-0x1000 >= uint64(len(m)) {
		return nil, errors.New("outside")
	}
	b := m[addr-0x1000:]
	return b[:min(n, len(b))], nil
}

func (m memory) Word(addr uint64) (uint64, bool) {
	b, err := m.Bytes(addr, 8)
	if err != nil || len(b) < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// walk looks at a type and all that it is made of.
func walk(t *types.Ctype, seen map[*types.Ctype]bool) {
	if t == nil || seen[t] || len(seen) > 1000 {
		return
	}
	seen[t] = true
	walk(t.Elem(), seen)
	walk(t.Key(), seen)
	for _, f := range t.Fields() {
		walk(f.Type, seen)
	}
}

// TestDamaged: addresses outside of the types, kinds that there are none of and names that do not end are no types.
func TestDamaged(t *testing.T) {
	mem := make(memory, 256)
	mem[offKind] = 2
	binary.LittleEndian.PutUint64(mem, 8)
	copy(mem[0x80:], "\x00\x03int")
	binary.LittleEndian.PutUint32(mem[offStr:], 0x80)
	at := func(addr uint64) error {
		_, err := New(mem, 0x1000, 0x1100, 26).At(addr)
		return err
	}
	if err := at(0x1000); err != nil {
		t.Error(err)
	}
	for _, addr := range []uint64{0, 0xff8, 0x1001, 0x1100, 1 << 63} {
		if at(addr) == nil {
			t.Errorf("a type at %#x", addr)
		}
	}
	mem[offKind] = 30
	if at(0x1000) == nil {
		t.Error("a type of kind 30")
	}
	mem[offKind], mem[0x81] = 2, 0xff
	if at(0x1000) == nil {
		t.Error("a name that does not end")
	}
}

// TestPackage: a named type has the path of its package, which stands behind what belongs to its kind.
func TestPackage(t *testing.T) {
	for kind, at := range map[byte]int{2: 48, kPointer: 56, kArray: 72, kStruct: 80, kInterface: 80, kChan: 64,
		kFunc: 56} {
		mem := make(memory, 256)
		mem[offKind], mem[offFlags] = kind, flagUncommon
		copy(mem[0x80:], "\x00\x08errors.E\x00\x08m/errors")
		binary.LittleEndian.PutUint32(mem[offStr:], 0x80)
		binary.LittleEndian.PutUint32(mem[at:], 0x8a)
		typ, err := New(mem, 0x1000, 0x1100, 26).At(0x1000)
		if err != nil || typ.Name != "errors.E" || typ.Pkg != "m/errors" {
			t.Errorf("kind %d: %+v, %v", kind, typ, err)
		}
	}
}

// FuzzTypes: whatever a file has in place of types, there is an answer.
func FuzzTypes(f *testing.F) {
	f.Add(make([]byte, 300), uint16(0))
	s := make([]byte, 300)
	s[offKind], s[offLen] = kStruct, 2
	binary.LittleEndian.PutUint64(s[offValue:], 0x1048)
	binary.LittleEndian.PutUint64(s[0x48:], 0x1000)
	binary.LittleEndian.PutUint64(s[0x50:], 0x1000)
	f.Add(s, uint16(26))
	f.Fuzz(func(_ *testing.T, mem []byte, minor uint16) {
		t := New(memory(mem), 0x1000, 0x1000+uint64(len(mem)), int(minor))
		for at := uint64(0x1000); at < 0x1000+uint64(min(len(mem), 512)); at += 8 {
			if typ, err := t.At(at); err == nil {
				walk(typ.Ctype, map[*types.Ctype]bool{})
			}
		}
	})
}

// TestUnaliased: aliases are replaced where they stand for a type, in any part of its name, and nowhere else.
func TestUnaliased(t *testing.T) {
	for name, want := range map[string]string{
		"[]byte": "[]uint8", "byte": "uint8", "*[4]rune": "*[4]int32", "map[string]any": "map[string]interface {}",
		"map[byte][]any": "map[uint8][]interface {}", "*os.PathError": "*io/fs.PathError",
		"main.box[byte,any]": "main.box[uint8,interface {}]", "chan<- rune": "chan<- int32",
		"main.byte": "main.byte", "any/x.T": "any/x.T", "byte.Buffer": "byte.Buffer", "x/os.FileMode": "x/os.FileMode",
		"bytes": "bytes", "mybyte": "mybyte", "os.File": "os.File", "*my-os.PathError": "*my-os.PathError",
		"func(byte) rune": "func(uint8) int32", "": "",
	} {
		if got := Unaliased(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
