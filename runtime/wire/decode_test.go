package wire

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
)

func u64(vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func lo(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }

func TestPrint(t *testing.T) {
	s := &Schema{Sites: []Site{
		{Args: []Arg{{Kind: Int}, {Kind: Text}}},
		{Args: []Arg{{Kind: Stack, Lazy: StackHex}, {Kind: Sym, Lazy: SymName}}},
	}}
	body := u64(lo(0, 0), 42, lo(3, 8))
	body = append(body, "abc\x00\x00\x00\x00\x00"...)
	body = append(body, u64(lo(1, 0), lo(2, 3), lo(77, 0), 0x10, 0x20, 0x30, 0x1234, lo(77, 0))...)
	type got struct {
		site  int
		ints  []int64
		text  string
		stack []uint64
	}
	var all []got
	var d Decoder
	err := d.Print(body, s, func(site int, args []Value) error {
		g := got{site: site}
		for _, a := range args {
			switch a.Kind {
			case Text:
				g.text = string(a.Bytes)
			case Stack:
				g.stack = append([]uint64(nil), a.Stack...)
			default:
				g.ints = append(g.ints, a.Int)
			}
			if a.Kind >= Sym && a.Kind != Mem && a.Tgid != 77 {
				t.Errorf("tgid = %d", a.Tgid)
			}
		}
		all = append(all, g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []got{{0, []int64{42}, "abc", nil}, {1, []int64{0x1234}, "", []uint64{0x10, 0x20}}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v\nwant %+v", all, want)
	}
	for n := 1; n < len(body); n++ { // every cut is an error or stops at an entry's end
		cut := 0
		err := d.Print(body[:n], s, func(int, []Value) error { cut++; return nil })
		if err == nil && n != 32 {
			t.Errorf("body of %d bytes was taken", n)
		}
	}
}

func TestHeader(t *testing.T) {
	b := make([]byte, HeaderSize)
	h := Header{Kind: Error, Flags: More, Slot: 513, CPU: 7}
	PutHeader(b, h)
	got, rest, err := ParseHeader(append(b, 1, 2))
	if err != nil || got != h || !bytes.Equal(rest, []byte{1, 2}) {
		t.Errorf("got %+v %v %v", got, rest, err)
	}
	if _, _, err := ParseHeader(b[:7]); err == nil {
		t.Error("short header was taken")
	}
}

func FuzzDecode(f *testing.F) {
	s := &Schema{
		Sites: []Site{{Args: []Arg{{Kind: Int}, {Kind: Text}}},
			{Args: []Arg{{Kind: Stack}, {Kind: Sym}, {Kind: Mem}}}},
		Captures: []Capture{{Args: []Arg{{Kind: Int}, {Kind: Text}}, Faults: true}},
	}
	f.Add(u64(lo(0, 0), 42, lo(3, 8), 7))
	f.Add(u64(lo(1, 0), lo(2, 3), lo(77, 0), 1, 2, 3, 4, 5, lo(1, 8), 9))
	f.Add(u64(lo(0xffffffff, 0), lo(0xffffffff, 0xffffffff)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d Decoder
		_ = d.Print(b, s, func(int, []Value) error { return nil })
		_, _, _ = d.Deferred(b, s)
		_, _ = d.ParseError(b)
		_, _ = ParseProcess(b)
		_, _, _ = ParseHeader(b)
	})
}

func TestNames(t *testing.T) {
	names := &Names{List: [][]byte{[]byte("first"), []byte("second")}}
	s := &Schema{Sites: []Site{{Args: []Arg{{Kind: Const, Names: names}, {Kind: Int, Names: names}, {Kind: Text}}}}}
	body := append(u64(lo(0, 0), 1, lo(8, 8)), "abc\x00\x00\x00\x00\x00"...)
	var got []string
	var d Decoder
	print := func(int, []Value) error { return nil }
	err := d.Print(body, s, func(_ int, args []Value) error {
		for _, a := range args {
			if a.Kind != Text {
				t.Errorf("kind %d", a.Kind)
			}
			got = append(got, string(a.Bytes))
		}
		return nil
	})
	if want := []string{"first", "second", "abc"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q %v", got, err)
	}
	if err := d.Print(append(u64(lo(0, 0), 2, lo(8, 8)), make([]byte, 8)...), s, print); err == nil {
		t.Error("an index outside of the table was taken")
	}
}
