package cdwarf

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

const foldC = `
#include <stdio.h>
struct a { int x, y; };
struct b { float f; int q; };
#define OUT __attribute__((noinline, noclone))
static OUT int sa(struct a *p) { if (!p) puts("null"); return p != 0; }
static OUT int sb(struct b *p) { if (!p) puts("null"); return p != 0; }
OUT int real(int x) { printf("%d\n", x); return x; }
int also(int x) __attribute__((alias("real")));
int weakly(int x) __attribute__((weak, alias("real")));
static OUT int alone(int x) { puts("alone"); return x; }
extern int other(int);
extern inline __attribute__((gnu_inline, always_inline)) int quick(int x) { return x + 1; }
int labelled(int x) __asm__("inside");
OUT int labelled(int x) { puts("labelled"); return x; }
extern int outside(int x) __attribute__((alias("inside")));
int main(int c, char **v)
{
	struct a a = {c, 2};
	struct b b = {1.5, 4};
	return sa(&a) + sb(&b) + real(c) + also(c) + weakly(c) + alone(c) + other(c) + quick(c) + labelled(c) +
		outside(c);
}
`

// otherC has a function of its own that is called as the alias of another file is.
const otherC = `
#include <stdio.h>
static __attribute__((noinline, noclone)) int also(int y) { puts("its own"); return y + 1; }
int other(int y) { return also(y) * 2; }
int quicker(int x) { return x + 1; }
int quick(int x) __attribute__((alias("quicker")));
`

const foldCpp = `
struct A { int x; __attribute__((noinline)) A(int i) : x(i) {} 
	__attribute__((noinline)) int get() const { return x; } };
struct B { int y; __attribute__((noinline)) B(int i) : y(i) {} 
	__attribute__((noinline)) int get() const { return y; } };
template <class T> __attribute__((noinline)) T *same(T *p) { return p; }
int main(int c, char **) { A a(c); B b(c); return same(&a)->get() + same(&b)->get(); }
`

const foldRust = `
pub struct A { pub n: u32, pub s: String }
pub struct B { pub s: String, pub n: u64 }
#[no_mangle] #[inline(never)] pub fn see_a(v: &A) { std::hint::black_box(v); }
#[no_mangle] #[inline(never)] pub fn see_b(v: &B) { std::hint::black_box(v); }
#[no_mangle] #[inline(never)] pub fn differs(v: &A) -> u32 { std::hint::black_box(v).n + 1 }
fn main() {
    let (a, b) = (A { n: 1, s: String::new() }, B { s: String::new(), n: 2 });
    see_a(&a); see_b(&b); differs(&a);
}
`

// TestTwins: code that the compiler or the linker has made of several functions is told, under each of their names, and
// has no variables; aliases are no such functions. An instantiation that was folded is found as the one that was kept.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		name string
		text map[string]string
		cmd  []string
		want map[string]string
	}{
		{"gcc", map[string]string{"a.c": foldC, "b.c": otherC}, []string{"gcc", "-g", "-O2", "a.c", "b.c"},
			map[string]string{"sa": "sb", "sb": "sa", "real": "", "also": "", "weakly": "", "alone": "",
				"main": "", "quick": "", "quicker": "", "inside": "", "outside": ""}},
		{"gcc -O0", map[string]string{"a.c": foldC, "b.c": otherC}, []string{"gcc", "-g", "-O0", "a.c", "b.c"},
			map[string]string{"sa": "", "sb": "", "real": "", "also": "", "weakly": "", "alone": "",
				"quick": "", "quicker": "", "inside": "", "outside": ""}},
		{"clang", map[string]string{"a.c": foldC, "b.c": otherC}, []string{"clang", "-w", "-g", "-O2", "a.c", "b.c"},
			map[string]string{"real": "", "also": "", "weakly": "", "alone": "",
				"quick": "", "quicker": "", "inside": "", "outside": ""}},
		{"gold", map[string]string{"a.cc": foldCpp}, []string{"g++", "-g", "-O1", "-ffunction-sections",
			"-fuse-ld=gold", "-Wl,--icf=all", "a.cc"},
			map[string]string{"A::get": "B::get", "B::get": "A::get", "A::A": "B::B", "B::B": "A::A",
				"same<A>": "same<B>", "same<B>": "same<B>", "main": ""}},
		{"rustc", map[string]string{"a.rs": foldRust}, []string{"rustc", "-g", "-O", "-o", "a.out", "a.rs"},
			map[string]string{"see_a": "see_b", "see_b": "see_a", "differs": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.cmd[0]); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			for name, text := range c.text {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(c.cmd[0], c.cmd[1:]...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("%v: %s", err, out)
			}
			im := open(t, filepath.Join(dir, "a.out"))
			for name, want := range c.want {
				fs, err := im.Funcs(name)
				if err != nil {
					t.Error(err)
					continue
				}
				for _, f := range fs {
					if f.Twins != want && !(name == "also" && f.Twins == "") {
						t.Errorf("%s: %q, want %q", name, f.Twins, want)
					}
					s, err := im.EntrySite(f)
					if err != nil {
						t.Error(err)
						continue
					}
					if _, err := im.Vars(s); errors.Is(err, debuginfo.ErrUndescribed) != (want != "") {
						t.Errorf("%s: variables: %v", name, err)
					}
				}
			}
		})
	}
}

// TestFoldedOnce: all of a program's units are looked through once, also for symbols that share their address with none
// that is asked about: a program of Go and C with 40,000 functions has thousands of them.
func TestFoldedOnce(t *testing.T) {
	im := open(t, build(t, "O2"))
	fs, err := im.Funcs("main")
	if err != nil || len(fs) != 1 {
		t.Fatal(fs, err)
	}
	fn, err := im.of(fs[0])
	if err != nil {
		t.Fatal(err)
	}
	var first uintptr
	for _, symbol := range []string{"none", "nor this", "none"} {
		if is, err := im.folded(fn, symbol); is || err != nil {
			t.Fatal(symbol, is, err)
		}
		now := reflect.ValueOf(im.folds).Pointer()
		if first != 0 && now != first {
			t.Errorf("%s: looked through again", symbol)
		}
		first = now
	}
}
