package godwarf

import (
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/foreign"
	"github.com/gostap/gostap/compiler/types"
	"github.com/gostap/gostap/tests/patience"
)

// exercise asks everything about the fixture; it must return, with answers or errors.
func exercise(im *Image) {
	im.HasTypes()
	im.NoTypes()
	im.NearNames("main.tracme")
	Constant(im, "main.Green")
	ConstantsOf(im, &types.Ctype{Name: "main.Color"})
	fs, _ := im.Funcs("main.*")
	for _, f := range fs {
		sites, _ := im.ReturnSites(f)
		if s, err := im.EntrySite(f); err == nil {
			sites = append(sites, s)
		}
		for _, s := range sites {
			im.Vars(s)
			im.Results(s)
			im.Goroutine(s)
			im.Lookup(s.PC)
			im.SiteAt(s.PC)
			im.FileOffset(s.PC)
		}
		im.FuncAt(f.Entry + 1)
		calls, _ := im.Calls(f)
		for _, c := range calls {
			im.FuncAt(c.Target)
			im.Lookup(c.PC)
		}
		im.Copies(f)
	}
	copies, _ := im.Inlined("main.*")
	for _, c := range copies {
		im.Vars(c.Site)
	}
	for _, q := range []debuginfo.LineQuery{{Func: "main.statements", All: true},
		{Func: "*", File: "shapes/main.go", Line: 224, Nearest: true}} {
		lines, _ := im.LineSites(q)
		for _, s := range lines {
			vars, _ := im.Vars(s)
			for _, v := range vars {
				if v.Type != nil {
					v.Type.Fields()
					v.Type.Elem()
				}
			}
		}
	}
	im.Global("main.answer")
	im.Type("main.Server")
	im.Version()
}

// TestDamaged changes bytes of the parts that are read, and cuts the file short: nothing may
// panic, hang or take endless memory.
func TestDamaged(t *testing.T) {
	orig, err := os.ReadFile(fixture(t, "inflated"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(fixture(t, "inflated"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := filepath.Join(t.TempDir(), "damaged")
	try := func(what string, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		start := patience.Now()
		im, err := Open(path)
		if err != nil {
			return
		}
		exercise(im)
		im.Close()
		if d := patience.Now() - start; d > 20*time.Second {
			t.Errorf("%s: took %v", what, d)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{".gopclntab", ".go.module", ".go.buildinfo", ".symtab", ".debug_info",
		".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_rnglists", ".debug_addr"} {
		s := f.Section(name)
		if s == nil {
			t.Errorf("the fixture has no %s", name)
			continue
		}
		for _, changes := range []int{1, 50, 5000} {
			b := append([]byte(nil), orig...)
			for range changes {
				b[s.Offset+rnd.Uint64N(s.Size)] = byte(rnd.Uint32())
			}
			try(name, b)
		}
		b := append([]byte(nil), orig...)
		clear(b[s.Offset : s.Offset+s.Size])
		try(name+" cleared", b)
	}
	for _, n := range []int{0, 1, 63, 64, 4096, len(orig) / 2, len(orig) - 1} {
		try("cut", orig[:n])
	}
}

// TestChanged cuts a file short while it is mapped.
func TestChanged(t *testing.T) {
	orig, err := os.ReadFile(fixture(t, "inflated"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, orig, 0o600); err != nil {
		t.Fatal(err)
	}
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := im.Funcs("main.*"); !errors.Is(err, foreign.ErrChanged) {
		t.Errorf("%v, want %v", err, foreign.ErrChanged)
	}
	exercise(im)
}

func TestNotGo(t *testing.T) {
	if im, err := Open("/bin/true"); err == nil {
		im.Close()
		t.Error("a C program was opened")
	}
	if _, err := Open("/nonexistent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open("image.go"); !errors.Is(err, debuginfo.ErrNotELF) {
		t.Error(err)
	}
}
