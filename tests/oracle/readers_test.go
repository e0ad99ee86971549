package oracle

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/line"
	"github.com/go-delve/delve/pkg/dwarf/loclist"

	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/dwexpr"
	"github.com/gostap/gostap/compiler/debuginfo/dwtype"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/types"
)

// program is a program that the readers are compared on as a whole.
type program struct {
	name, path string
	// stripped is the same program without debug information, "" if there is none.
	stripped string
	// plain: it has no location lists
	plain bool
	// listed: the user has named it
	listed bool
}

// binaries builds programs of Go and of C. The full form has cmd/go, and what GOSTAP_ORACLE_BINARIES names.
func binaries(t *testing.T) []program {
	dir := t.TempDir()
	write(t, dir, "code.c", cReaders)
	write(t, dir, "main.go", goReaders)
	var out []program
	c := func(name string, flags ...string) {
		cc := need(t, "gcc")
		path := filepath.Join(dir, name)
		must(t, dir, nil, cc, append(flags, "-w", "-o", path, "code.c")...)
		out = append(out, program{name: name, path: path})
	}
	gobin := func(name, what string) {
		b := program{name: name, path: filepath.Join(dir, name), stripped: filepath.Join(dir, name+".stripped")}
		must(t, dir, nil, "go", "build", "-o", b.path, what)
		must(t, dir, nil, "go", "build", "-ldflags=-s -w", "-o", b.stripped, what)
		out = append(out, b)
	}
	c("gcc5", "-g", "-O2", "-gdwarf-5")
	c("gcc4", "-g", "-O2", "-gdwarf-4", "-no-pie", "-fno-pie")
	gobin("small", "main.go")
	if Full() {
		c("gcc5O0", "-g", "-O0", "-gdwarf-5")
		out[len(out)-1].plain = true
		c("gcc3", "-g", "-O1", "-gdwarf-3", "-fno-asynchronous-unwind-tables")
		gobin("go", "cmd/go")
		for _, path := range strings.Fields(strings.ReplaceAll(os.Getenv("GOSTAP_ORACLE_BINARIES"), ":", " ")) {
			b := program{name: filepath.Base(path), path: path, plain: true, listed: true}
			if _, err := os.Stat(path + ".stripped"); err == nil {
				b.stripped = path + ".stripped"
			}
			out = append(out, b)
		}
	}
	return out
}

// step is how many functions or types are passed over for each that is looked at: all are in the full form.
func step(n, most int) int {
	if Full() {
		return 1
	}
	return max(1, n/most)
}

const cReaders = `#include <stdio.h>
#include <string.h>
struct list { struct list *next; const char *name; unsigned low : 3, high : 9;
	union { long l; double d; } u; int a[3][4]; };
enum color { RED, GREEN = 7, BLUE = -1 };
typedef struct list list_t;
static inline __attribute__((always_inline)) int twice(int n) { int m = n * 2; return m + (n & 1); }
__attribute__((noinline)) int walk(list_t *l, enum color c, double w)
{
	int sum = 0;
	for (list_t *p = l; p; p = p->next) { int k = twice(p->low); sum += k * c;
		if (w > sum) { long q = sum; sum -= q / 3; } }
	return sum;
}
__attribute__((noinline)) long apply(int (*f)(list_t *, enum color, double), list_t *l, int n)
{
	long r = 0;
	char buf[64];
	for (int i = 0; i < n; i++) { snprintf(buf, sizeof buf, "%d", i); r += f(l, i & 1 ? RED : GREEN, i) + strlen(buf); }
	return r;
}
int main(int argc, char **argv)
{
	list_t b = { 0, "b", 1, 2 }, a = { &b, argv[0], 3, 4 };
	printf("%ld\n", apply(walk, &a, argc * 5));
	return 0;
}
`

