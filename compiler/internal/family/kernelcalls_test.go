package family

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf"
	"github.com/gostap/gostap/compiler/debuginfo/kbtf/kbtftest"
	"github.com/gostap/gostap/compiler/probe"
)

// callingKernel stands in for vmlinux: a program linked where kernels are.
const callingKernel = `asm(".text; .globl _stext, _text, __fentry__; _stext: _text: nop; .type __fentry__, @function; __fentry__: ret;");
#define noinline __attribute__((noinline, noclone))
volatile long seen;
noinline long do_inner(long n) { seen = n; return n * 3; }
noinline long do_outer(long n) { if (n == 5) goto five; return do_inner(n + 1) + 1; five: seen = 1; return do_inner(9) + 2; }
static inline __attribute__((always_inline)) long twice(long n) { return do_inner(n) + seen; }
noinline long vfs_read(long n) { asm volatile("call __fentry__"); return do_outer(n) + twice(n) + 1; }
noinline long vfs_write(long n) { return do_inner(n) + 1; }
void _start(void) { vfs_read(1); vfs_write(2); for (;;) ; }
`

// TestKernelCallees resolves callees and labels of a kernel of which there is a file with DWARF.
func TestKernelCallees(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc: ", err)
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, b []byte) {
		if err := os.WriteFile(file(name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("fake.c", []byte(callingKernel))
	write("btf", kbtftest.Kernel().Bytes())
	cmd := exec.Command("gcc", "-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pie", "-mcmodel=kernel",
		"-fno-stack-protector", "-fcf-protection=none", "-Wl,-Ttext=0xffffffff81000000",
		"-Wl,-Tdata=0xffffffff81100000", "-o", file("vmlinux"), file("fake.c"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command("nm", file("vmlinux")).Output()
	if err != nil {
		t.Skip("no nm: ", err)
	}
	write("map", append(out, "ffffffff81001000 T _etext\n"...))
	k := kbtf.New(kbtf.Config{BTF: file("btf"), Map: file("map"), Vmlinux: file("vmlinux")})
	env := &Env{Kernel: k}
	defer env.Close()
	for _, tt := range []struct {
		point string
		want  []string // symbol, +offset if not at the entry, and how many calls must be on the stack in each way
		error string
	}{
		{`kernel.function("twice")`, []string{"vfs_read+ twice"}, ""},
		{`kernel.function("twice").call`, nil, `no function "twice"`},
		{`kernel.function("twice").return`, nil, `no function "twice"`},
		{`kernel.function("vfs_read").callee("do_outer")`, []string{"do_outer 1"}, ""},
		{`kernel.function("vfs_read").callee("do_inner")`, nil, `vfs_read does not call "do_inner"`},
		{`kernel.function("vfs_read").callee("*")`, []string{"do_outer 1", "vfs_read+ twice"}, ""},
		{`kernel.function("vfs_read").callee("*").call`, []string{"do_outer 1"}, ""},
		{`kernel.function("twice").callee("do_inner")`, []string{"do_inner 1"}, ""},
		{`kernel.function("vfs_*").callees`, []string{"do_outer 1", "vfs_read+ twice", "do_inner 1"}, ""},
		{`kernel.function("vfs_read").callees(2)`, []string{"do_outer 1", "vfs_read+ twice", "do_inner 2 2 1"}, ""},
		{`kernel.function("do_outer").callee("do_inner").return`, nil, "where the kernel is in memory is not known"},
		{`kernel.function(0xffffffff81000010).callees`, nil, "where the kernel is in memory is not known"},
		{`kernel.function("do_outer").label("five")`, []string{"do_outer+ do_outer"}, ""},
		{`kernel.function("do_outer").label("six")`, nil, `do_outer has no label "six"`},
		{`kernel.function("do_auter").label("five")`, nil, `no function "do_auter"`},
	} {
		sites, ds := Resolve(env, request(t, tt.point))
		if tt.error != "" {
			if len(ds) == 0 || !strings.Contains(ds[0].Message, tt.error) {
				t.Errorf("%s: %v, want %q", tt.point, ds, tt.error)
			}
			continue
		}
		var got []string
		for _, s := range sites {
			text := s.Kernel.Symbol
			if s.Kernel.Offset != 0 {
				text += "+ " + s.Func
			}
			for _, w := range s.Callers {
				text += fmt.Sprint(" ", len(w))
				for i, c := range w {
					if c.Return.Empty() || c.Want.Empty() || c.Of == nil || i == 0 && c.Of.Name != s.At.Func.Name {
						t.Errorf("%s: %+v", tt.point, c)
					}
					for _, st := range c.Return.Steps {
						if st.Op.String() == "deref" && !st.Kernel {
							t.Errorf("%s reads the memory of a program: %s", tt.point, c.Return)
						}
					}
				}
			}
			if s.Kind != probe.Kprobe || s.At.Kind == debuginfo.AtEntry != (s.Kernel.Offset == 0) {
				t.Errorf("%s: %v at %v", tt.point, s.Kind, s.At.Kind)
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
			t.Errorf("%s: %q, want %q; %v", tt.point, got, tt.want, ds)
		}
	}
}
