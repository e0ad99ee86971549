package open

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/dw"
	"github.com/gostap/gostap/compiler/debuginfo/elffile"
	"github.com/gostap/gostap/compiler/foreign"
)

// TestTruncated calls every method of every reader after the file was cut short under it: none may fault, and those
// that have an error to give say what happened.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := write("x.c", "struct s { int a; struct s *next; };\nstruct s glob;\nenum e { E1, E2 };\nstatic inline int "+
		"twice(struct s *p, enum e q) { return p->a * 2 + q; }\n"+"__attribute__((noinline)) int traceme(struct s "+
		"*p, int n) { lab: n += twice(p, E2); if (n < 0) goto lab; return n; }\n"+
		"int main(int argc, char **argv) { glob.a = argc; return traceme(&glob, argc); }\n")
	g := write("x.go", "package main\n\ntype S struct{ A int; Next *S }\n\nvar Glob S\n\nfunc twice(p *S) int { "+
		"return p.A * 2 }\n\n"+
		"//go:noinline\nfunc traceme(p *S, n int) int { return twice(p) + n }\n\nfunc main() { "+
		"println(traceme(&Glob, 1)) }\n")
	mixed := write("m.go", "package main\n\n// static int traceme(int n) { return n + 1; }\n// int twice(int n) { "+
		"return traceme(n) * 2; }\nimport \"C\"\n\nfunc main() { println(C.twice(2)) }\n")
	calls, said := 0, 0
	for _, b := range []struct {
		name string
		cmd  []string
	}{
		{"c", []string{"gcc", "-g", "-O1", c}},
		{"c-compressed", []string{"gcc", "-g", "-O1", "-gz", c}},
		{"c-stripped", []string{"gcc", "-s", c}},
		{"go-uncompressed", []string{"go", "build", "-ldflags=-compressdwarf=false", g}},
		{"go-stripped", []string{"go", "build", "-ldflags=-s -w", g}},
		{"cgo", []string{"go", "build", mixed}},
	} {
		prog := filepath.Join(dir, b.name)
		args := append([]string{}, b.cmd[1:]...)
		args = append(args[:len(args)-1], "-o", prog, args[len(args)-1])
		if out, err := exec.Command(b.cmd[0], args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", b.cmd, err, out)
		}
		good, err := os.ReadFile(prog)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Open(prog)
		if err != nil {
			t.Fatal(err)
		}
		pool := gather(t, whole)
		for _, part := range parts(whole) {
			for m := range part.Type().Methods() {
				n, s := afterCut(t, prog, good, b.name, part.Type(), m.Name, pool)
				calls, said = calls+n, said+s
			}
		}
		whole.Close()
	}
	t.Logf("%d calls, %d of them said that the file had changed", calls, said)
	if said < 100 {
		t.Errorf("only %d calls noticed", said)
	}
}

// parts are the values whose methods are called: the image, the code of the other language in it, the file, its DWARF.
func parts(im debuginfo.Image) (out []reflect.Value) {
	out = append(out, reflect.ValueOf(im))
	if m, ok := im.(debuginfo.Mixed); ok {
		if o := m.Other(); o != nil {
			out = append(out, reflect.ValueOf(o))
		}
	}
	f, err := elffile.Open(im.Path())
	if err != nil {
		return out
	}
	out = append(out, reflect.ValueOf(f))
	if d, err := dw.Open(f); err == nil {
		out = append(out, reflect.ValueOf(d))
		if us, err := d.Units(); err == nil && len(us) > 0 {
			out = append(out, reflect.ValueOf(us[0]))
		}
	}
	return out
}

// gather collects what methods may be called with, by type.
func gather(t *testing.T, im debuginfo.Image) map[reflect.Type][]reflect.Value {
	pool := map[reflect.Type][]reflect.Value{}
	put := func(xs ...any) {
		for _, x := range xs {
			v := reflect.ValueOf(x)
			pool[v.Type()] = append(pool[v.Type()], v)
		}
	}
	put("*", "main.traceme", "traceme", "twice", "struct s", "main.S", "glob", "main.Glob", "E1", ".text",
		".debug_info", ".debug_str", ".symtab")
	put(0, 1, 100, int64(1), true)
	images := []debuginfo.Image{im}
	if m, ok := im.(debuginfo.Mixed); ok && m.Other() != nil {
		images = append(images, m.Other())
	}
	for _, im := range images {
		for _, pattern := range []string{"*traceme", "*main"} {
			fs, err := im.Funcs(pattern)
			if err != nil {
				continue
			}
			for _, f := range fs[:min(len(fs), 2)] {
				put(f, f.Entry, debuginfo.LineQuery{Func: f.Name, Line: f.Line, Nearest: true},
					debuginfo.LineQuery{Func: f.Name, All: true})
				if s, err := im.EntrySite(f); err == nil {
					put(s)
				}
				if ss, _ := im.ReturnSites(f); len(ss) > 0 {
					put(ss[0])
				}
			}
		}
	}
	return pool
}

// afterCut calls one method with each of some arguments, each time on a file that was opened whole and is cut short
// then.
func afterCut(t *testing.T, prog string, good []byte, build string, typ reflect.Type, method string,
	pool map[reflect.Type][]reflect.Value) (calls, said int) {
	m, _ := typ.MethodByName(method)
	var args [][]reflect.Value
	switch n := m.Type.NumIn(); n {
	case 1:
		args = [][]reflect.Value{nil}
	case 2:
		for _, a := range pool[m.Type.In(1)] {
			args = append(args, []reflect.Value{a})
		}
	default:
		row := []reflect.Value{}
		for i := 1; i < n; i++ {
			if have := pool[m.Type.In(i)]; len(have) > 0 {
				row = append(row, have[len(have)-1])
			}
		}
		if len(row) == n-1 && !m.Type.IsVariadic() {
			args = [][]reflect.Value{row}
		}
	}
	for _, a := range args {
		for _, left := range []int64{0, int64(len(good) / 2)} {
			if left != 0 && build != "c" {
				continue // what is behind the end is gone in the same way, and the files of Go are large
			}
			if err := os.WriteFile(prog, good, 0o755); err != nil {
				t.Fatal(err)
			}
			im, err := Open(prog)
			if err != nil {
				t.Fatal(err)
			}
			var on reflect.Value
			for _, p := range parts(im) {
				if p.Type() == typ {
					on = p
				}
			}
			if !on.IsValid() {
				im.Close()
				continue
			}
			if err := os.Truncate(prog, left); err != nil {
				t.Fatal(err)
			}
			calls++
			func() {
				defer foreign.Goroutine()()
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s cut to %d: %v.%s(%s): %v", build, left, typ, method, show(a), r)
					}
				}()
				for _, r := range on.MethodByName(method).Call(a) {
					if err, ok := r.Interface().(error); ok && foreignChanged(err) {
						said++
					}
				}
			}()
			im.Close()
		}
	}
	return calls, said
}

func show(args []reflect.Value) (s string) {
	for _, a := range args {
		s += fmt.Sprintf("%v ", a)
	}
	return s
}

func foreignChanged(err error) bool { return errors.Is(err, foreign.ErrChanged) }
