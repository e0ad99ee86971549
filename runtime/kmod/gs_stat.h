/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Aggregates. Scalars have one copy a CPU, merged on reading; those of arrays lie in
 * the element, under the map's lock.
 */
#ifndef GS_STAT_H
#define GS_STAT_H

#include "gs_core.h"

struct gs_hist {
	bool linear;
	s64 low, high, width;
	u32 buckets;
};

struct gs_needs {
	bool variance;
	u32 nhists;
	u32 words;		/* of all histograms */
	const struct gs_hist *hists;
};

struct gs_agg {
	s64 count, sum, min, max;
	u64 sqlo, sqhi;
	s64 hist[];
};

#define GS_AGG_BYTES(words) (sizeof(struct gs_agg) + 8 * (words))

/* layout.HistLogBucket and HistLinearBucket */
static inline u32 gs_bucket(const struct gs_hist *h, s64 v)
{
	u64 u = v;
	int n;

	if (h->linear) {
		if (v < h->low)
			return 0;
		u = ((u64)v - (u64)h->low) / (u64)h->width;
		return u < h->buckets - 2 ? u + 1 : h->buckets - 1;
	}
	if (v == 0)
		return 64;
	if (v < 0)
		u = 0 - u;
	n = 63 - __builtin_clzll(u);
	if (v < 0)
		return n > 63 ? 0 : 63 - n;
	return min(65 + n, 127);
}

static inline void gs_agg_add(struct gs_agg *a, const struct gs_needs *need, s64 v)
{
	u32 i, off = 0;

	if (a->count == 0)
		a->min = a->max = v;
	a->count++;
	a->sum += v;
	if (v < a->min)
		a->min = v;
	if (v > a->max)
		a->max = v;
	if (need->variance) {
		u64 u = v < 0 ? 0 - (u64)v : (u64)v;
		unsigned __int128 sq = (unsigned __int128)u * u;
		u64 lo = a->sqlo + (u64)sq;

		a->sqhi += (u64)(sq >> 64) + (lo < a->sqlo);
		a->sqlo = lo;
	}
	for (i = 0; i < need->nhists; i++) {
		a->hist[off + gs_bucket(&need->hists[i], v)]++;
		off += need->hists[i].buckets;
	}
}

static inline void gs_agg_merge(struct gs_agg *a, const struct gs_agg *b, u32 words)
{
	u32 i;
	u64 lo;

	if (b->count == 0)
		return;
	if (a->count == 0 || b->min < a->min)
		a->min = b->min;
	if (a->count == 0 || b->max > a->max)
		a->max = b->max;
	a->count += b->count;
	a->sum += b->sum;
	lo = a->sqlo + b->sqlo;
	a->sqhi += b->sqhi + (lo < b->sqlo);
	a->sqlo = lo;
	for (i = 0; i < words; i++)
		a->hist[i] += b->hist[i];
}

/* dst[4] = a[2] * b[2], least word first */
static inline void gs_mul256(u64 *dst, const u64 *a, const u64 *b)
{
	int i, j;

	memset(dst, 0, 32);
	for (i = 0; i < 2; i++) {
		u64 carry = 0;

		for (j = 0; j < 2; j++) {
			unsigned __int128 t = (unsigned __int128)a[i] * b[j] + dst[i + j] + carry;

			dst[i + j] = (u64)t;
			carry = (u64)(t >> 64);
		}
		dst[i + 2] = carry;
	}
}

/* The sample variance, rounded down: (count * squares - sum^2) / (count * (count - 1)), exactly. */
static inline s64 gs_variance(const struct gs_agg *a)
{
	u64 n[2] = { a->count, 0 }, sq[2] = { a->sqlo, a->sqhi }, sum[2] = { 0, 0 };
	u64 p[4], q[4], d[2], r[3] = { 0, 0, 0 }, quo = 0;
	unsigned __int128 dd;
	int i;
	bool big = false;

	if (a->count < 2)
		return 0;
	sum[0] = a->sum < 0 ? 0 - (u64)a->sum : (u64)a->sum;
	gs_mul256(p, sq, n);
	gs_mul256(q, sum, sum);
	for (i = 3; i >= 0 && p[i] == q[i]; i--)
		;
	if (i < 0 || p[i] < q[i])
		return 0;
	for (i = 0, dd = 0; i < 4; i++) {
		unsigned __int128 t = (unsigned __int128)p[i] - q[i] - (u64)dd;

		p[i] = (u64)t;
		dd = (t >> 64) ? 1 : 0;
	}
	dd = (unsigned __int128)n[0] * (n[0] - 1);
	d[0] = (u64)dd;
	d[1] = (u64)(dd >> 64);
	for (i = 255; i >= 0; i--) {
		bool ge;

		r[2] = r[2] << 1 | r[1] >> 63;
		r[1] = r[1] << 1 | r[0] >> 63;
		r[0] = r[0] << 1 | (p[i / 64] >> (i % 64) & 1);
		ge = r[2] || r[1] > d[1] || (r[1] == d[1] && r[0] >= d[0]);
		if (ge) {
			u64 lo = r[0] - d[0];
			u64 borrow = r[0] < d[0];
			u64 mid = r[1] - d[1] - borrow;

			r[2] -= r[1] < d[1] || (r[1] == d[1] && borrow);
			r[1] = mid;
			r[0] = lo;
			if (i >= 63)
				big = true;
			else
				quo |= 1ULL << i;
		}
	}
	return big ? 0x7fffffffffffffffLL : (s64)quo;
}

