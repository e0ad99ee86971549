package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/gostap/gostap/compiler/debuginfo/elftest"
	"github.com/gostap/gostap/compiler/loc"
)

// Frames, against Delve's index of the whole section.
func TestFramesDiffer(t *testing.T) {
	for _, path := range []string{elftest.C(t, "-g -O2 -gdwarf-5", "code.c"),
		elftest.C(t, "-g -O0 -gdwarf-4 -no-pie -fno-pie", "code.c"), elftest.Go(t, "", "types.go"),
		elftest.C(t, "-g -O1 -gdwarf-4 -fno-asynchronous-unwind-tables", "code.c"),
		elftest.C(t, "-g -O2 -Wl,--no-eh-frame-hdr", "code.c")} {
		f := openFile(t, path)
		var fdes frame.FrameDescriptionEntries
		eh, addr := f.ehFrame()
		if eh != nil {
			x, err := frame.Parse(eh, binary.LittleEndian, 0, 8, addr)
			if err != nil {
				t.Fatal(err)
			}
			fdes = fdes.Append(x)
		}
		if b, err := f.Optional(".debug_frame"); err == nil && len(b) > 0 && b[8] < 4 {
			x, err := frame.Parse(b, binary.LittleEndian, 0, 8, 0)
			if err != nil {
				t.Fatal(err)
			}
			fdes = fdes.Append(x)
		}
		n := 0
		for i, fde := range fdes {
			if i%13 != 0 && len(fdes) > 200 {
				continue
			}
			for pc := fde.Begin(); pc < fde.End(); pc += 1 + (fde.End()-fde.Begin())/40 {
				want, err := fde.EstablishFrame(pc)
				if err != nil || want.CFA.Rule != frame.RuleCFA {
					continue
				}
				got, err := f.Frame(pc)
				if err != nil {
					t.Fatalf("%s: %#x: %v", path, pc, err)
				}
				cfa := loc.Register(int(want.CFA.Reg)).Plus(want.CFA.Offset)
				if !slices.Equal(got.CFA.Steps, cfa.Steps) {
					t.Fatalf("%s: %#x: %v, want %v", path, pc, got.CFA, cfa)
				}
				if ret := cfa.Plus(-8).Load(8, false, false); want.Regs[16].Rule == frame.RuleOffset &&
					!slices.Equal(got.Return.Steps, ret.Steps) {
					t.Fatalf("%s: %#x: return address %v, want %v", path, pc, got.Return, ret)
				}
				n++
			}
		}
		if n < 20 {
			t.Errorf("%s: only %d frames compared", path, n)
		}
		if _, err := f.Frame(0x10); !errors.As(err, new(*NoFrameError)) {
			t.Errorf("%s: frame at 0x10: %v", path, err)
		}
	}
}

// Version 4 of .debug_frame, which Delve's reader does not know, against .eh_frame of the same code.
func TestFrameVersion4(t *testing.T) {
	a := openFile(t, elftest.C(t, "-g -O2 -gdwarf-5 -no-pie -fno-pie", "code.c"))
	b := openFile(t, elftest.C(t, "-g -O2 -gdwarf-5 -no-pie -fno-pie -fno-asynchronous-unwind-tables", "code.c"))
	sec, err := b.Section(".debug_frame")
	if err != nil {
		t.Fatal(err)
	}
	versions := map[uint8]int{}
	for off := 0; off < len(sec); {
		e, ok, err := readFrameEntry(sec, off, false)
		if err != nil || !ok {
			t.Fatal(err)
		}
		if e.cie {
			versions[sec[e.body]]++
		}
		off = e.end
	}
	if versions[4] == 0 {
		// This compiler writes older versions: make one.
		sec = raiseCIE(t, sec)
		b.sections[".debug_frame"] = sec
	}
	n := 0
	for _, name := range []string{"work", "depth", "main"} {
		x, y := a.SymbolsNamed(name)[0], b.SymbolsNamed(name)[0]
		if x.Size != y.Size {
			t.Skip("the code differs")
		}
		for off := range x.Size {
			want, err := a.Frame(x.Addr + off)
			got, err2 := b.Frame(y.Addr + off)
			if err != nil || err2 != nil || !slices.Equal(want.CFA.Steps, got.CFA.Steps) ||
				!slices.Equal(want.Return.Steps, got.Return.Steps) {
				t.Fatalf("%s+%d: %v %v, want %v %v", name, off, got.CFA, err2, want.CFA, err)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("nothing compared")
	}
}

// raiseCIE makes version 4 of the CIEs of a .debug_frame section, and moves its FDEs' pointers.
func raiseCIE(t *testing.T, sec []byte) []byte {
	var out []byte
	moved := map[int]int{}
	for off := 0; off < len(sec); {
		e, ok, err := readFrameEntry(sec, off, false)
		if err != nil || !ok {
			t.Fatal(err)
		}
		start := len(out)
		entry := slices.Clone(sec[e.start:e.end])
		if e.cie {
			moved[e.start] = start
			i := 9
			for entry[i] != 0 {
				i++
			}
			entry = slices.Insert(entry, i+1, 8, 0)
			entry[8] = 4
			binary.LittleEndian.PutUint32(entry, uint32(len(entry)-4))
		} else {
			binary.LittleEndian.PutUint32(entry[4:], uint32(moved[e.cieOff]))
		}
		out = append(out, entry...)
		off = e.end
	}
	return out
}

// TestTLS: a program's thread-local block ends at the thread pointer, where its alignment lets it. (That the linker
// means the same is for the tests of variables.)
func TestTLS(t *testing.T) {
	f := openFile(t, elftest.C(t, "-g -O2 -gdwarf-5", "code.c"))
	var seg *elf.Prog
	for _, x := range f.ELF().Progs {
		if x.Type == elf.PT_TLS {
			seg = x
		}
	}
	seg.Vaddr, seg.Memsz, seg.Align = 0x4000, 9, 8
	if p, err := f.TLS(8); err != nil || p.String() != "tls; const -8; add .0 .1" {
		t.Errorf("offset 8 of 9 bytes aligned to 8 is %v, %v", p, err)
	}
	if _, err := f.TLS(10); err == nil {
		t.Error("an offset beyond the segment was taken")
	}
}

// openFile opens a file until the test ends.
func openFile(tb testing.TB, path string) *File {
	tb.Helper()
	f, err := Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}
