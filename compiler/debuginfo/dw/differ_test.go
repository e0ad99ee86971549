package dw

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

// The scanner sees the entries that debug/dwarf sees.
func TestScanDiffers(t *testing.T) {
	ranges := 0
	defer func() {
		if ranges < 1000 {
			t.Errorf("only %d ranges", ranges)
		}
	}()
	for _, path := range elftest.Programs(t) {
		d := openDwarf(t, path)
		units, err := d.Units()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, u := range units {
			s, err := u.scan()
			if err != nil {
				t.Fatal(err)
			}
			r := d.d.Reader()
			r.Seek(u.Die)
			depth := 0
			for {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e == nil || e.Offset >= u.End {
					break
				}
				if e.Tag == 0 {
					if depth--; depth == 0 {
						break
					}
					continue
				}
				if !s.next() {
					t.Fatalf("%s: scanner stops before %#x: %v", path, e.Offset, s.failed())
				}
				name, _ := e.Val(dwarf.AttrName).(string)
				low, hasLow := e.Val(dwarf.AttrLowpc).(uint64)
				gotLow, gotHas := s.addr(slotLow)
				origin, hasOrigin := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
				gotOrigin, gotHasOrigin := s.ref(slotOrigin)
				if s.off != e.Offset || s.a.tag != e.Tag || string(s.str(slotName)) != name || s.depth != depth ||
					low != gotLow || hasLow != gotHas || origin != gotOrigin || hasOrigin != gotHasOrigin {
					t.Fatalf("%s: entry %#x %v %q depth %d low %#x, scanner has %#x %v %q depth %d low %#x", path,
						e.Offset, e.Tag, name, depth, low, s.off, s.a.tag, s.str(slotName), s.depth, gotLow)
				}
				own, err1 := u.rangesOf(e)
				std, err2 := d.d.Ranges(e)
				if err1 != nil || err2 != nil || !slices.Equal(own, std) {
					t.Fatalf("%s: ranges of %#x: %x %v, debug/dwarf has %x %v", path, e.Offset, own, err1, std, err2)
				}
				ranges += len(own)
				n++
				if e.Children {
					depth++
				}
			}
			if s.next() || s.failed() != nil {
				t.Fatalf("%s: scanner goes on behind the unit: %#x %v", path, s.off, s.failed())
			}
			// Skipping what is below the first level finds the same first level.
			s, _ = u.scan()
			s.next()
			r.Seek(u.Die)
			r.Next()
			for {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e == nil || e.Tag == 0 {
					break
				}
				if !s.next() || s.off != e.Offset || s.depth != 1 {
					t.Fatalf("%s: skipping: entry %#x, scanner at %#x, depth %d, %v", path, e.Offset, s.off, s.depth,
						s.failed())
				}
				s.skipChildren()
				r.SkipChildren()
			}
		}
		if n < 50 {
			t.Errorf("%s: only %d entries", path, n)
		}
	}
}

// Units and functions by pc, against debug/dwarf.
func TestUnitAtDiffers(t *testing.T) {
	for _, path := range elftest.Programs(t) {
		d := openDwarf(t, path)
		syms, err := d.f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, s := range syms {
			if !s.Func() || i%7 != 0 && len(syms) > 500 {
				continue
			}
			e, err := d.d.Reader().SeekPC(s.Addr)
			u, err2 := d.UnitAt(s.Addr)
			if err2 != nil || (err == nil) != (u != nil) {
				t.Fatalf("%s: %s: %v, %v, debug/dwarf: %v", path, s.Name, u, err2, err)
			}
			if u == nil {
				continue
			}
			if u.Die != e.Offset {
				t.Fatalf("%s: %s: unit %#x, want %#x", path, s.Name, u.Die, e.Offset)
			}
			_, tree, err := d.FuncTree(s.Addr)
			if err != nil {
				t.Fatal(err)
			}
			if tree == nil {
				continue
			}
			if !tree.ContainsPC(s.Addr) {
				t.Errorf("%s: %s is not in %s", path, s.Name, Name(tree))
			}
			n++
		}
		if n == 0 {
			t.Errorf("%s: no functions", path)
		}
	}
}