/* ir.Stat */
enum { GS_COUNT, GS_SUM, GS_MIN, GS_MAX, GS_AVG, GS_VARIANCE };

static inline s64 gs_div(s64 a, s64 b)
{
	if (b == 0)
		return 0;
	if (b == -1)
		return (s64)(0 - (u64)a);
	return a / b;
}

static inline s64 gs_mod(s64 a, s64 b)
{
	if (b == 0 || b == -1)
		return 0;
	return a % b;
}

static inline s64 gs_agg_stat(const struct gs_agg *a, int what)
{
	switch (what) {
	case GS_COUNT:
		return a->count;
	case GS_SUM:
		return a->sum;
	case GS_MIN:
		return a->min;
	case GS_MAX:
		return a->max;
	case GS_AVG:
		return gs_div(a->sum, a->count);
	}
	return gs_variance(a);
}

/* A scalar aggregate: a copy for each CPU, with a word in front that says that it is being added to. */
struct gs_pcpu {
	const struct gs_needs *need;
	struct gs_agg **cpu;
};

static inline struct gs_agg *gs_pcpu_alloc(const struct gs_pcpu *p)
{
	u64 *a = gs_zalloc(sizeof(u64) + GS_AGG_BYTES(p->need->words));

	return a ? (struct gs_agg *)(a + 1) : NULL;
}

static inline int gs_pcpu_init(struct gs_pcpu *p)
{
	u32 i;

	p->cpu = gs_zalloc(nr_cpu_ids * sizeof(*p->cpu));
	if (!p->cpu)
		return -ENOMEM;
	for (i = 0; i < nr_cpu_ids; i++) {
		p->cpu[i] = gs_pcpu_alloc(p);
		if (!p->cpu[i])
			return -ENOMEM;
	}
	return 0;
}

static inline void gs_pcpu_free(struct gs_pcpu *p)
{
	u32 i;

	for (i = 0; p->cpu && i < nr_cpu_ids; i++)
		if (p->cpu[i])
			gs_free((u64 *)p->cpu[i] - 1);
	gs_free(p->cpu);
	p->cpu = NULL;
}

/* The caller keeps its CPU. An interrupt that cannot be masked may come in the middle of it: what it would add is left out and counted. */
static inline void gs_pcpu_add(struct gs_pcpu *p, s64 v)
{
	struct gs_agg *a = p->cpu[smp_processor_id()];
	unsigned long f;

	gs_irq_save(f);
#if GS_LEVELS > 1
	if (unlikely(((u64 *)a)[-1])) {
		gs_count(GS_LOST_RECURSED);
	} else {
		((u64 *)a)[-1] = 1;
		barrier();
		gs_agg_add(a, p->need, v);
		barrier();
		((u64 *)a)[-1] = 0;
	}
#else
	gs_agg_add(a, p->need, v);
#endif
	gs_irq_restore(f);
}

/*
 * The sum over all CPUs with so many words of histograms. A value that is being added may be
 * in some fields and not yet in others.
 */
static inline void gs_pcpu_merge(struct gs_pcpu *p, struct gs_agg *sum, u32 words)
{
	u32 i;

	memset(sum, 0, GS_AGG_BYTES(words));
	for (i = 0; i < nr_cpu_ids; i++)
		gs_agg_merge(sum, p->cpu[i], words);
}

static inline void gs_pcpu_clear(struct gs_pcpu *p)
{
	u32 i;

	for (i = 0; i < nr_cpu_ids; i++)
		memset(p->cpu[i], 0, GS_AGG_BYTES(p->need->words));
}

#endif
