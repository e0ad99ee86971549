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
#define GS_LEVELS 3
#define GS_SPARES 0
#define GS_STACK 8
#define GS_KEYS 64
#define GS_AGG 2048
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
	gcc := exec.Command("gcc", "-g", "-O1", "-Wall", "-Wno-unused-function", "-Wno-unused-variable",
		"-fsanitize=address,undefined", "-fno-sanitize-recover", "-o", "test", "test.c")
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

// TestTorn: what comes in the middle of an addition to an aggregate and cannot be masked (here a signal) leaves it
// whole: it is added as well, or counted.
func TestTorn(t *testing.T) {
	got := run(t, `#include "gs_user.h"`+noMemory+`
#include <signal.h>
#include <sys/time.h>
#include "gs_stat.h"
static const struct gs_hist hists[] = { { .buckets = 128 } };
static const struct gs_needs needs = { .variance = true, .nhists = 1, .words = 128, .hists = hists };
static struct gs_pcpu stat = { .need = &needs };
static volatile long came;
static void interrupt(int n)
{
	int i;

	(void)n;
	for (i = 0; i < 50; i++)
		gs_pcpu_add(&stat, 7);
	came += 50;
}
int main(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	u64 sum[sizeof(struct gs_agg) / 8 + 128];
	struct gs_agg *a = (struct gs_agg *)sum;
	long i;
	s64 hist = 0;

	if (gs_pcpu_init(&stat))
		return 1;
	signal(SIGALRM, interrupt);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; gs_cpus.causes[GS_LOST_RECURSED] < 200 && i < 2000000000; i++)
		gs_pcpu_add(&stat, 7);
	setitimer(ITIMER_REAL, &never, NULL);
	gs_pcpu_merge(&stat, a, 128);
	for (int k = 0; k < 128; k++)
		hist += a->hist[k];
	if (gs_cpus.causes[GS_LOST_RECURSED] < 200)
		printf("nothing came in the middle\n");
	if (a->count != (s64)(i + came - gs_cpus.causes[GS_LOST_RECURSED]) || a->sum != 7 * a->count || hist != a->count || a->sqlo != 49 * (u64)a->count)
		printf("%ld and %ld: count %lld sum %lld hist %lld lost %llu\n", i, came, a->count, a->sum, hist, gs_cpus.causes[GS_LOST_RECURSED]);
	gs_pcpu_free(&stat);
	return 0;
}
`)
	if got != "" {
		t.Error(got)
	}
}

