package dw

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dwread"
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

func FuzzLocList(f *testing.F) {
	f.Add(elftest.Encode(uint8(lleOffsetPair), 0x10, 0x20, lit(1), uint8(lleEnd)), true)
	f.Add(elftest.Encode(uint64(0x10), uint64(0x20), uint16(1), "\x31", uint64(0), uint64(0)), false)
	f.Fuzz(func(t *testing.T, b []byte, v5 bool) {
		if v5 {
			readLocList5(&dwread.Reader{Bytes: b}, nil, 8, 0x1000, func(i uint64) (uint64, error) { return i, nil })
		} else {
			readLocList4(&dwread.Reader{Bytes: b}, nil, 8, 0x1000)
		}
	})
}
