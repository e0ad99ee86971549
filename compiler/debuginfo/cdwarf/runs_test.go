package cdwarf

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gostap/gostap/compiler/debuginfo"
)

// runs is a program whose lines have a part that seldom runs, at the same address as code of another line, or
// behind a gap that is filled.
const runs = `#include <stdio.h>
#include <stdlib.h>
volatile int sink;
__attribute__((cold, noinline)) void oops(int n) { sink += n; }
__attribute__((noinline)) int f(int x, int y)
{
	int r = x * y;
	if (__builtin_expect(r > 1000, 0)) oops(r);
	sink += (y < 0) ? (oops(y), abort(), 1) : r;
	return r + 1;
}
__attribute__((noinline)) int g(int x, const char *m) { if (__builtin_expect(x > 100, 0)) { fprintf(stderr, "%s %d\n", m, x); fprintf(stderr, "again\n"); if (x > 1000) abort(); } return x + 1; }
int main(void)
{
	int t = g(5, "w") + g(200, "w");
	for (int i = 0; i < 10; i++) t += f(i, i + 20 * (i > 7));
	return t == 0;
}
`

// tails is a program a line of which begins in code that a branch has to itself, and goes on where all ways meet.
const tails = `unsigned b[8] = {2, 2, 2, 2, 2, 2, 2, 2};
volatile unsigned sink;
__attribute__((cold, noinline)) void oops(unsigned n) { sink += n; }
__attribute__((noinline)) unsigned f(unsigned x, unsigned y)
{
	unsigned z = x + y;
	if (__builtin_expect((b[x & 7] & 3) == 2, 0)) {
		z = y ^ 3;
		oops(x); }
	b[z & 7] = b[x & 7] + y;
	return x ^ z;
}
int main(void)
{
	for (unsigned i = 0; i < 40; i++) sink += f(i * 7, i);
	return 0;
}
`

// threads is a program in which gcc doubles a line: one copy of it begins for itself, and goes on in the other.
const threads = `volatile unsigned sink;
unsigned b[8];
long c[13];
__attribute__((noinline)) unsigned odd(unsigned x, unsigned y)
{
	if (c[0]++, __builtin_expect((x + y) * (x + y) == 3, 0)) sink += y;
	return x;
}
static unsigned f(unsigned x, unsigned y)
{
	unsigned z = x + y;
	c[1]++, y = y + 7;
	if (c[2]++, (x ^ y) & 1) {
	{
	int n = (c[3]++, y - b[x & 7]) & 3;
	for (int i = 0; i < n; i++) {
	c[4]++, x += odd(3 + 7, y & 7);
	if (c[5]++, (b[x & 7] * x) & 1) {
	c[6]++, b[x & 7] = 3 + 3;
	c[7]++, z -= 1; }
	c[8]++, y = b[x & 7] ^ b[x & 7];
	} }
	c[9]++, x = b[x & 7] - y;
	if (c[10]++, __builtin_expect(x == 38, 0)) goto out;
	if (c[11]++, __builtin_expect(x == 25, 0)) goto out;
	c[12]++, x -= 1; }
out:
	return x ^ y;
}
int main(void)
{
	for (unsigned i = 0; i < 30; i++) sink += f(i * 7, i);
	return 0;
}
`

// back is a program in which LLVM has a load of a line again in code that seldom runs, which goes back to the line.
const back = `unsigned b[8] = {3, 0, 3, 0, 3, 0, 3, 0};
long c[9];
volatile unsigned sink;
__attribute__((cold, noinline)) void oops(unsigned n) { sink += n; }
static unsigned f(unsigned x, unsigned y)
{
	unsigned z = x + y;
	if (c[0]++, __builtin_expect((3 ^ b[x & 7]) == 2, 0)) {
		if (c[1]++, __builtin_expect((7 * b[x & 7]) == 4, 0)) {
			c[2]++, oops(y);
		}
		c[3]++, oops(z);
	}
	c[4]++, x = 3 + b[x & 7];
	c[5]++, b[y & 7] = 7 ^ y;
	return x ^ y ^ z;
}
int main(void)
{
	for (unsigned i = 0; i < 30; i++) sink += f(i * 7, i);
	return 0;
}
`

// A line is hit once for each run, be its code behind a mark at the address of another line's code, behind
// instructions that only fill a gap, in pieces that follow each other, or in copies that do.
func TestRuns(t *testing.T) {
	for _, p := range []struct {
		name, src string
		want      map[int]int // by line
	}{
		{"runs.c", runs, map[int]int{7: 10, 8: 10, 9: 10, 10: 10, 12: 2}},
		{"tails.c", tails, map[int]int{10: 40}},
		{"back.c", back, map[int]int{12: 1, 14: 30}},
		{"threads.c", threads, map[int]int{24: 30, 25: 30}},
	} {
		dir := t.TempDir()
		src := filepath.Join(dir, p.name)
		if err := os.WriteFile(src, []byte(p.src), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, cc := range []string{"gcc", "clang"} {
			if _, err := exec.LookPath(cc); err != nil {
				t.Logf("skipped: %s is not installed", cc)
				continue
			}
			for _, level := range []string{"-O0", "-Og", "-O1", "-O2", "-Os", "-O3"} {
				out := filepath.Join(dir, cc+level)
				if msg, err := exec.Command(cc, "-g", level, "-w", "-o", out, src).CombinedOutput(); err != nil {
					t.Fatalf("%s %s: %v\n%s", cc, level, err, msg)
				}
				sameRuns(t, out, p.name, p.want)
			}
		}
	}
}

// sameRuns runs bin and compares how often lines of file are hit.
func sameRuns(t *testing.T, bin, file string, want map[int]int) {
	im := open(t, bin)
	hits, probes := map[int]int{}, map[uint64]func(*state){}
	for line := range want {
		sites, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: file, Line: line})
		if err != nil {
			t.Errorf("%s: line %d: %v", bin, line, err)
		}
		for _, s := range sites {
			old := probes[s.PC]
			probes[s.PC] = func(st *state) {
				if old != nil {
					old(st)
				}
				hits[line]++
			}
		}
	}
	live(t, im.f, probes)
	for line, n := range want {
		if hits[line] != n {
			t.Errorf("%s: line %d of %s: %d hits, want %d", bin, line, file, hits[line], n)
		}
	}
}