// Trees, against Delve's LoadTree.
func TestTreeDiffers(t *testing.T) {
	var same func(a, b *godwarf.Tree) error
	same = func(a, b *godwarf.Tree) error {
		if a.Tag != b.Tag || a.Offset != b.Offset || Name(a) != Name(b) || len(a.Children) != len(b.Children) {
			return fmt.Errorf("%v %#x %q, Delve has %v %#x %q", a.Tag, a.Offset, Name(a), b.Tag, b.Offset, Name(b))
		}
		if !slices.Equal(a.Ranges, b.Ranges) && a.Tag != dwarf.TagSubprogram {
			return fmt.Errorf("%v %#x: ranges %x, Delve has %x", a.Tag, a.Offset, a.Ranges, b.Ranges)
		}
		for i := range a.Children {
			if err := same(a.Children[i], b.Children[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, path := range elftest.Programs(t) {
		d := openDwarf(t, path)
		refs, inlined, err := d.FindFuncs(func(name []byte) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for i, r := range refs {
			if i%5 != 0 && len(refs) > 200 {
				continue
			}
			a, err := r.Unit.Tree(r.Die)
			if err != nil {
				t.Fatal(err)
			}
			b, err := godwarf.LoadTree(r.Die, d.d, 0)
			if err != nil {
				t.Fatal(err)
			}
			// Call sites with a low_pc have a range of length 0 there; only code counts.
			if err := same(a, b); err != nil {
				t.Errorf("%s: %s: %v", path, r.Name, err)
			}
			if a.Val(dwarf.AttrLowpc) != nil && r.Low != a.Val(dwarf.AttrLowpc) {
				t.Errorf("%s: %s begins at %#x", path, r.Name, r.Low)
			}
			for _, x := range Inlined(a) {
				count++
				if !slices.ContainsFunc(inlined, func(y InlineRef) bool {
					return y.Die == x.Offset && y.Func == r.Die && y.Name == Name(x)
				}) {
					t.Errorf("%s: inlined %s at %#x in %s is not found by name", path, Name(x), x.Offset, r.Name)
				}
			}
		}
		if len(refs) <= 200 && count != len(inlined) {
			t.Errorf("%s: %d inlined copies in trees, %d by name", path, count, len(inlined))
		}
	}
}

// Line rows, against what debug/dwarf finds by pc.
func TestRows(t *testing.T) {
	n := 0
	defer func() {
		if n < 20 {
			t.Errorf("only %d rows compared", n)
		}
	}()
	for _, path := range elftest.Programs(t) {
		d := openDwarf(t, path)
		for _, s := range d.f.SymbolsNamed("main") {
			u, err := d.UnitAt(s.Addr)
			if err != nil {
				t.Fatal(err)
			}
			if u == nil {
				continue
			}
			e, _ := u.Entry()
			dd, err := d.withLines()
			if err != nil {
				t.Fatal(err)
			}
			for pc := s.Addr; pc < s.Addr+s.Size; pc += 3 {
				lr, err := dd.LineReader(e)
				if err != nil {
					t.Fatal(err)
				}
				var want dwarf.LineEntry
				if err := lr.SeekPC(pc, &want); err != nil {
					continue // it does not look behind the first sequence that begins above pc
				}
				n++
				got, ok, err := u.RowAt(pc)
				if err != nil || !ok || got.PC != want.Address || u.FileOf(got) != want.File.Name {
					t.Fatalf("%s: %#x: %+v %v, want %+v", path, pc, got, err, want)
				}
			}
		}
	}
}

func TestMatchFile(t *testing.T) {
	for _, c := range []struct {
		file, pattern string
		want          bool
	}{
		{"/src/app/main.c", "main.c", true}, {"/src/app/main.c", "app/main.c", true},
		{"/src/app/main.c", "/src/app/main.c", true},
		{"/src/app/main.c", "ain.c", false}, {"/src/app/main.c", "pp/main.c", false},
		{"/src/app/main.c", "src/main.c", false},
		{"main.c", "main.c", true}, {"./main.c", "main.c", true}, {"/src/./app/../app/main.c", "app/main.c", true},
		{"/src/app/main.c", "*.c", true}, {"/src/app/main.c", "app/*.c", true},
		{"/src/app/main.c", "ap?/main.[ch]", true},
		{"/src/app/main.c", "src/*.c", false}, {"/src/app/main.c", "/src/*/main.c", true},
		{"/src/app/main.c", "/*.c", false},
		{"main.c", "*", true}, {"", "main.c", false}, {"/src/main.c", "", false}, {"/src/main.c", "[", false},
	} {
		if got := MatchFile(c.file, c.pattern); got != c.want {
			t.Errorf("MatchFile(%q, %q) = %v", c.file, c.pattern, got)
		}
	}
}
