package godwarf

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
)

// TestUnwindPieces: the packed rows of whole programs say at every address of Go code what Unwind says there.
func TestUnwindPieces(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elffile.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	im, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	start := time.Now()
	pieces, err := im.UnwindPieces()
	if err != nil {
		t.Fatal(err)
	}
	table := cfi.Table(pieces)
	t.Logf("%d rows of %d functions in %v", len(table), len(pieces), time.Since(start))
	var kinds [16]int
	before := 0
	check := func(pc uint64) {
		want := cfi.Packed(cfi.PackUnknown)
		if r, err := im.Unwind(pc); err == nil {
			want = r.Pack()
		}
		// A walk looks in front of the address that a signal's handler returns to, as of any other.
		if next := im.tab.Find(pc + 1); next >= 0 && im.tab.Entry(next) == pc+1 {
			if r, err := im.Unwind(pc + 1); err == nil && r.Trampoline {
				want, before = r.Pack(), before+1
			}
		}
		if got := cfi.Find(table, pc); got != want {
			t.Errorf("%s at %#x: %#x, want %#x", im.tab.Name(im.tab.Find(pc)), pc, got, want)
		}
		kinds[want.Kind()]++
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range im.tab.Len() {
		entry, end := im.tab.Entry(i), im.tab.End(i)
		if im.registry().foreign(i) || end <= entry {
			continue
		}
		for off := range min(end-entry, 8) {
			check(entry + off)
		}
		check(end - 1)
		check(entry + rnd.Uint64N(end-entry))
	}
	for _, k := range []cfi.PackedKind{cfi.PackSP, cfi.PackSignal, cfi.PackOutermost, cfi.PackSwitch,
		cfi.PackInterrupted} {
		if kinds[k] == 0 {
			t.Errorf("no place of kind %d", k)
		}
	}
	if before == 0 {
		t.Error("no place in front of what a signal's handler returns to")
	}
	if kinds[cfi.PackUnknown] > kinds[cfi.PackSP]/4 { // most of them between functions
		t.Errorf("at %d places nothing is known, at %d something", kinds[cfi.PackUnknown], kinds[cfi.PackSP])
	}
}
