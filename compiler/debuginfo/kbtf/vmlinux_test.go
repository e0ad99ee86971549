package kbtf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/cdwarf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/loc"
)

// fakeKernel stands in for vmlinux: a program linked where kernels are.
const fakeKernel = `asm(".text; .globl _stext, _text; _stext: _text:");
struct file { int mode; struct file *next; long pos; };
long counter = 7;
static int hidden;
static inline __attribute__((always_inline)) int twice(struct file *f) {
	int m = f->next->mode;
	return m * 2;
}
__attribute__((noinline)) long vfs_read(struct file *f, char *buf, unsigned long count) {
	long sum = 0;
	for (unsigned long i = 0; i < count; i++)
		sum += buf[i];
	hidden += twice(f);
	counter += sum;
	return sum + f->pos;
}
__attribute__((noinline)) long shrunk(struct file *f, int n) {
	if (n > 1000)
		goto far;
	return f->pos + n + hidden;
far:
	hidden = n;
	return f->pos;
}
void _start(void) {
	struct file a = { 1, &a, 3 };
	char b[4] = "abc";
	counter = vfs_read(&a, b, 3) + shrunk(&a, (int)counter);
	for (;;) ;
}
`

// fakeVmlinux builds it and gives a running kernel that has moved by slide.
func fakeVmlinux(t *testing.T, slide uint64) (*Kernel, string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc: ", err)
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "fake.c"), filepath.Join(dir, "vmlinux")
	if err := os.WriteFile(src, []byte(fakeKernel), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pie", "-mcmodel=kernel",
		"-fno-stack-protector", "-fcf-protection=none", "-Wl,-Ttext=0xffffffff81000000",
		"-Wl,-Tdata=0xffffffff81100000",
		"-Wl,--build-id", "-o", bin, src)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	syms, err := readSymbols(bin)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	syms.Each(func(s Symbol) bool {
		if s.Addr != 0 {
			fmt.Fprintf(&table, "%016x %c %s\n", s.Addr+slide, s.Type, s.Name)
		}
		return true
	})
	fmt.Fprintf(&table, "%016x T _etext\n", 0xffffffff81001000+slide)
	sys := filepath.Join(dir, "sys")
	if err := os.MkdirAll(filepath.Join(sys, "kernel/btf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sys, "kernel/btf/vmlinux"), kbtftest.Kernel().Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return New(Config{Sys: sys, Proc: fakeProc(t, bootID, table.String()), Vmlinux: bin}), bin
}

func lineOf(t *testing.T, text string) int {
	t.Helper()
	for i, l := range strings.Split(fakeKernel, "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatal("no line with ", text)
	return 0
}

func TestVmlinux(t *testing.T) {
	const slide = 0x2400000
	k, bin := fakeVmlinux(t, slide)
	im, err := k.Image("")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := cdwarf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer ref.Close()
	q := debuginfo.LineQuery{Func: "vfs_read", File: "fake.c", Line: lineOf(t, "counter += sum")}
	got, err := im.LineSites(q)
	if err != nil || len(got) == 0 {
		t.Fatal(got, err)
	}
	want, err := ref.LineSites(q)
	if err != nil || len(want) != len(got) {
		t.Fatal(want, got, err)
	}
	s := got[0]
	if s.PC != want[0].PC+slide || s.Func.Name != "vfs_read" || s.Line != q.Line {
		t.Errorf("line at %#x in %s, want %#x", s.PC, s.Func.Name, want[0].PC+slide)
	}
	if sym, off, err := im.Place(s); err != nil || sym != "vfs_read" || off != want[0].PC-want[0].Func.Entry {
		t.Errorf("placed at %s+%#x %v", sym, off, err)
	}
	refs, err := ref.Vars(want[0])
	if err != nil {
		t.Fatal(err)
	}
	live := 0
	for _, w := range refs {
		v, err := im.Var(s, w.Name)
		if (err == nil) != (w.Err == nil) {
			t.Errorf("%s: %v, the file says %v", w.Name, err, w.Err)
		} else if err == nil {
			live++
			if fmt.Sprint(v.Place.Pieces) != fmt.Sprint(w.Place.Pieces) || !v.Place.Kernel {
				t.Errorf("%s is %+v, the file says %+v", w.Name, v.Place, w.Place)
			}
		}
	}
	if live == 0 {
		t.Error("nothing is alive")
	}
	// Statics: their address moves with the kernel.
	for name, from := range map[string]func() (*debuginfo.Var, error){
		"counter": func() (*debuginfo.Var, error) { return im.Global("counter@fake.c") },
		"hidden":  func() (*debuginfo.Var, error) { return im.Var(s, "hidden") },
	} {
		v, err := from()
		at := symAddr(t, k, name)
		if err != nil || !v.Place.InMemory || value(v.Place.Addr) != at || !v.Place.Kernel {
			t.Errorf("%s: %v %v, want %#x", name, v, err, at)
		}
	}
	// Inlined copies, with what is derefenced there.
	copies, err := im.Inlined("twice")
	if err != nil || len(copies) != 1 || copies[0].Site.Func.Name != "vfs_read" ||
		copies[0].CallLine != lineOf(t, "hidden += twice") {
		t.Fatalf("%+v %v", copies, err)
	}
	if f, err := im.Var(copies[0].Site, "f"); err != nil || f.Type.Name != "struct file *" {
		t.Errorf("f of the copy: %+v %v", f, err)
	}
	// Labels.
	ls, err := im.Labels("shr*")
	wl, err2 := ref.Labels("shrunk")
	if err != nil || err2 != nil || len(ls) != 1 || len(wl) != 1 || ls[0].Name != "far" ||
		ls[0].Site.PC != wl[0].Site.PC+slide || ls[0].Site.Func.Name != "shrunk" {
		t.Fatalf("%+v %v, the file says %+v %v", ls, err, wl, err2)
	}
	if n, err := im.Var(ls[0].Site, "n"); err != nil || n.Type.Name != "int" {
		t.Errorf("n at the label: %+v %v", n, err)
	}
	// A declaration's file, and a function that BTF describes otherwise than it is: BTF goes first.
	fs, err := im.SourceFuncs("vfs_*")
	if err != nil || len(fs) != 1 || fs[0].Line != lineOf(t, "long vfs_read") || filepath.Base(fs[0].File) != "fake.c" {
		t.Errorf("%+v %v", fs, err)
	}
	if _, err := im.Global("nothing@fake.c"); err == nil {
		t.Error("a variable that is not there")
	}
}

// value computes a program of constants.
func value(p loc.Prog) uint64 {
	vals := make([]uint64, len(p.Steps))
	for i, s := range p.Steps {
		switch s.Op {
		case loc.Const:
			vals[i] = uint64(s.N)
		case loc.Add:
			vals[i] = vals[s.A] + vals[s.B]
		default:
			return 0
		}
	}
	return vals[len(vals)-1]
}

func symAddr(t *testing.T, k *Kernel, name string) uint64 {
	t.Helper()
	syms, err := k.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return syms.Addr(name)
}

// TestOtherVmlinux: a file of another build, or without DWARF, is not used.
func TestOtherVmlinux(t *testing.T) {
	k, bin := fakeVmlinux(t, 0)
	note := append([]byte{4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0}, "GNU\x00wxyz"...)
	if err := os.WriteFile(filepath.Join(k.cfg.Sys, "kernel/notes"), note, 0o644); err != nil {
		t.Fatal(err)
	}
	why := func(k *Kernel) string {
		im, err := k.Image("")
		if err != nil {
			t.Fatal(err)
		}
		_, err = im.LineSites(debuginfo.LineQuery{Func: "vfs_read", File: "fake.c", Line: 3})
		var needs *NeedsDWARFError
		if !errors.As(err, &needs) {
			t.Errorf("%v", err)
			return ""
		}
		return needs.Why
	}
	if got := why(k); !strings.Contains(got, "another build") {
		t.Error(got)
	}
	os.Remove(filepath.Join(k.cfg.Sys, "kernel/notes"))
	if out, err := exec.Command("strip", "--strip-debug", bin).CombinedOutput(); err != nil {
		t.Skipf("strip: %v %s", err, out)
	}
	if got := why(New(k.cfg)); !strings.Contains(got, "has none") {
		t.Error(got)
	}
}

func TestGNUBuildID(t *testing.T) {
	note := func(name string, kind byte, desc string) []byte {
		b := []byte{byte(len(name)), 0, 0, 0, byte(len(desc)), 0, 0, 0, kind, 0, 0, 0}
		pad := func(s string) []byte { return append([]byte(s), make([]byte, (4-len(s)%4)%4)...) }
		return append(append(b, pad(name)...), pad(desc)...)
	}
	all := bytes.Join([][]byte{note("Xen\x00", 6, "abc"), note("GNU\x00", 3, "abcde"), note("Linux\x00", 0, "z")}, nil)
	if got := gnuBuildID(all); string(got) != "abcde" {
		t.Errorf("%q", got)
	}
	for i := range all {
		gnuBuildID(all[:i])
	}
}
