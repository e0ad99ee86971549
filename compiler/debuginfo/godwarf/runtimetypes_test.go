package godwarf

import (
	"debug/dwarf"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/types"
)

// TestRunTimeTypes: the types that a program has for itself are those that its DWARF describes: their names but for the
// packages' paths, kinds, sizes, and the names and offsets of fields. DWARF says which is which.
func TestRunTimeTypes(t *testing.T) {
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) {
			prog := filepath.Join(t.TempDir(), "prog")
			cmd := exec.Command("go", "build", "-buildmode="+mode, "-o", prog, "../../../tests/fixtures/values")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			im, err := Open(prog)
			if err != nil {
				t.Fatal(err)
			}
			defer im.Close()
			rtt := im.RunTimeTypes()
			if rtt == nil || !rtt.Swiss || rtt.Relocated != (mode == "pie") {
				t.Fatalf("%+v", rtt)
			}
			lo, _ := im.tab.Types()
			f, err := elf.Open(prog)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			d, err := f.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			const goRuntimeType = 0x2904
			seen := 0
			for r := d.Reader(); ; {
				e, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				if e == nil {
					break
				}
				off, _ := e.Val(goRuntimeType).(uint64)
				name, _ := e.Val(dwarf.AttrName).(string)
				if off == 0 || name == "" {
					continue
				}
				got, err := rtt.Types.At(lo + off)
				if err != nil {
					t.Errorf("%s at %#x: %v", name, off, err)
					continue
				}
				seen++
				// The compiler's own marks in names, and unexported fields, are in DWARF only.
				spelled := strings.Contains(name, "·") || strings.Contains(name, "struct {") ||
					strings.Contains(name, "noalg.")
				if want := bare(name); bare(got.Name) != want && !spelled {
					t.Errorf("%s is %s", name, got.Name)
				}
				typ, err := d.Type(e.Offset)
				if err != nil {
					continue
				}
				if typ.Size() != got.Size && typ.Size() > 0 {
					t.Errorf("%s: %d bytes, not %d", name, got.Size, typ.Size())
				}
				s, ok := typ.(*dwarf.StructType)
				if !ok || got.Kind != types.Struct {
					continue
				}
				fs := got.Fields()
				if len(fs) != len(s.Field) {
					t.Errorf("%s: %d fields, not %d", name, len(fs), len(s.Field))
					continue
				}
				for i, f := range s.Field {
					if fs[i].Name != f.Name || fs[i].Off != f.ByteOffset || fs[i].Type.Size != max(f.Type.Size(), 0) {
						t.Errorf("%s.%s: %+v, not at %d", name, f.Name, fs[i], f.ByteOffset)
					}
				}
			}
			if seen < 500 {
				t.Errorf("%d types seen", seen)
			}
		})
	}
}

// bare takes the paths of packages out of a name, and blanks, which DWARF and the program put differently.
func bare(name string) string {
	var b strings.Builder
	apart := func(r rune) bool { return strings.ContainsRune(" ;{}()[],*\"", r) }
	for _, part := range strings.FieldsFunc(name, apart) {
		b.WriteString(part[strings.LastIndexByte(part, '/')+1:] + " ")
	}
	return b.String()
}
