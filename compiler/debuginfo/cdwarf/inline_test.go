package cdwarf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// TestInlinedParameters: the parameters of an inlined copy come in the order of the declaration. gcc lists them
// from the last to the first.
func TestInlinedParameters(t *testing.T) {
	src := filepath.Join(t.TempDir(), "clamp.c")
	if err := os.WriteFile(src, []byte(`volatile int sink;
static inline int clamp(int x, int lo, int hi) { if (x < lo) sink++; if (x > hi) sink += 2; return x < lo ? lo : x > hi ? hi : x; }
int main(int c, char **v) { for (int i = 0; i < 3; i++) sink += clamp(c + i * 7, c + 3, c + 9); return 0; }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	im := open(t, compile(t, "clamp", "-O2 -g", src))
	copies, err := im.Inlined("clamp")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range copies {
		vars, err := im.Vars(in.Site)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range vars {
			if v.Kind == debuginfo.Param {
				names = append(names, v.Name)
			}
		}
		if got := strings.Join(names, " "); got != "x lo hi" {
			t.Errorf("at %#x: %s", in.Site.PC, got)
		}
	}
}

// TestMovedOut: gcc's scheduler moves the code of the caller to where a copy is entered, so that this lies outside of
// what is left of the copy; and it splits functions in two, of which the second part is no call, inlined or not.
func TestMovedOut(t *testing.T) {
	src := filepath.Join(t.TempDir(), "moved.c")
	if err := os.WriteFile(src, []byte(`#include <stdio.h>
struct top { long n, *table; };
volatile long calls;
static long *at(struct top *t, long i) { return i < t->n ? t->table + i : &t->n; }
static long *pick(struct top *t, long i) {
	calls++;
	if (i > 0) return i < t->n ? t->table + i : &t->n;
	else if (i > -1000) return t->table - i;
	else return &t->n;
}
__attribute__((noinline)) void show(struct top *t, long i) {
	long *p = at(t, i);
	printf("%ld\n", *p);
	printf("%ld\n", *p + t->n);
}
__attribute__((noinline)) long get(struct top *t, long i) { long *p = pick(t, i); return p ? *p * 2 : 7; }
__attribute__((noinline)) void set(struct top *t, long i, long v) { long *p = pick(t, i); *p = v; }
__attribute__((noinline)) long len(struct top *t, long i, long j) {
	long *p = pick(t, i), *q = pick(t, j);
	return *p + *q;
}
int main(int c, char **v) {
	long a[9] = {c};
	struct top t = {c, a};
	show(&t, c);
	set(&t, c, c);
	return get(&t, c) + len(&t, c, c + 1);
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	im := open(t, compile(t, "moved", "-O2 -g", src))
	for name, n := range map[string]int{"at": 1, "pick": 4} {
		copies, err := im.Inlined(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(copies) != n {
			t.Errorf("%s: %d copies, want %d", name, len(copies), n)
		}
		for _, in := range copies {
			v, err := im.Var(in.Site, "i")
			if err != nil || v.Err != nil {
				t.Errorf("%s at %#x: %v, %+v", name, in.Site.PC, err, v)
			}
		}
		if fs, err := im.Funcs(name + "*"); err == nil {
			t.Errorf("%s: a part of it is a function: %+v", name, fs[0])
		}
	}
}
