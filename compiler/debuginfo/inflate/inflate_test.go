package inflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand"
	"os"
	"testing"
)

func deflate(tb testing.TB, level int, b []byte) []byte {
	var z bytes.Buffer
	w, err := zlib.NewWriterLevel(&z, level)
	if err != nil {
		tb.Fatal(err)
	}
	w.Write(b)
	w.Close()
	return z.Bytes()
}

// program is the code and data of a real program, this one.
func program(tb testing.TB) []byte {
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b[:min(len(b), 4<<20)]
}

func TestInflate(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	noise := make([]byte, 300000)
	rnd.Read(noise)
	skewed := make([]byte, 400000) // long codes: frequencies fall by half from symbol to symbol
	for i := range skewed {
		for rnd.Intn(2) == 0 && skewed[i] < 200 {
			skewed[i]++
		}
	}
	inputs := [][]byte{nil, []byte("a"), []byte("hello, hello, hello"), bytes.Repeat([]byte{0}, 1<<20),
		bytes.Repeat([]byte("abc"), 50000), noise, skewed, append(bytes.Clone(noise[:1000]), skewed[:40000]...)}
	inputs = append(inputs, program(t))
	for i, in := range inputs {
		for _, level := range []int{zlib.NoCompression, zlib.HuffmanOnly, zlib.BestSpeed, zlib.DefaultCompression,
			zlib.BestCompression} {
			z := deflate(t, level, in)
			out := make([]byte, len(in))
			if err := Zlib(out, z); err != nil || !bytes.Equal(out, in) {
				t.Errorf("input %d, level %d: %v", i, level, err)
			}
			if err := Zlib(make([]byte, len(in)+1), z); err == nil {
				t.Errorf("input %d, level %d: too short contents were taken", i, level)
			}
			if len(in) > 0 {
				if err := Zlib(out[:len(in)-1], z); err == nil {
					t.Errorf("input %d, level %d: too long contents were taken", i, level)
				}
				if err := Zlib(out, z[:len(z)-5]); err == nil {
					t.Errorf("input %d, level %d: a cut stream was taken", i, level)
				}
				z[len(z)-1] ^= 1
				if err := Zlib(out, z); err != errChecksum {
					t.Errorf("input %d, level %d: wrong checksum: %v", i, level, err)
				}
			}
		}
	}
}

// FuzzInflate: what compress/zlib takes we take with the same result, and what it refuses we refuse.
func FuzzInflate(f *testing.F) {
	for _, s := range []string{"", "a", "hello hello hello", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		for _, level := range []int{0, -2, 1, 9} {
			f.Add(deflate(f, level, []byte(s)))
		}
	}
	f.Fuzz(func(t *testing.T, z []byte) {
		var want []byte
		r, err := zlib.NewReader(bytes.NewReader(z))
		if err == nil {
			if want, err = io.ReadAll(io.LimitReader(r, 1<<20)); err == nil && len(want) == 1<<20 {
				return
			}
		}
		out := make([]byte, len(want))
		got := Zlib(out, z)
		if (err == nil) != (got == nil) {
			t.Fatalf("%x: %v, compress/zlib: %v", z, got, err)
		}
		if err == nil && !bytes.Equal(out, want) {
			t.Fatalf("%x: %x, want %x", z, out, want)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	raw := deflate(b, zlib.BestSpeed, program(b)) // as Go's linker does it
	dst := make([]byte, len(program(b)))
	for name, fn := range map[string]func() error{
		"own": func() error { return Zlib(dst, raw) },
		"compress-zlib": func() error {
			r, err := zlib.NewReader(bytes.NewReader(raw))
			if err == nil {
				_, err = io.ReadFull(r, dst)
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				if err := fn(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
