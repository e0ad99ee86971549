package oracle

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// countsC is a program whose functions count their own calls; it prints "name count" for each.
const countsC = `#include <stdio.h>
static long n_leaf, n_walk, n_pick;
__attribute__((noinline)) int leaf(int x) { n_leaf++; __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int walk(int d) { n_walk++; return d == 0 ? leaf(d) : walk(d - 1) + leaf(d); }
__attribute__((noinline)) int pick(int x) { n_pick++; __asm__ volatile(""); return x & 1 ? leaf(x) : 0; }
int main(void) {
	for (int i = 0; i < 50; i++) { walk(i % 7); pick(i); }
	printf("leaf %ld\nwalk %ld\npick %ld\n", n_leaf, n_walk, n_pick);
}
`

// TestCountsC: functions are entered as often as they say.
func TestCountsC(t *testing.T) {
	needRoot(t)
	need(t, "gcc")
	levels := []string{"-O2"}
	if Full() {
		levels = []string{"-O0", "-Og", "-O1", "-O2", "-O3", "-Os"}
	}
	var f Figures
	for _, level := range levels {
		dir := t.TempDir()
		write(t, dir, "counts.c", countsC)
		must(t, dir, nil, "gcc", "-g", level, "-o", "counts", "counts.c")
		script := `global n
probe process("./counts").function("leaf"), process("./counts").function("walk"), process("./counts").function("pick") { n[ppfunc()]++ }
probe end { foreach (k in n) printf("GOT %s %d\n", k, n[k]) }`
		out, errs, err := trace(t, dir, nil, "-e", script, "-c", "./counts")
		if err != nil {
			t.Fatal(err, errs)
		}
		for name, said := range told(out, "") {
			if got := told(out, "GOT ")[name]; got == said {
				f.Equal(1)
			} else {
				f.Wrong("%s: %s %s, it was called %s times", filepath.Join(level, "counts"), name, got, said)
			}
		}
	}
	f.Report(t, 3*len(levels))
}

// told reads lines "PREFIX name value".
func told(out, prefix string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(out) {
		rest, ok := strings.CutPrefix(line, prefix)
		var name, value string
		if n, _ := fmt.Sscan(rest, &name, &value); ok && n == 2 && len(strings.Fields(rest)) == 2 {
			m[name] = value
		}
	}
	return m
}
