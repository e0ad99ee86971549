package elffile

import (
	"slices"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// TestPart compares some of the symbols with all of them, read before and not.
func TestPart(t *testing.T) {
	for _, path := range []string{elftest.C(t, "-g", "types.c"), elftest.Go(t, "", "types.go")} {
		all, err := openFile(t, path).Symbols()
		if err != nil || len(all) < 10 {
			t.Fatalf("%d symbols, %v", len(all), err)
		}
		f := openFile(t, path)
		middle := all[len(all)/2].Addr
		own := func(addr uint64) bool { return addr < middle }
		var want []Symbol
		for _, s := range all {
			if own(s.Addr) {
				want = append(want, s)
			}
		}
		for _, when := range []string{"before", "after"} {
			p := NewPart(f, own)
			got, err := p.Symbols()
			if err != nil || len(want) == 0 || len(want) == len(all) || !slices.Equal(got, want) {
				t.Errorf("%s, %s all were read: %d symbols, want %d of %d (%v)", path, when, len(got), len(want),
					len(all), err)
			}
			for _, s := range all {
				if got, want := p.SymbolsAt(s.Addr), f.SymbolsAt(s.Addr); !slices.Equal(got, want) {
					t.Errorf("%s: at %#x %v, want %v", path, s.Addr, got, want)
				}
				of := slices.DeleteFunc(f.SymbolsNamed(s.Name), func(s Symbol) bool { return !own(s.Addr) })
				if got := p.SymbolsNamed(s.Name); !slices.Equal(got, of) {
					t.Errorf("%s: %s %v, want %v", path, s.Name, got, of)
				}
			}
			f = openFile(t, path)
			f.Symbols()
		}
	}
}
