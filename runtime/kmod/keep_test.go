package kmod

import "testing"

// TestKeep: threads that keep the same stacks at the same time get one number for each, equal ones alone share it, and
// what does not fit any more is refused.
func TestKeep(t *testing.T) {
	got := run(t, `#define GS_KEEP 6
#include "gs_user.h"`+noMemory+`
#include "gs_keep.h"
#include <pthread.h>
enum { THREADS = 4, STACKS = 3000 };
static s64 number[THREADS][STACKS];

/* Stacks that differ in one word, or in their length alone. */
static void make(struct gs_ctx *c, u32 i)
{
	u32 n = 1 + i % GS_KEEP, j;

	c->kept[0] = (u64)GS_KEEP << 32 | n;
	c->kept[1] = (u64)1 << 32 | i / 1000;
	for (j = 0; j < GS_KEEP; j++)
		c->kept[2 + j] = j < n ? 0x400000 + i / 7 % 150 : 0;
	c->kept[1 + n] += (u64)i << 40;
}

static void *work(void *arg)
{
	long me = (long)arg;
	struct gs_ctx *c = calloc(1, sizeof(*c));
	u32 i;

	for (i = 0; i < STACKS; i++) {
		u32 at = me & 1 ? STACKS - 1 - i : i;

		make(c, at);
		if (gs_keep(c, 0, &number[me][at]))
			abort();
	}
	free(c);
	return NULL;
}

int main(void)
{
	static char taken[GS_KEPT_MOST + 1];
	struct gs_ctx *c = calloc(1, sizeof(*c));
	pthread_t th[THREADS];
	u32 i, errors = 0, kept = 0;
	s64 n;
	long k;

	if (gs_kept_init())
		return 1;
	for (k = 0; k < THREADS; k++)
		pthread_create(&th[k], NULL, work, (void *)k);
	for (k = 0; k < THREADS; k++)
		pthread_join(th[k], NULL);
	for (i = 0; i < STACKS; i++) {
		make(c, i);
		for (k = 0; k < THREADS; k++)
			if (number[k][i] != number[0][i])
				printf("stack %u has numbers %lld and %lld\n", i, number[0][i], number[k][i]);
		if (taken[number[0][i]]++)
			printf("number %lld is that of two\n", number[0][i]);
		if (memcmp(gs_kept_stack(number[0][i]), c->kept, sizeof(c->kept)))
			printf("stack %u is another one\n", i);
	}
	c->kept[0] = (u64)GS_KEEP << 32;
	i = gs_keep(c, 0, &n);
	printf("empty %d %lld\n", i, n);
	printf("none %d %d\n", !gs_kept_stack(0), !gs_kept_stack(GS_KEPT_MOST));
	for (i = STACKS; i < GS_KEPT_MOST + 1000; i++) {
		make(c, i);
		if (gs_keep(c, 7, &n))
			errors++;
		else
			kept++;
	}
	/* Numbers that threads lost to each other are unused. */
	printf("full %d, all %d: %s at %d\n", errors >= 1000, errors + kept == GS_KEPT_MOST + 1000 - STACKS, c->err.text, c->err.pos);
	make(c, 5);
	i = gs_keep(c, 0, &n);
	printf("known %d %d\n", i, n == number[0][5]);
	gs_kept_free();
	free(c);
	return 0;
}
`)
	want := "empty 0 0\nnone 1 1\nfull 1, all 1: no room for another stack: 16384 are kept at 7\nknown 0 1\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
