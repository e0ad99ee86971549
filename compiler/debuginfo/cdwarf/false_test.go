package cdwarf

import (
	"bytes"
	"errors"

	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/loc"
)

// TestParametersKeep runs functions that change none of their parameters: at each line each of them is what it was at
// the entry, or refused. Compilers say so of registers and slots that have something else by then.
func TestParametersKeep(t *testing.T) {
	ran := false
	for _, cxx := range []string{"g++", "clang++"} {
		if _, err := exec.LookPath(cxx); err != nil {
			t.Logf("%s is not installed", cxx)
			continue
		}
		for _, flags := range []string{"-Og", "-O1", "-O2", "-O2 -fno-omit-frame-pointer"} {
			ran = true
			t.Run(cxx+" "+flags, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "keeps")
				args := append(strings.Fields(flags), "-w", "-g", "-o", path, "testdata/keeps.cc")
				if out, err := exec.Command(cxx, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				keeps(t, path)
			})
		}
	}
	if !ran {
		t.Skip("no compiler of C++ is installed")
	}
}

func keeps(t *testing.T, path string) {
	im := open(t, path)
	probes := map[uint64]func(*state){}
	equal, refused := 0, 0
	for _, name := range []string{"in_registers", "on_the_stack", "by_address", "worked_out", "realigned"} {
		fn := one(t, im, name)
		entry, err := im.EntrySite(fn)
		if err != nil {
			t.Fatal(err)
		}
		sites, err := im.LineSites(debuginfo.LineQuery{Func: name, File: "keeps.cc", All: true})
		if err != nil {
			t.Fatal(err)
		}
		first := map[string][]byte{}
		read := func(st *state, s debuginfo.Site) {
			vars, err := im.Vars(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range vars {
				if v.Name == "room" && name == "realigned" || v.Name == "local" {
					if v.Err != nil || !v.Place.InMemory {
						t.Errorf("%s at line %d: %s is refused: %v", name, s.Line, v.Name, v.Err)
					}
				}
				ahead := v.Name == "ahead"
				if v.Kind != debuginfo.Param && !ahead {
					continue
				}
				var live *debuginfo.NotLiveError
				if errors.As(v.Err, &live) {
					refused++
					continue
				} else if v.Err != nil {
					t.Fatal(v.Err)
				}
				have := covered(v.Place)
				b, err := st.bytes(v.Place)
				if err != nil || bytes.IndexByte(have, 0) >= 0 { // a part is lost
					refused++
					continue
				}
				if b = solid(v.Type.Name, b); first[v.Name] == nil && (s.Kind == debuginfo.AtEntry || ahead) {
					first[v.Name] = b
				}
				switch want := first[v.Name]; {
				case want == nil:
				case ahead && first["p0"] != nil && !bytes.Equal(b, plus(first["p0"], 24)), !bytes.Equal(b, want):
					t.Errorf("%s at line %d (%#x): %s is % x, at the entry it is % x", name, s.Line, s.PC, v.Name, b,
						want)
				default:
					equal++
				}
			}
		}
		for _, s := range append([]debuginfo.Site{entry}, sites...) {
			before := probes[s.PC]
			probes[s.PC] = func(st *state) {
				if before != nil {
					before(st)
				}
				read(st, s)
			}
		}
	}
	live(t, im.f, probes)
	if t.Logf("%d equal, %d refused", equal, refused); equal < 100 {
		t.Errorf("only %d were compared", equal)
	}
}

// covered has a 1 for each byte of a place that is somewhere.
func covered(p loc.Place) []byte {
	b := make([]byte, p.Type.Size)
	for _, x := range p.Pieces {
		for i := range x.Size {
			if !x.Lost {
				b[x.Off+i] = 1
			}
		}
	}
	if p.InMemory {
		b = bytes.Repeat([]byte{1}, len(b))
	}
	return b
}

// plus adds n to a pointer.
func plus(b []byte, n byte) []byte {
	b = bytes.Clone(b)
	b[0] += n // the array that it points to is aligned
	return b
}

// solid clears the bits of a value that are no member's.
func solid(typ string, b []byte) []byte {
	masks := map[string]string{"parts": "\xff\x00\xff\xff\xff\x00", "flags": "\xff\xff\xff\xff\xff\xff\x07\x00",
		"held": "\xff\xff\xff\xff\xff\xff\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"}
	b = bytes.Clone(b)
	for i := range masks[strings.TrimPrefix(typ, "struct ")] {
		b[i] &= masks[strings.TrimPrefix(typ, "struct ")][i]
	}
	return b
}
