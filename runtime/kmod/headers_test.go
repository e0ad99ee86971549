package kmod

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// limits are the definitions that a generated module makes before it includes the headers.
const limits = `
#define GS_MAXSTR 64
#define GS_LOCKS 0
#define GS_TRIES 1000
#define GS_DELAY 0
#define GS_MAXACTION 1
#define GS_MAXNESTING 1
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_SPARES 0
#define GS_STACK 8
#define GS_KEYS 64
#define GS_AGG 8
#define GS_OUT 64
`

// noMemory is for tests that read none.
const noMemory = `
static int gs_test_read(void *dst, unsigned long addr, unsigned int n, bool kernel) { (void)dst; (void)addr; (void)n; (void)kernel; return -14; }
`

// run compiles C against the headers, in user space under the sanitizers, and gives what it prints.
func run(t *testing.T, c string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, Headers); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "test.c"), []byte(limits+c), 0o644); err != nil {
		t.Fatal(err)
	}
	gcc := exec.Command("gcc", "-g", "-O1", "-Wall", "-Wno-unused-function", "-Wno-unused-variable", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-o", "test", "test.c")
	gcc.Dir = dir
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "test")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestKernelAddress: writes go to addresses of the kernel only, on machines with 48 and with 57 bits of them.
func TestKernelAddress(t *testing.T) {
	got := run(t, `#include "gs_user.h"`+noMemory+`
#include "gs_memory.h"
int main(void)
{
	static const u64 at[] = { 0, 8, 0x7fffffffffffULL, 0x800000000000ULL, 0x7fffffffffffffffULL, 0x8000000000000000ULL, 0x8123456789abcdefULL,
		0xfeffffffffffffffULL, 0xff00000000000000ULL, 0xffff7fffffffffffULL, 0xffff800000000000ULL, 0xffffffff81000000ULL,
		0xffffffffff5fffffULL, 0xffffffffff600000ULL, 0xffffffffff600fffULL, 0xffffffffff601000ULL, ~0ULL };
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		printf("%016llx %d %d\n", at[i], gs_kernel_address(at[i], 48), gs_kernel_address(at[i], 57));
	return 0;
}
`)
	want := `0000000000000000 0 0
0000000000000008 0 0
00007fffffffffff 0 0
0000800000000000 0 0
7fffffffffffffff 0 0
8000000000000000 0 0
8123456789abcdef 0 0
feffffffffffffff 0 0
ff00000000000000 0 1
ffff7fffffffffff 0 1
ffff800000000000 1 1
ffffffff81000000 1 1
ffffffffff5fffff 1 1
ffffffffff600000 0 0
ffffffffff600fff 0 0
ffffffffff601000 1 1
ffffffffffffffff 1 1
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
