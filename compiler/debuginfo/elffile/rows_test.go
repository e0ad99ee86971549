package elffile

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
)

// TestUnwindPieces: the packed rows of whole files say at every address what Unwind says there.
func TestUnwindPieces(t *testing.T) {
	n := 0
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/bin/python3", "/lib/x86_64-linux-gnu/libsqlite3.so.0", "/bin/bash", "/lib64/ld-linux-x86-64.so.2"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		n++
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		start := time.Now()
		pieces, err := f.UnwindPieces()
		if err != nil {
			t.Fatal(err)
		}
		table := cfi.Table(pieces)
		t.Logf("%s: %d rows of %d functions in %v", path, len(table), len(pieces), time.Since(start))
		if len(table) < 100 {
			t.Errorf("%s: %d rows", path, len(table))
		}
		known := 0
		check := func(pc uint64) {
			got, want := cfi.Find(table, pc), cfi.Packed(cfi.PackUnknown)
			r, err := f.Unwind(pc)
			var none *NoFrameError
			if err == nil {
				want = r.Pack()
			} else if !errors.As(err, &none) {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s at %#x: %#x, want %#x", path, pc, got, want)
			}
			if got.Kind() != cfi.PackUnknown {
				known++
			}
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			p := pieces[rnd.IntN(len(pieces))]
			check(p.Begin + rnd.Uint64N(p.End-p.Begin))
			check(p.Begin - 1)
			check(p.End)
		}
		if known < 3000 {
			t.Errorf("%s: of 9000 places %d are known", path, known)
		}
		last := uint64(0)
		for _, r := range table {
			if r.PC <= last {
				t.Fatalf("%s: %#x behind %#x", path, r.PC, last)
			}
			last = r.PC
		}
	}
	if n == 0 {
		t.Skip("none of the libraries is here")
	}
}
