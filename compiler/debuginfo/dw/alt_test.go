package dw_test

import (
	"debug/dwarf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elftest"
)

const twins = `#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
struct inner { int x, y; const char *name; };
struct outer { struct inner in; struct outer *next; long count; enum { RED, GREEN, BLUE } color; };
typedef struct outer outer_t;
struct big { struct outer a[3]; struct inner b[4]; unsigned long flags; char text[32]; };
struct outer head = { { 1, 2, "one" }, 0, 7, GREEN };
struct big table;
static inline int sum(struct inner *i) { return i->x + i->y; }
__attribute__((noinline)) int work(struct outer *o, int times) {
	int r = 0;
	for (int i = 0; i < times; i++) { r += sum(&o->in) + rand() % 3; table.b[i & 3].x = r; }
	return r;
}
__attribute__((noinline)) long use(outer_t *o, struct big *b,
	struct stat *st) { return o->count + b->flags + st->st_mode; }
int main(int argc, char **argv) {
	struct stat st;
	stat(argv[0], &st);
	printf("%d %ld\n", work(&head, argc + 2), use(&head, &table, &st));
	return 0;
}
`

// TestSupplementary moves what two programs have in common into a file of its own with dwz, and compares what is
// read with the programs as they were.
func TestSupplementary(t *testing.T) {
	if _, err := exec.LookPath("dwz"); err != nil {
		t.Skip("dwz is not installed")
	}
	elftest.Tolerant(t)
	dir := t.TempDir()
	var plain, moved []string
	src := filepath.Join(dir, "twins.c")
	if err := os.WriteFile(src, []byte(twins), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-O2 -gdwarf-5", "-O1 -gdwarf-5", "-O2 -gdwarf-4", "-O1 -gdwarf-4"} {
		prog := filepath.Join(dir, "prog")
		elftest.Run(t, "gcc", append(strings.Fields(flags), "-g", "-o", prog, src)...)
		b, err := os.ReadFile(prog)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []*[]string{&plain, &moved} {
			p := filepath.Join(dir, fmt.Sprintf("%d-%p", len(*list), list))
			if err := os.WriteFile(p, b, 0o755); err != nil {
				t.Fatal(err)
			}
			*list = append(*list, p)
		}
	}
	describe := func(path string) (out []string) {
		d, err := dw.Open(openELF(t, path))
		if err != nil {
			return []string{err.Error()}
		}
		funcs, copies, err := d.FindFuncs(func([]byte) bool { return true })
		out = append(out, fmt.Sprintf("%d copies, %v", len(copies), err))
		for _, c := range copies {
			e, err := d.Entry(c.Die)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, "copy of "+c.Name+" = "+dw.Name(e))
		}
		for _, f := range funcs {
			u, tree, err := d.FuncTree(f.Low)
			if err != nil || tree == nil {
				t.Fatalf("%s: %s: %v", path, f.Name, err)
			}
			out = append(out, f.Name+" in "+filepath.Base(d.FileAttr(tree, dwarf.AttrDeclFile))+" of "+
				filepath.Base(u.Name()))
			for _, v := range dw.AllVars(tree) {
				ty, err := dwtype.Of(d).TypeOf(v)
				if err != nil {
					t.Errorf("%s: %s: type of %s: %v", path, f.Name, dw.Name(v.Tree), err)
					continue
				}
				s := fmt.Sprintf("%s: %s %s of %d bytes", f.Name, dw.Name(v.Tree), ty.Name, ty.Size)
				for _, m := range ty.Fields() {
					s += fmt.Sprintf(" %s %s at %d", m.Name, m.Type.Name, m.Off)
				}
				if el := ty.Elem(); el != nil {
					for _, m := range el.Fields() {
						s += fmt.Sprintf(" ->%s %s at %d", m.Name, m.Type.Name, m.Off)
					}
				}
				out = append(out, s)
			}
		}
		for _, name := range []string{"struct outer", "struct inner", "struct big", "outer_t"} {
			ty, err := dwtype.Of(d).NamedType(name)
			if err != nil {
				out = append(out, err.Error())
				continue
			}
			out = append(out, fmt.Sprintf("%s: %d bytes, %d members", ty.Name, ty.Size, len(ty.Fields())))
		}
		slices.Sort(out)
		return out
	}
	for i := 0; i < len(moved); i += 2 { // dwz takes one version of DWARF at a time
		common := filepath.Join(dir, fmt.Sprintf("common%d", i))
		if out, err := exec.Command("dwz", "-m", common, moved[i], moved[i+1]).CombinedOutput(); err != nil {
			t.Skipf("dwz: %v: %s", err, out)
		}
		for k := i; k < i+2; k++ {
			if !openELF(t, moved[k]).HasSection(".gnu_debugaltlink") {
				t.Errorf("%s: dwz has moved nothing", moved[k])
			}
			want, got := describe(plain[k]), describe(moved[k])
			if !slices.Equal(slices.Compact(want), slices.Compact(got)) {
				t.Errorf("dwz changes what is read of %s:\n%s\nwas\n%s", moved[k], strings.Join(got, "\n"),
					strings.Join(want, "\n"))
			}
			if len(want) < 10 {
				t.Errorf("only %d facts", len(want))
			}
		}
		// Without the file, and with that of another build, it is said what is missing.
		if err := os.Remove(common); err != nil {
			t.Fatal(err)
		}
		for _, why := range []string{"there is no " + common, "is that of another build"} {
			d := openData(t, moved[i])
			funcs, _, _ := d.FindFuncs(func([]byte) bool { return true })
			said := false
			for _, f := range funcs {
				_, tree, err := d.FuncTree(f.Low)
				if err != nil || tree == nil {
					continue
				}
				for _, v := range dw.AllVars(tree) {
					_, err := dwtype.Of(d).TypeOf(v)
					said = said || err != nil && strings.Contains(err.Error(), why)
				}
			}
			if !said {
				t.Errorf("nothing says that %s", why)
			}
			b, _ := os.ReadFile(plain[i])
			os.WriteFile(common, b, 0o644)
		}
	}
}
