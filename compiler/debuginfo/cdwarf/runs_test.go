package cdwarf

import (
	"os"
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

// A line is hit once for each run, be its code behind a mark at the address of another line's code, or behind
// instructions that only fill a gap.
func TestRuns(t *testing.T) {
	src := filepath.Join(t.TempDir(), "runs.c")
	if err := os.WriteFile(src, []byte(runs), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-g -O0", "-g -Og", "-g -O1", "-g -O2", "-g -Os", "-g -O3"} {
		im := open(t, compile(t, "runs"+flags[3:], flags, src))
		hits, probes := map[int]int{}, map[uint64]func(*state){}
		want := map[int]int{7: 10, 8: 10, 9: 10, 10: 10, 12: 2}
		for line := range want {
			sites, err := im.LineSites(debuginfo.LineQuery{Func: "*", File: "runs.c", Line: line})
			if err != nil {
				t.Errorf("%s: line %d: %v", flags, line, err)
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
				t.Errorf("%s: line %d: %d hits, want %d", flags, line, hits[line], n)
			}
		}
	}
}
