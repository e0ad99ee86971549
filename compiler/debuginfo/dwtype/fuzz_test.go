package dwtype

import (
	"math/rand/v2"

	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/cfi"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/foreign"
)

// ownPanics makes the test fail on panics that begin in our packages: Guard is for readers
// that we do not own, and for vanishing files.
func ownPanics(tb testing.TB) {
	old := foreign.OnPanic
	foreign.OnPanic = func(r any) {
		pcs := make([]uintptr, 32)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
		for {
			f, more := frames.Next()
			if !strings.HasPrefix(f.Function, "runtime.") && !strings.Contains(f.Function, ".Guard.") {
				if strings.Contains(f.Function, "/debuginfo/") {
					tb.Errorf("panic in %s (%s:%d): %v", f.Function, f.File, f.Line, r)
				}
				return
			}
			if !more {
				return
			}
		}
	}
	tb.Cleanup(func() { foreign.OnPanic = old })
}

// FuzzFile changes bytes of real programs and reads everything. The input is a list of changes: which
// section, where in it, and the new byte.
func FuzzFile(f *testing.F) {
	paths := []string{elftest.C(f, "-g -O2 -gdwarf-5", "code.c"),
		elftest.C(f, "-g -O1 -gdwarf-4 -fno-asynchronous-unwind-tables", "code.c"),
		elftest.C(f, "-g -gdwarf-5 -fdebug-types-section", "types.c")}
	var files [][]byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, b)
	}
	f.Add(uint8(0), []byte{0, 0, 10, 0xff})
	f.Add(uint8(1), []byte{1, 0, 0, 0xff, 2, 0, 1, 0})
	f.Add(uint8(2), []byte{3, 1, 0, 0x80, 3, 1, 1, 0x80, 4, 0, 12, 1})
	names := []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_loc", ".debug_rnglists",
		".debug_ranges", ".debug_aranges", ".debug_str", ".debug_line_str", ".eh_frame", ".eh_frame_hdr",
		".debug_frame", ".symtab", ".debug_addr", "", ".note.gnu.build-id"}
	f.Fuzz(func(t *testing.T, which uint8, changes []byte) {
		ownPanics(t)
		b := bytes.Clone(files[int(which)%len(files)])
		g, err := elffile.InMemory(b)
		if err != nil {
			t.Fatal(err)
		}
		for ; len(changes) >= 4; changes = changes[4:] {
			off := int(changes[1])<<8 | int(changes[2])
			if name := names[int(changes[0])%len(names)]; name != "" {
				s := g.ELF().Section(name)
				if s == nil || s.FileSize == 0 {
					continue
				}
				off = int(s.Offset) + off%int(s.FileSize)
			}
			if off < len(b) {
				b[off] = changes[3]
			}
		}
		if g, err = elffile.InMemory(b); err == nil {
			explore(g)
		}
	})
}

// explore asks a File for everything, for its panics.
func explore(f *elffile.File) {
	f.Symbols()
	f.SymbolAt(0x1139)
	f.BuildID()
	f.FileOffset(0x1139)
	for _, s := range f.ELF().Sections {
		f.Section(s.Name)
	}
	pcs := []uint64{0x1139, 0x1140, 0x401126}
	for _, s := range f.SymbolsNamed("main") {
		pcs = append(pcs, s.Addr, s.Addr+4)
	}
	for _, pc := range pcs {
		f.Frame(pc)
		f.Unwind(pc)
	}
	if pieces, err := f.UnwindPieces(); err == nil {
		last := uint64(0)
		for i, r := range cfi.Table(pieces) {
			if i > 0 && r.PC <= last {
				panic("rows are not sorted")
			}
			last = r.PC
		}
	}
	d, err := dw.Open(f)
	if err != nil {
		return
	}
	units, _ := d.Units()
	for _, u := range units {
		u.Entry()
		u.Producer()
		u.Rows()
		u.Files()
	}
	for _, pc := range pcs {
		u, t, err := d.FuncTree(pc)
		if err != nil || t == nil {
			continue
		}
		u.RowAt(pc)
		dw.InlineStack(t, pc)
		env := u.Env(t, pc)
		for _, v := range dw.AllVars(t) {
			if ty, err := Of(d).TypeOf(v); err == nil {
				u.VarPlace(v, ty, env, pc)
				u.LiveLines(v, t)
			}
		}
	}
	if ty, err := Of(d).NamedType("struct outer"); err == nil {
		for _, f := range ty.Fields() {
			f.Type.Elem()
			f.Type.Fields()
			f.Type.Enums()
		}
	}
	Of(d).NamedType("main.All")
	Of(d).EnumWith("RED")
	d.FindGlobals("one")
	d.FindFuncs(func([]byte) bool { return true })
}

// TestDamaged explores files with damage in them, and files that were cut anywhere: an error or what is left, never a
// panic.
func TestDamaged(t *testing.T) {
	elftest.Tolerant(t)
	good, err := os.ReadFile(elftest.C(t, "-g -gdwarf-5", "types.c"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := elftest.NewMutator(good)
	if err != nil {
		t.Fatal(err)
	}
	rnd, read := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 300 {
		b, _ := m.Mutate(rnd)
		if i%10 == 0 { // the headers of sections stand at the end: that leaves none
			b = b[:len(b)*i/300]
		}
		if f, err := elffile.InMemory(b); err == nil {
			explore(f)
			read++
		}
	}
	if read < 100 {
		t.Errorf("only %d files were opened", read)
	}
}
