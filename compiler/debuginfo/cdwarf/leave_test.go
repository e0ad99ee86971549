package cdwarf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// leaving has functions that are left in all ways that compilers know.
const leaving = `#include <stdlib.h>
#define NI __attribute__((noinline))
extern volatile int sink;
volatile int sink;
NI int leaf(int x) { sink = x; return x * 3; }
NI int twice(int x) { if (x > 3) { sink = 1; return leaf(x) + 1; } sink = 2; return x; }
NI int tail(int x) { sink = x; return leaf(x + 1); }
NI int pointer(int (*f)(int), int x) { sink = x; return f(x); }
struct ops { int (*get)(int), (*put)(int); };
NI int member(struct ops *o, int x) { sink = x; return o->put(x); }
static int (*const table[])(int) = {leaf, twice, tail, leaf};
NI int array(int i) { sink = i; return table[i & 3](i); }
NI int choose(int x) {
	switch (x) {
	case 0: sink = 4; return 7; case 1: sink = 9; return x + 12; case 2: return leaf(x) + 2; case 3: return 99; case 4: sink = 1; return sink;
	case 5: return leaf(3) + 4; case 6: sink = 8; return 2; case 7: return x * x; case 8: return sink - 1; default: return 0;
	}
}
NI int framed(int *p, int n) { int v[16]; for (int i = 0; i < 16; i++) v[i] = leaf(i + n); for (int i = 0; i < n; i++) switch (p[i]) {
	case 0: v[0] += leaf(1); break; case 1: v[1] -= 2; break; case 2: v[2] ^= 7; break; case 3: v[3] = leaf(v[4]); break; case 4: v[4]++; break; case 5: v[5] *= 3; break;
	case 6: v[6] = 1; break; case 7: v[7] = leaf(0); break; } return v[n & 15]; }
NI int unlikely(int x) { int r = leaf(x); if (__builtin_expect(r > 1000, 0)) { sink = r; if (leaf(r) > 5) { sink++; return leaf(2) + 1; } abort(); } return r + sink; }
NI void never(int x) { sink = x; exit(x); }
int main(int argc, char **argv) { struct ops o = {leaf, tail}; never(twice(argc) + pointer(tail, 1) + member(&o, 2) + array(argc) + choose(argc) + framed(&argc, 1) + unlikely(argc)); }
`

// TestReturnSites finds the ways out of what compilers make, and the same ones when only the dynamic symbols are left.
func TestReturnSites(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "leaving.c")
	if err := os.WriteFile(src, []byte(leaving), 0o644); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, cc := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(cc); err != nil {
			t.Logf("skipped: %s is not installed", cc)
			continue
		}
		for _, flags := range []string{"-O0", "-O2", "-O2 -fcf-protection=full", "-O2 -no-pie -fno-pie", "-Os",
			"-O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer"} {
			name := cc + " " + flags
			full, bare := filepath.Join(dir, "full"), filepath.Join(dir, "bare")
			args := append(strings.Fields(flags), "-g", "-rdynamic", "-o", full, src)
			if msg, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, msg)
			}
			if msg, err := exec.Command("strip", "-o", bare, full).CombinedOutput(); err != nil {
				t.Skipf("strip: %v\n%s", err, msg)
			}
			whole, stripped := ways(t, full), ways(t, bare)
			for fn, want := range map[string]string{"leaf": "r", "twice": "r", "choose": "r", "framed": "r",
				"unlikely": "r", "never": "never", "tail": "t", "pointer": "t", "member": "t", "array": "t"} {
				if flags == "-O0" && want == "t" {
					want = "r"
				}
				got, _, _ := strings.Cut(whole[fn], " ")
				if got != want && !(want == "r" && got == "rt") {
					t.Errorf("%s: %s is left by %q, want %s", name, fn, whole[fn], want)
				}
				if stripped[fn] != whole[fn] && !strings.Contains(flags, "-fno-asynchronous") {
					t.Errorf("%s: %s is left by %q, stripped by %q", name, fn, whole[fn], stripped[fn])
				}
				compared++
			}
		}
	}
	if compared == 0 {
		t.Skip("no compiler of C is installed")
	}
}

// ways gives, for each function of a file, the kinds of its exits and where they are.
func ways(t *testing.T, path string) map[string]string {
	t.Helper()
	im, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	funcs, err := im.Funcs("*")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, fn := range funcs {
		sites, err := im.ReturnSites(fn)
		if _, never := err.(*debuginfo.NoReturnError); never {
			out[fn.Name] = "never"
			continue
		} else if err != nil {
			out[fn.Name] = err.Error()
			continue
		}
		kinds, at := "", ""
		for _, s := range sites {
			k := "r"
			if s.Kind == debuginfo.AtTail {
				k = "t"
			}
			if !strings.Contains(kinds, k) {
				kinds += k
			}
			at += fmt.Sprintf(" %x", s.PC)
		}
		if kinds == "tr" {
			kinds = "rt"
		}
		out[fn.Name] = kinds + at
	}
	return out
}

// TestJumpedTo: a function whose first instruction runs more than once a call is not probed there.
func TestJumpedTo(t *testing.T) {
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "again.s"), filepath.Join(dir, "again")
	text := `.globl main, loop, marked
.type loop, @function
loop: push %rax
 pop %rax
 dec %edi
 jnz loop
 ret
.size loop, . - loop
.type marked, @function
marked: endbr64
1: push %rax
 pop %rax
 dec %edi
 jnz 1b
 ret
.size marked, . - marked
.type main, @function
main: push %rbx
 call loop
 call marked
 pop %rbx
 ret
.size main, . - main
`
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-o", bin, src).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, msg)
	}
	im, err := Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	for name, want := range map[string]int64{"loop": -1, "marked": 0, "main": 0} {
		fs, err := im.Funcs(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := im.EntrySite(fs[0])
		switch {
		case want < 0 && (err == nil || !strings.Contains(err.Error(), "also the target of a jump")):
			t.Errorf("%s: %+v, %v", name, s, err)
		case want >= 0 && (err != nil || s.PC != fs[0].Entry+uint64(want)):
			t.Errorf("%s: entered at %#x, %v", name, s.PC-fs[0].Entry, err)
		}
	}
}