// TestSpells: whatever goes over a whole array lets interrupts come in between, and the handler of one that finds
// the array's lock taken by its own CPU does not wait.
func TestSpells(t *testing.T) {
	got := run(t, `#include <stdbool.h>
static bool test_off, test_irq;
static long test_work, test_most, test_spins, spells;
static void test_restore(void) { spells++; if (test_work > test_most) test_most = test_work; test_work = 0; test_off = false; }
#define gs_irq_save(f) ((f) = 0, test_off = true)
#define gs_irq_restore(f) ((void)(f), test_restore())
#define in_hardirq() test_irq
#include "gs_user.h"`+noMemory+`
#undef cpu_relax
#define cpu_relax() (test_spins++, test_work++)
#include "gs_iter.h"
#include "gs_scalar.h"
#include "gs_access.h"
#define SIZE 5000
static const struct gs_col cols[] = { { 0, 8, false }, { 8, 8, false } };
static const struct gs_needs needs;
static struct gs_map plain = { .cols = cols, .ncols = 2, .ksize = 16, .vsize = 8, .size = SIZE };
static struct gs_map stats = { .cols = cols, .ncols = 2, .ksize = 16, .vsize = sizeof(struct gs_agg), .size = SIZE, .need = &needs };
static struct gs_glob gs_globs[] = { { GS_G_MAP, &plain }, { GS_G_MAP, &stats } };

static void fill(struct gs_map *m)
{
	u64 key[2];
	s64 was;

	for (key[0] = 0; key[0] < SIZE; key[0]++) {
		key[1] = 1;
		if (m->need ? gs_map_stat(m, key, 3) : gs_map_add(m, key, 3, &was))
			printf("no room\n");
	}
}

static void check(const char *what, struct gs_map *m, int n)
{
	struct gs_iter it = { .map = m };
	struct gs_order order = { 0 };
	u64 key[2] = { 9, 9 }, sum[sizeof(struct gs_agg) / 8];
	struct gs_op op = { .op = GS_OP_ELEMS, .glob = n, .nval = SIZE * (16 + m->vsize) };
	bool open = false;
	s64 v;
	char *val = malloc(op.nval);

	gs_iter_init(&it);
	fill(m);
	spells = 0;
	gs_iter_open(&it, &open, &order, key, 3, SIZE);
	printf("%s: loop %u %s", what, it.n, spells >= SIZE / 64 ? "ok" : "in one");
	spells = 0;
	gs_map_has(m, key, 1, &v);
	printf(", in %s", spells >= SIZE / 64 ? "ok" : "in one");
	if (m->need) {
		spells = 0;
		gs_map_agg(m, key, 3, (struct gs_agg *)sum, 0);
		printf(", sum %llu %s", sum[0], spells >= SIZE / 64 ? "ok" : "in one");
	}
	op.val = (u64)(unsigned long)val;
	spells = 0;
	printf(", elements %d", gs_access(&op));
	printf(" %lld %s", op.n, spells >= SIZE / 64 ? "ok" : "in one");
	spells = 0;
	gs_map_del(m, key, 1);
	printf(", some %u %s", m->count, spells >= SIZE / 64 ? "ok" : "in one");
	spells = 0;
	gs_map_clear(m);
	printf(", all %u %s", m->count, spells >= SIZE / 64 ? "ok" : "in one");
	fill(m);
	spells = 0;
	op.op = GS_OP_CLEAR;
	op.nval = m->vsize;
	op.nkey = 16;
	op.key = (u64)(unsigned long)key;
	printf(", host %d", gs_access(&op));
	printf(" %u %s\n", m->count, spells >= SIZE / 64 ? "ok" : "in one");
	gs_iter_close(&it, open);
	gs_iter_free(&it);
	free(val);
}

int main(void)
{
	struct gs_scalar text = { .cap = 4, .s = (char[5]){ "x" } };
	u64 key[2] = { 1, 1 };
	s64 v;

	gs_map_init(&plain);
	gs_map_init(&stats);
	check("numbers", &plain, 0);
	check("statistics", &stats, 1);
	/* Another CPU has the lock for ever. */
	plain.lock = text.lock = 5;
	plain.heads[0].lock = 5;
	test_most = test_spins = test_work = 0;
	printf("%d %d", gs_map_clear(&plain), gs_scalar_set(&text, "y"));
	printf(", %s with interrupts off\n", test_most <= 64 && test_spins > 1000 ? "short" : "long");
	/* This one, and an interrupt comes. */
	plain.lock = text.lock = 1;
	test_irq = true;
	test_spins = 0;
	printf("%d %d", gs_map_clear(&plain), gs_scalar_set(&text, "y"));
	printf(" after %ld\n", test_spins);
	test_irq = false;
	plain.lock = 0;
	plain.heads[0].lock = 0;
	gs_map_get_long(&plain, key, &v);
	printf("%s\n", test_off ? "interrupts are off" : "interrupts are on");
	gs_map_free(&plain);
	gs_map_free(&stats);
	return 0;
}
`)
	want := `numbers: loop 5000 ok, in ok, elements 0 5000 ok, some 5000 ok, all 0 ok, host 0 0 ok
statistics: loop 5000 ok, in ok, sum 5000 ok, elements 0 5000 ok, some 5000 ok, all 0 ok, host 0 0 ok
4 4, short with interrupts off
4 4 after 0
interrupts are on
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
