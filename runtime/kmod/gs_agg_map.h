/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Aggregates in arrays. Each CPU adds to a copy of its own and finds its elements by chains of its
 * own; readers merge the copies. The keys lie in the map's elements, once. Where the
 * copies of all CPUs would take too much memory, some CPUs share one.
 */
#ifndef GS_AGG_MAP_H
#define GS_AGG_MAP_H

#include "gs_map.h"

/* The most bytes of all copies of a map's aggregates, if there is more than one. */
#ifndef GS_COPIES_MAX
#define GS_COPIES_MAX (64ULL << 20)
#endif

static inline int gs_agg_map_init(struct gs_map *m)
{
	u64 one = (u64)m->size * (m->vsize + sizeof(u32)) + m->buckets * sizeof(u32);
	u32 i, k;

	m->ncopies = min_t(u64, nr_cpu_ids, max_t(u64, GS_COPIES_MAX / max_t(u64, one, 1), 1));
	m->copies = gs_zalloc(m->ncopies * sizeof(*m->copies));
	if (!m->copies)
		return -ENOMEM;
	for (i = 0; i < m->ncopies; i++) {
		struct gs_agg_copy *c = gs_zalloc(sizeof(*c));

		m->copies[i] = c;
		if (!c)
			return -ENOMEM;
		c->heads = gs_zalloc(m->buckets * sizeof(u32));
		c->next = gs_zalloc(m->size * sizeof(u32) + 8);
		c->aggs = gs_zalloc((size_t)m->size * m->vsize + 8);
		if (!c->heads || !c->next || !c->aggs)
			return -ENOMEM;
		for (k = 0; k < m->buckets; k++)
			c->heads[k] = GS_NIL;
	}
	return 0;
}

static inline void gs_agg_map_free(struct gs_map *m)
{
	u32 i;

	for (i = 0; m->copies && i < m->ncopies && m->copies[i]; i++) {
		gs_free(m->copies[i]->heads);
		gs_free(m->copies[i]->next);
		gs_free(m->copies[i]->aggs);
		gs_free(m->copies[i]);
	}
	gs_free(m->copies);
	m->copies = NULL;
}

static inline struct gs_agg *gs_agg_at(const struct gs_map *m, const struct gs_agg_copy *c, u32 i)
{
	return (struct gs_agg *)(c->aggs + (size_t)i * m->vsize);
}

/* Takes an element out of all copies, under the locks of the map and its bucket. */
static inline bool gs_agg_map_forget(struct gs_map *m, struct gs_node *n)
{
	u32 i = gs_index(m, n), k;

	for (k = 0; k < m->ncopies; k++) {
		struct gs_agg_copy *c = m->copies[k];
		u32 *link = &c->heads[n->hash & (m->buckets - 1)];

		if (!gs_map_try(&c->lock))
			return false;
		while (*link != i && *link != GS_NIL)
			link = &c->next[*link];
		if (*link == i) {
			*link = c->next[i];
			memset(gs_agg_at(m, c, i), 0, m->vsize);
		}
		gs_release(&c->lock);
	}
	return true;
}

/* Adds the element's aggregates to sum, under the locks of the map or its bucket; words of histograms. */
static inline bool gs_agg_map_merge(struct gs_map *m, u32 i, struct gs_agg *sum, u32 words)
{
	u32 k;

	for (k = 0; k < m->ncopies; k++) {
		struct gs_agg_copy *c = m->copies[k];

		if (!gs_map_try(&c->lock))
			return false;
		gs_agg_merge(sum, gs_agg_at(m, c, i), words);
		gs_release(&c->lock);
	}
	return true;
}

static inline struct gs_agg_copy *gs_agg_mine(const struct gs_map *m)
{
	u32 cpu = smp_processor_id();

	return m->copies[likely(cpu < m->ncopies) ? cpu : cpu % m->ncopies];
}

/* Enters an element, or only into the copy, under the map's lock, and adds v. */
static inline int gs_agg_map_make(struct gs_map *m, const u64 *key, u32 hash, s64 v)
{
	struct gs_agg_copy *c = gs_agg_mine(m);
	int rc;
	struct gs_node *n = gs_map_make(m, key, hash, &rc);
	u32 i, *head, k;

	if (!n)
		return rc;
	if (!gs_map_try(&c->lock))
		return GS_BUSY;
	i = gs_index(m, n);
	head = &c->heads[hash & (m->buckets - 1)];
	for (k = *head; k != GS_NIL && k != i; k = c->next[k])
		;
	if (k == GS_NIL) {
		c->next[i] = *head;
		*head = i;
	}
	gs_agg_add(gs_agg_at(m, c, i), m->need, v);
	gs_release(&c->lock);
	return GS_OK;
}

static noinline __maybe_unused int gs_agg_map_enter(struct gs_map *m, const u64 *key, u32 hash, s64 v, unsigned long *f)
{
	int rc;

	if (!gs_spell_again(&m->lock, f))
		return GS_BUSY;
	rc = gs_agg_map_make(m, key, hash, v);
	gs_release(&m->lock);
	return rc;
}

/* array[key] <<< v; the caller keeps its CPU. */
static inline int gs_map_stat(struct gs_map *m, const u64 *key, s64 v)
{
	u32 hash = gs_hash(m, key), i;
	struct gs_agg_copy *c = gs_agg_mine(m);
	unsigned long f;
	int rc = GS_BUSY;

	if (gs_spell_try(&c->lock, &f)) {
		for (i = c->heads[hash & (m->buckets - 1)]; i != GS_NIL; i = c->next[i])
			if (gs_map_same(m, gs_node(m, i), key, hash))
				break;
		if (likely(i != GS_NIL))
			gs_agg_add(gs_agg_at(m, c, i), m->need, v);
		gs_release(&c->lock);
		rc = likely(i != GS_NIL) ? GS_OK : gs_agg_map_enter(m, key, hash, v, &f);
		gs_irq_restore(f);
	}
	if (unlikely(rc == GS_BUSY))
		gs_count(GS_SKIP_LOCK);
	return rc;
}

/* The element's aggregate, or with stars the sum of those that fit, into sum (zeroed here). */
static inline int gs_map_agg(struct gs_map *m, const u64 *key, u32 stars, struct gs_agg *sum, u32 words)
{
	unsigned long f;
	struct gs_node *n;
	bool ok = true;
	u32 i, seen = 0;

	memset(sum, 0, GS_AGG_BYTES(words));
	if (!stars) {
		u32 hash = gs_hash(m, key);
		int rc;

		n = gs_map_hold(m, key, hash, false, &f, &rc);
		if (!n)
			return rc;
		ok = gs_agg_map_merge(m, gs_index(m, n), sum, words);
		gs_map_put(m, hash, f);
	} else {
		if (!gs_map_lock(m, &f))
			return GS_BUSY;
		for (i = m->first; ok && i != GS_NIL; i = gs_node(m, i)->after) {
			if (gs_map_like(m, gs_node(m, i), key, stars))
				ok = gs_agg_map_merge(m, i, sum, words);
			gs_spell(&seen, &f);
		}
		gs_map_unlock(m, f);
	}
	if (!ok)
		gs_count(GS_SKIP_LOCK);
	return ok ? GS_OK : GS_BUSY;
}

#endif
