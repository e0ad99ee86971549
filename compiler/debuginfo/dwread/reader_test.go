package dwread

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// sleb writes a signed LEB128 number.
func sleb(n int64) (b []byte) {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// TestNumbers reads back what was written, and nothing of it when the last byte is missing.
func TestNumbers(t *testing.T) {
	type number struct {
		name  string
		bytes []byte
		want  uint64
		read  func(r *Reader) uint64
	}
	var all []number
	for _, n := range []uint64{0, 1, 63, 64, 127, 128, 255, 300, math.MaxInt32, math.MaxUint32, math.MaxInt64,
		math.MaxUint64} {
		le := binary.LittleEndian.AppendUint64(nil, n)
		all = append(all,
			number{"uleb", binary.AppendUvarint(nil, n), n, (*Reader).Uleb},
			number{"sleb", sleb(int64(n)), n, func(r *Reader) uint64 { return uint64(r.Sleb()) }},
			number{"sleb", sleb(-int64(n)), -n, func(r *Reader) uint64 { return uint64(r.Sleb()) }},
			number{"u8", le[:1], n & 0xff, func(r *Reader) uint64 { return uint64(r.U8()) }},
			number{"u16", le[:2], n & 0xffff, func(r *Reader) uint64 { return uint64(r.U16()) }},
			number{"u32", le[:4], n & 0xffffffff, func(r *Reader) uint64 { return uint64(r.U32()) }},
			number{"u64", le, n, (*Reader).U64},
			number{"offset", le, n, func(r *Reader) uint64 { return r.Offset(true) }},
		)
		for _, size := range []int{1, 2, 4, 8} {
			all = append(all, number{"uint", le[:size], n & (math.MaxUint64 >> (64 - 8*size)),
				func(r *Reader) uint64 { return r.Uint(size) }})
		}
	}
	for _, x := range all {
		r := &Reader{Bytes: append(slices.Clone(x.bytes), 0xee)}
		if got := x.read(r); got != x.want || r.Err != nil || r.Off != len(x.bytes) {
			t.Errorf("%s of %x: %#x, not %#x; %v, %d bytes", x.name, x.bytes, got, x.want, r.Err, r.Off)
		}
		r = &Reader{Bytes: x.bytes[:len(x.bytes)-1]}
		if x.read(r); r.Err == nil {
			t.Errorf("%s of %x, cut short: no error", x.name, x.bytes)
		}
		if got := x.read(r); got != 0 || r.U64() != 0 {
			t.Errorf("%s of %x: %#x is read behind the end", x.name, x.bytes, got)
		}
	}
	if r := (&Reader{Bytes: make([]byte, 8)}); r.Uint(3) != 0 || r.Err == nil {
		t.Error("a number of three bytes is read")
	}
}

// TestLengths: the two formats of DWARF, and the values between them that mean nothing.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		bytes []byte
		n     uint64
		wide  bool
		bad   bool
	}{
		{[]byte{5, 0, 0, 0}, 5, false, false},
		{[]byte{0xff, 0xff, 0xff, 0xff, 6, 0, 0, 0, 0, 0, 0, 0}, 6, true, false},
		{[]byte{0xf0, 0xff, 0xff, 0xff}, 0xfffffff0, false, true},
		{[]byte{0xff, 0xff, 0xff, 0xff, 6}, 0, true, true},
	} {
		r := &Reader{Bytes: c.bytes}
		if n, wide := r.UnitLength(); n != c.n || wide != c.wide || (r.Err != nil) != c.bad {
			t.Errorf("%x: %#x %v %v", c.bytes, n, wide, r.Err)
		}
	}
}

// TestNames: names end at a NUL or at the end, and are not looked for outside.
func TestNames(t *testing.T) {
	b := []byte("one\x00two")
	for off, want := range map[uint64]string{0: "one", 1: "ne", 3: "", 4: "two", 7: "", 1 << 40: ""} {
		if got := CString(string(b), off); got != want {
			t.Errorf("%d: %q, not %q", off, got, want)
		}
		if got := string(Name(b, off)); got != want {
			t.Errorf("%d: %q, not %q", off, got, want)
		}
	}
	long := bytes.Repeat([]byte("x"), maxName)
	if got := Name(long, 0); got != nil {
		t.Errorf("a name of %d bytes is taken", len(got))
	}
	if got := Name(long, 1); len(got) != maxName-1 {
		t.Errorf("a name of %d bytes, not %d", len(got), maxName-1)
	}
}

// FuzzReader: nothing reads outside of the bytes, whatever they say.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, b, what []byte) {
		r := &Reader{Bytes: b}
		for _, w := range what {
			switch w % 10 {
			case 0:
				r.Uleb()
			case 1:
				r.Sleb()
			case 2:
				r.Block(r.Uleb())
			case 3:
				r.UnitLength()
			case 4:
				r.Take(int(r.Sleb()))
			case 5:
				Name(b, r.Uleb())
			case 6:
				CString(string(b), r.Uleb())
			case 7:
				r.Uint(int(w / 10))
			case 8:
				r.Skip(int(w / 10))
			case 9:
				r.U64()
			}
			if r.Off < 0 || r.Off > len(b) {
				t.Fatalf("at %d of %d bytes", r.Off, len(b))
			}
		}
	})
}