const goReaders = `package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sort"
	"strings"
	"text/template"
)

type shape interface{ area() float64 }
type rect struct{ w, h float64 }
type named struct {
	shape
	name string
	tags map[string][]int
	next *named
	hook func(int) (string, error)
}

func (r rect) area() float64 { return r.w * r.h }

func main() {
	n := &named{shape: rect{2, 3}, name: "a", tags: map[string][]int{"x": {1, 2}}}
	n.hook = func(i int) (string, error) {
		if i > len(os.Args) {
			return n.name, errors.New("big")
		}
		return strings.Repeat(n.name, i), nil
	}
	s, err := n.hook(len(n.tags))
	keys := strings.Fields(s + " b c")
	sort.Strings(keys)
	fmt.Println(keys, err, n.area(), netip.MustParseAddr("10.0.0.1"))
	template.Must(template.New("t").Parse("{{.}}\n")).Execute(os.Stdout, keys)
}
`

// TestReaders holds the readers of DWARF against Delve's on whole programs: trees of functions, types, location lists,
// line tables and call frame information. Of programs without DWARF it compares the last.
func TestReaders(t *testing.T) {
	for _, b := range binaries(t) {
		t.Run(b.name, func(t *testing.T) {
			f, err := elffile.Open(b.path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			d, err := dw.Open(f)
			if b.listed && err != nil {
				t.Log("only frames: ", err)
				var fig Figures
				if err := compareFrames(&fig, f); err != nil {
					t.Fatal(err)
				}
				fig.Report(t, 1)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []struct {
				name  string
				run   func(*Figures, *dw.Data) error
				least int
			}{{"trees", compareTrees, 3}, {"types", compareTypes, 10}, {"lists", compareLists, 20},
				{"lines", compareLines, 9}, {"frames", func(f *Figures, d *dw.Data) error {
					return compareFrames(f, d.File())
				}, 50}} {
				t.Run(x.name, func(t *testing.T) {
					var f Figures
					if err := x.run(&f, d); err != nil {
						t.Fatal(err)
					}
					if b.plain {
						x.least = 0
					}
					f.Report(t, x.least)
				})
			}
		})
	}
}

// eachTree calls fn for functions of the program.
func eachTree(d *dw.Data, fn func(u *dw.Unit, own *godwarf.Tree) error) error {
	refs, _, err := d.FindFuncs(func([]byte) bool { return true })
	if err != nil {
		return err
	}
	for i := 0; i < len(refs); i += step(len(refs), 300) {
		own, err := refs[i].Unit.Tree(refs[i].Die)
		if err != nil {
			return err
		}
		if err := fn(refs[i].Unit, own); err != nil {
			return err
		}
	}
	return nil
}

var treeAttrs = []dwarf.Attr{dwarf.AttrName, dwarf.AttrType, dwarf.AttrLocation, dwarf.AttrLowpc, dwarf.AttrHighpc,
	dwarf.AttrDeclLine, dwarf.AttrCallLine, dwarf.AttrConstValue, dwarf.AttrExternal, dwarf.AttrVarParam,
	dwarf.AttrFrameBase}

func compareTrees(f *Figures, d *dw.Data) error {
	var same func(a, b *godwarf.Tree) error
	same = func(a, b *godwarf.Tree) error {
		if a.Tag != b.Tag || a.Offset != b.Offset || len(a.Children) != len(b.Children) {
			return fmt.Errorf("%v %#x with %d below, Delve has %v %#x with %d", a.Tag, a.Offset, len(a.Children),
				b.Tag, b.Offset, len(b.Children))
		}
		for _, attr := range treeAttrs {
			if x, y := a.Val(attr), b.Val(attr); !reflect.DeepEqual(x, y) {
				return fmt.Errorf("%v %#x: %v is %v, Delve has %v", a.Tag, a.Offset, attr, x, y)
			}
		}
		// Delve keeps a range without code if it is the only one.
		b.Ranges = slices.DeleteFunc(b.Ranges, func(r [2]uint64) bool { return r[0] == r[1] })
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
	return eachTree(d, func(_ *dw.Unit, own *godwarf.Tree) error {
		want, err := godwarf.LoadTree(own.Offset, d.DWARF(), 0)
		if err != nil {
			return err
		}
		if err := same(own, want); err != nil {
			f.Wrong("%s: %v", dw.Name(own), err)
		} else {
			f.Equal(1)
		}
		return nil
	})
}

var typeTags = map[dwarf.Tag]bool{dwarf.TagBaseType: true, dwarf.TagStructType: true, dwarf.TagUnionType: true,
	dwarf.TagClassType: true, dwarf.TagEnumerationType: true, dwarf.TagArrayType: true, dwarf.TagPointerType: true,
	dwarf.TagTypedef: true, dwarf.TagConstType: true, dwarf.TagVolatileType: true}

// compareTypes looks at every type entry: how large it is, what it has and where.
func compareTypes(f *Figures, d *dw.Data) error {
	var all []dwarf.Offset
	r := d.DWARF().Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if typeTags[e.Tag] {
			all = append(all, e.Offset)
		}
	}
	cache, ts := map[dwarf.Offset]godwarf.Type{}, dwtype.Of(d)
	for i := 0; i < len(all); i += step(len(all), 1000) {
		own, err := ts.Type(all[i])
		if err != nil {
			return err
		}
		want, err := godwarf.ReadType(d.DWARF(), 0, all[i], cache)
		if err != nil {
			f.Note("types that Delve does not read", 1)
			continue
		}
		if err := sameType(own, want); err != nil {
			f.Wrong("%#x %s: %v", all[i], own.Name, err)
		} else {
			f.Equal(1)
		}
	}
	return nil
}

// bare goes through names and qualifiers.
func bare(t godwarf.Type) godwarf.Type {
	for {
		switch x := t.(type) {
		case *godwarf.TypedefType:
			t = x.Type
		case *godwarf.QualType:
			t = x.Type
		default:
			return t
		}
	}
}

func sameType(own *types.Ctype, want godwarf.Type) error {
	if own.Go && own.Name != want.String() && own.Name != want.Common().Name && want.Common().Name != "" &&
		!strings.HasPrefix(want.Common().Name, ".param") { // a type parameter is called by what it stands for
		return fmt.Errorf("it is called %q by Delve", want.Common().Name)
	}
	w := bare(want)
	if size := want.Size(); own.Size != size && own.Size >= 0 && size > 0 {
		return fmt.Errorf("%d bytes, Delve has %d", own.Size, size)
	}
	var fields []*godwarf.StructField
	switch w := w.(type) {
	case *godwarf.StructType:
		if own.Kind != types.Struct && own.Kind != types.Union {
			break // what Go makes of structures
		}
		if w.Incomplete {
			return nil // only announced here: its definition is in another unit, where Delve does not look
		}
		fields = w.Field
		if got := own.Fields(); len(got) != len(fields) {
			return fmt.Errorf("%d fields, Delve has %d", len(got), len(fields))
		}
	case *godwarf.ArrayType:
		if own.Kind != types.Array {
			return fmt.Errorf("kind %d, Delve has an array", own.Kind)
		}
		if own.Count != w.Count && w.Count >= 0 && !(own.Count <= 0 && w.Count <= 0) {
			return fmt.Errorf("%d elements, Delve has %d", own.Count, w.Count)
		}
	case *godwarf.EnumType:
		got := own.Enums()
		if own.Kind != types.Enum || len(got) != len(w.Val) {
			return fmt.Errorf("kind %d with %d constants, Delve has %d", own.Kind, len(got), len(w.Val))
		}
		for i, v := range w.Val {
			if got[i].Name != v.Name || int32(got[i].Val) != int32(v.Val) {
				return fmt.Errorf("%s is %d, Delve has %s %d", got[i].Name, got[i].Val, v.Name, v.Val)
			}
		}
	}
	for i, w := range fields {
		g := own.Fields()[i]
		if g.Name != w.Name && w.Name != "" || g.BitSize == 0 && g.Off != w.ByteOffset || g.Embedded != w.Embedded &&
			own.Go {
			return fmt.Errorf("field %d is %s at %d, Delve has %s at %d", i, g.Name, g.Off, w.Name, w.ByteOffset)
		}
		if size := w.Type.Size(); g.BitSize == 0 && g.Type.Size != size && g.Type.Size >= 0 && size > 0 {
			return fmt.Errorf("field %s has %d bytes, Delve has %d", g.Name, g.Type.Size, size)
		}
	}
	return nil
}

// sections reads sections of the program or of the file that its debug information is in.
func sections(d *dw.Data) (section func(name string) []byte, closed func()) {
	f, closed := d.File(), func() {}
	if path := f.DebugFile(); path != "" {
		if x, err := elffile.Open(path); err == nil {
			f, closed = x, func() { x.Close() }
		}
	}
	return func(name string) []byte {
		b, err := f.Section(name)
		if err != nil {
			return nil
		}
		return b
	}, closed
}

// compareLists looks up every location at the bounds of its ranges.
func compareLists(f *Figures, d *dw.Data) error {
	section, closed := sections(d)
	defer closed()
	v5, v4 := loclist.NewDwarf5Reader(section(".debug_loclists")), loclist.NewDwarf2Reader(section(".debug_loc"), 8)
	addr := godwarf.ParseAddr(section(".debug_addr"))
	var walk func(u *dw.Unit, cu *dwarf.Entry, t *godwarf.Tree) error
	walk = func(u *dw.Unit, cu *dwarf.Entry, t *godwarf.Tree) error {
		if off, ok := t.Val(dwarf.AttrLocation).(int64); ok {
			list, err := u.Locations(t, dwarf.AttrLocation)
			if err != nil {
				return err
			}
			low, _ := cu.Val(dwarf.AttrLowpc).(uint64)
			base, _ := cu.Val(dwarf.AttrAddrBase).(int64)
			for _, l := range list {
				for _, pc := range []uint64{l.Lo - 1, l.Lo, l.Hi - 1, l.Hi} {
					var rd loclist.Reader = v5
					if u.Version < 5 {
						rd = v4
					}
					var want []byte
					e, err := rd.Find(int(off), 0, low, pc, addr.GetSubsection(uint64(base)))
					if err != nil {
						return err
					}
					if e != nil {
						want = e.Instr
					}
					if got := dwexpr.At(list, pc); !bytes.Equal(got, want) {
						f.Wrong("entry %#x at %#x: %x, Delve has %x", t.Offset, pc, got, want)
					} else {
						f.Equal(1)
					}
				}
			}
		}
		for _, c := range t.Children {
			if err := walk(u, cu, c); err != nil {
				return err
			}
		}
		return nil
	}
	return eachTree(d, func(u *dw.Unit, own *godwarf.Tree) error {
		cu, err := u.Entry()
		if err != nil {
			return err
		}
		return walk(u, cu, own)
	})
}

// compareLines asks both for the statements of each file of a unit.
func compareLines(f *Figures, d *dw.Data) error {
	units, err := d.Units()
	if err != nil {
		return err
	}
	section, closed := sections(d)
	defer closed()
	sec, strs := section(".debug_line"), section(".debug_line_str")
	for i := 0; i < len(units); i += step(len(units), 20) {
		u := units[i]
		e, err := u.Entry()
		if err != nil {
			return err
		}
		off, ok := e.Val(dwarf.AttrStmtList).(int64)
		if !ok {
			continue
		}
		rows, err := u.Rows()
		if err != nil {
			return err
		}
		want := line.Parse(u.CompDir(), bytes.NewBuffer(sec[off:]), strs, nil, 0, false, 8)
		if want == nil {
			f.Note("line tables that Delve does not read", 1)
			continue
		}
		for file, lines := range statements(u, rows) {
			if want.Lookup[file] == nil {
				f.Note("lines of files that Delve calls otherwise, relative to a folder", len(lines))
				continue
			}
			theirs := map[int][]uint64{}
			for n := range lines {
				theirs[n] = nil
			}
			want.AllPCsForFileLines(file, theirs)
			for n, pcs := range lines {
				if !slices.Equal(pcs, theirs[n]) {
					f.Wrong("%s:%d is at %x, Delve has %x", file, n, pcs, theirs[n])
				} else {
					f.Equal(1)
				}
			}
		}
	}
	return nil
}

// statements lists the addresses of each line of each file as Delve does: an address that follows itself in a file is
// left out, and the first address behind a sequence counts as one of its last line.
func statements(u *dw.Unit, rows []dw.Row) map[string]map[int][]uint64 {
	out := map[string]map[int][]uint64{}
	last := map[string]uint64{}
	for _, r := range rows {
		file := u.FileOf(r)
		if !r.Stmt || file == "" || last[file] == r.PC {
			continue
		}
		if out[file] == nil {
			out[file] = map[int][]uint64{}
		}
		out[file][r.Line] = append(out[file][r.Line], r.PC)
		last[file] = r.PC
	}
	return out
}
