package cgo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/types"
)

const (
	goSource = `package main

/*
#include "side.h"
*/
import "C"

type node struct{ Left, Right int64 }

var counter int64 = 7

//go:noinline
func walk(n *node) int64 { return n.Left + counter }

func main() {
	println(walk(&node{1, 2}), C.c_walk(nil))
}
`
	cHeader = `struct node { char tag; int value; };
struct string;
extern struct string *text;
enum color { RED = 4, BLUE };
typedef unsigned char uint8;
int c_walk(struct node *n);
`
	cSource = `#include "side.h"
int counter = 3;
uint8 small = 1;
enum color shade = BLUE;
struct string *text;
static int c_static(struct node *n) { return n ? n->value : RED; }
int c_walk(struct node *n) { return c_static(n) + counter; }
int *go_error(void) { return &counter; }
`
)

func build(t *testing.T, args ...string) *Image {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": goSource, "side.h": cHeader, "side.c": cSource,
		"go.mod": "module side\n\ngo 1.24\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", "prog"}, args...), ".")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=1")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f, err := elffile.Open(filepath.Join(dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	im, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im
}

// TestParts: each address is in one of the images, whichever linker put the C code there.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, flag string
		described  bool
	}{{"external", "-ldflags=-linkmode=external", true}, {"internal", "-ldflags=-linkmode=internal", false},
		{"pie", "-buildmode=pie", true}} {
		t.Run(c.name, func(t *testing.T) {
			im := build(t, c.flag)
			part := im.Other()
			if part == nil {
				t.Fatal("no C code")
			}
			if part.Lang() != debuginfo.C || im.Lang() != debuginfo.Go || part.HasTypes() != c.described ||
				(part.NoTypes() == "") != c.described {
				t.Errorf("C: %v, types %v %q", part.Lang(), part.HasTypes(), part.NoTypes())
			}
			var nf *debuginfo.NotFoundError
			for _, x := range []struct {
				name string
				in   debuginfo.Image
				out  debuginfo.Image
				abi  debuginfo.ABI
			}{{"main.walk", im, part, debuginfo.GoABIInternal}, {"c_walk", part, im, debuginfo.SysV},
				{"crosscall2", im, part, debuginfo.SysV}, {"x_cgo_init", part, im, debuginfo.SysV}} {
				fs, err := x.in.Funcs(x.name)
				if err != nil || len(fs) != 1 || fs[0].ABI != x.abi {
					t.Errorf("%s: %+v %v", x.name, fs, err)
					continue
				}
				if fs, err := x.out.Funcs(x.name); !errors.As(err, &nf) {
					t.Errorf("%s is in the other image too: %+v %v", x.name, fs, err)
				}
				pc := fs[0].Entry
				if f := x.out.FuncAt(pc); f != nil {
					t.Errorf("%s is at %#x in the other image", f.Name, pc)
				}
				if f := x.in.FuncAt(pc); f == nil || f.Name != x.name {
					t.Errorf("%#x is %v, not %s", pc, f, x.name)
				}
				if _, err := x.out.SiteAt(pc); err == nil {
					t.Errorf("the other image has a site at %s", x.name)
				}
				for _, any := range []debuginfo.Image{im, part} {
					if fr := any.Lookup(pc); len(fr) == 0 || fr[len(fr)-1].Func != x.name {
						t.Errorf("%#x is looked up as %v", pc, fr)
					}
				}
			}
			fs, _ := part.Funcs("*")
			for _, f := range fs {
				if f.Name != "c_walk" && f.Name != "go_error" && f.Name != "c_static" {
					t.Errorf("* means %s in C", f.Name)
				}
			}
			if c.described != (len(fs) >= 2) {
				t.Errorf("%d functions of C", len(fs))
			}
			g := part.Goroutine(debuginfo.Site{})
			if g == nil || !g.System || g.G.Empty() || g.CurG < 0 || g.NCgo < 0 {
				t.Errorf("goroutine in C: %+v", g)
			}
			if g := im.Goroutine(debuginfo.Site{}); g == nil || g.System {
				t.Errorf("goroutine in Go: %+v", g)
			}
		})
	}
}

// TestNames: types and variables are those of the language that asks, and of the other where it has none of that name.
func TestNames(t *testing.T) {
	im := build(t)
	part := im.Other()
	member := func(img debuginfo.Image, name string) string {
		ty, err := img.Type(name)
		if err != nil {
			return err.Error()
		}
		for ty.Kind == types.Pointer {
			ty = ty.Elem()
		}
		if fs := ty.Fields(); len(fs) > 0 {
			return fs[0].Name
		}
		return ty.Name
	}
	for _, c := range []struct {
		img        debuginfo.Image
		name, want string
	}{
		{part, "struct node", "tag"}, {im, "struct node", "tag"}, {im, "main.node", "Left"}, {im, "*main.node", "Left"},
		{part, "main.node", "Left"},
	} {
		if got := member(c.img, c.name); got != c.want {
			t.Errorf("%v %s begins with %s, want %s", c.img.Lang(), c.name, got, c.want)
		}
	}
	if ty, err := part.Type("uint8"); err != nil || ty.Go {
		t.Errorf("uint8 of C: %+v %v", ty, err)
	}
	if ty, err := im.Type("uint8"); err != nil || !ty.Go {
		t.Errorf("uint8 of Go: %+v %v", ty, err)
	}
	if ty, err := part.Type("int"); err != nil || ty.Size != 4 {
		t.Errorf("int of C: %+v %v", ty, err)
	}
	if ty, err := im.Type("int"); err != nil || ty.Size != 8 {
		t.Errorf("int of Go: %+v %v", ty, err)
	}
	// C only declares struct string; Go's string, a structure to DWARF, is not that.
	if v, err := part.Global("text"); err != nil || len(v.Type.Elem().Fields()) != 0 {
		t.Errorf("text: %+v %v", v, err)
	}
	for _, c := range []struct {
		img  debuginfo.Image
		name string
		size int64
	}{{part, "counter", 4}, {im, "counter", 4}, {im, "main.counter", 8}, {part, "main.counter", 8},
		{part, "counter@side.c", 4}} {
		if v, err := c.img.Global(c.name); err != nil || v.Err != nil || v.Type.Size != c.size {
			t.Errorf("%v %s: %+v %v", c.img.Lang(), c.name, v, err)
		}
	}
	for _, img := range []debuginfo.Image{im, part} {
		if ty, err := img.(debuginfo.Enums).Enum("BLUE"); err != nil || ty.Name != "enum color" {
			t.Errorf("%v: BLUE is of %+v %v", img.Lang(), ty, err)
		}
	}
	var nf *debuginfo.NotFoundError
	for _, name := range []string{"main.nothing", "nothing"} {
		for _, img := range []debuginfo.Image{im, part} {
			if _, err := img.Global(name); !errors.As(err, &nf) {
				t.Errorf("%v %s: %v", img.Lang(), name, err)
			}
			if _, err := img.Type(name); !errors.As(err, &nf) {
				t.Errorf("%v type %s: %v", img.Lang(), name, err)
			}
		}
	}
}

// TestPure: a program without C has no other part.
func TestPure(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() { println(1) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "prog")
	if msg, err := exec.Command("go", "build", "-o", out, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	f, err := elffile.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	im, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	if o := im.Other(); o != nil {
		t.Errorf("it has C: %v", o)
	}
	if _, err := im.Enum("X"); err == nil {
		t.Error("it has an enumeration")
	}
}
