/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Four threads, each a CPU, on the same maps, one aggregate and one lock. */
static __thread int test_cpu;
#define GS_TEST_CPU test_cpu
#define GS_TEST_CPUS 4
#define GS_MAXSTR 64
#define GS_LOCKS 1
#define GS_TRIES 0x7ffffff0
#define GS_MAP_TRIES 0x7ffffff0	/* holders are preempted here, unlike in the kernel */
#define GS_DELAY 0
#define GS_MAXACTION 1000
#define GS_MAXNESTING 1
#define GS_MAXERRORS 0
#define GS_LEVELS 1
#define GS_STACK 64
#define GS_KEYS 32
#define GS_AGG 64
#define GS_OUT 64
#define ROUNDS 20000

#include <pthread.h>
#include "gs_iter.h"

static const struct gs_col cols[] = { { 0, 8, false }, { 8, 16, true } };
static const struct gs_needs needs = { .variance = true };
static struct gs_map longs = { .cols = cols, .ncols = 2, .ksize = 24, .vsize = 8, .size = 16 };
static struct gs_map aggs = { .cols = cols, .ncols = 1, .ksize = 8, .vsize = sizeof(struct gs_agg), .size = 4, .wrap = true, .need = &needs };
static struct gs_map sums = { .cols = cols, .ncols = 1, .ksize = 8, .vsize = sizeof(struct gs_agg), .size = 32, .need = &needs };
static struct gs_map texts = { .cols = cols, .ncols = 1, .ksize = 8, .vsize = 16, .size = 8, .wrap = true };
static struct gs_pcpu stat = { .need = &needs };
static struct gs_iter loop = { .map = &longs };
static s64 guarded;
static atomic64_t counted = ATOMIC64_INIT(0);

static void *work(void *arg)
{
	static const struct gs_order order = { .by = 'v', .desc = true };
	u64 key[4];
	char text[16];
	s64 v;
	int i;

	test_cpu = (int)(long)arg;
	for (i = 0; i < ROUNDS; i++) {
		gs_key_long(key, 0, i % 8);
		gs_key_text(key, 8, 16, 15, i % 2 ? "odd" : "even");
		if (gs_map_add(&longs, key, 1, &v))
			return "add";
		gs_map_stat(&aggs, key, i);
		if (gs_map_stat(&sums, key, i & 3))
			return "stat";
		/* Elements of this one come and go; its values are never half of one. */
		gs_key_long(key, 0, i % 16);
		if (gs_map_set_text(&texts, key, i % 2 ? "aaaaaaaaaaaaaa" : "bbbbbbbbbbbbbb", 15))
			return "set";
		gs_key_long(key, 0, (i + test_cpu) % 16);
		if (gs_map_get_text(&texts, key, text, 15) || (text[0] && (strlen(text) != 14 || text[0] != text[13])))
			return "text";
		if (i % 7 == 0)
			gs_map_del(&texts, key, i % 2);
		if (i % 1024 == 0)
			gs_map_clear(&aggs);
		gs_pcpu_add(&stat, i);
		atomic64_add(1, &counted);
		if (gs_try(&gs_locks[0], GS_TRIES, 0)) {
			guarded++;
			gs_release(&gs_locks[0]);
		} else {
			return "lock";
		}
		if (i % 512 == 0) {
			bool open = false;

			if (gs_iter_open(&loop, &open, &order, key, 3, 5) == GS_OK) {
				s64 before = 0x7fffffffffffffffLL;

				while (gs_iter_next(&loop)) {
					v = gs_iter_long(&loop, 24);
					if (v > before)
						return "order";
					before = v;
				}
			}
			gs_iter_close(&loop, open);
		}
	}
	return NULL;
}

/* Whether the list, the chains and the free elements of a map are all of it. */
static bool whole(struct gs_map *m)
{
	u32 n = 0, chained = 0, unused = 0, i, b, before = GS_NIL;

	for (i = m->first; i != GS_NIL; i = gs_node(m, i)->after) {
		if (gs_node(m, i)->before != before)
			return false;
		before = i;
		n++;
	}
	for (b = 0; b < m->buckets; b++)
		for (i = m->heads[b].head; i != GS_NIL; i = gs_node(m, i)->next)
			chained += (gs_node(m, i)->hash & (m->buckets - 1)) == b;
	for (i = m->free; i != GS_NIL; i = gs_node(m, i)->next)
		unused++;
	return m->last == before && n == m->count && chained == n && n + unused == m->size;
}

int main(void)
{
	pthread_t t[4];
	u64 sum[16], key[4];
	void *bad;
	s64 v, total = 0;
	long i;

	if (gs_map_init(&longs) || gs_map_init(&aggs) || gs_map_init(&sums) || gs_map_init(&texts) || gs_pcpu_init(&stat) || gs_iter_init(&loop))
		return 2;
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		if (bad) {
			puts(bad);
			return 1;
		}
	}
	for (i = 0; i < 8; i++) {
		gs_key_long(key, 0, i);
		gs_key_text(key, 8, 16, 15, i % 2 ? "odd" : "even");
		gs_map_get_long(&longs, key, &v);
		total += v;
	}
	if (!whole(&longs) || !whole(&aggs) || !whole(&sums) || !whole(&texts)) {
		puts("a map is damaged");
		return 1;
	}
	if (gs_map_agg(&sums, key, 1, (struct gs_agg *)sum, 0) || ((struct gs_agg *)sum)->count != 4 * ROUNDS || ((struct gs_agg *)sum)->sum != 6 * ROUNDS) {
		printf("sums %lld %lld\n", ((struct gs_agg *)sum)->count, ((struct gs_agg *)sum)->sum);
		return 1;
	}
	gs_key_long(key, 0, 3);
	if (gs_map_del(&sums, key, 0) || gs_map_agg(&sums, key, 0, (struct gs_agg *)sum, 0) || ((struct gs_agg *)sum)->count != 0)
		return 1;
	gs_pcpu_merge(&stat, (struct gs_agg *)sum, 0);
	if (total != 4 * ROUNDS || guarded != 4 * ROUNDS || atomic64_read(&counted) != 4 * ROUNDS || ((struct gs_agg *)sum)->count != 4 * ROUNDS) {
		printf("%lld %lld %lld\n", total, guarded, ((struct gs_agg *)sum)->count);
		return 1;
	}
	return 0;
}
