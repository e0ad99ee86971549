/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Arrays: hash tables of a fixed number of elements that are allocated at load,
 * threaded by a list in the order of insertion. Every operation is atomic under the
 * map's own lock. Nothing is allocated while handlers run.
 */
#ifndef GS_MAP_H
#define GS_MAP_H

#include "gs_text.h"
#include "gs_stat.h"

struct gs_col {
	u32 off, size;	/* in the key; size is a multiple of 8 */
	bool str;
};

#define GS_NIL (~0U)

struct gs_node {
	u32 hash, next;		/* in its bucket, or the list of free ones */
	u32 before, after;	/* in the order of insertion */
	u64 data[];		/* key, value */
};

struct gs_map {
	const struct gs_col *cols;
	u32 ncols, ksize, vsize;	/* bytes, multiples of 8 */
	u32 size;			/* the most elements */
	bool wrap;
	const struct gs_needs *need;	/* of aggregates, else NULL */
	int lock;
	u32 buckets;			/* a power of 2 */
	u32 count, first, last, free;
	u32 stride;
	u32 *heads;
	char *nodes;
};

static inline struct gs_node *gs_node(const struct gs_map *m, u32 i)
{
	return (struct gs_node *)(m->nodes + (size_t)i * m->stride);
}

static inline void *gs_val(const struct gs_map *m, struct gs_node *n)
{
	return (char *)n->data + m->ksize;
}

static inline void gs_map_reset(struct gs_map *m)
{
	u32 i;

	for (i = 0; i < m->buckets; i++)
		m->heads[i] = GS_NIL;
	for (i = 0; i < m->size; i++)
		gs_node(m, i)->next = i + 1 < m->size ? i + 1 : GS_NIL;
	m->free = m->size ? 0 : GS_NIL;
	m->first = m->last = GS_NIL;
	m->count = 0;
}

static inline int gs_map_init(struct gs_map *m)
{
	m->stride = sizeof(struct gs_node) + m->ksize + m->vsize;
	for (m->buckets = 8; m->buckets < m->size; m->buckets *= 2)
		;
	m->heads = gs_zalloc(m->buckets * sizeof(u32));
	m->nodes = gs_zalloc((size_t)m->size * m->stride + 8);
	if (!m->heads || !m->nodes)
		return -ENOMEM;
	gs_map_reset(m);
	return 0;
}

static inline void gs_map_free(struct gs_map *m)
{
	gs_free(m->heads);
	gs_free(m->nodes);
	m->heads = NULL;
	m->nodes = NULL;
}

/* Takes the map's lock; false when that fails, which the caller counts. */
static inline bool gs_map_lock(struct gs_map *m, unsigned long *flags)
{
	gs_irq_save(*flags);
	if (likely(gs_try(&m->lock, GS_MAP_TRIES, 0)))
		return true;
	gs_irq_restore(*flags);
	gs_count(GS_SKIP_LOCK);
	return false;
}

static inline void gs_map_unlock(struct gs_map *m, unsigned long flags)
{
	gs_release(&m->lock);
	gs_irq_restore(flags);
}

static inline void gs_key_long(u64 *key, u32 off, s64 v)
{
	key[off / 8] = v;
}

/* Writes a string of at most cap bytes and zeros behind it: equal keys are equal bytes. */
static inline void gs_key_text(u64 *key, u32 off, u32 size, u32 cap, const char *s)
{
	char *p = (char *)key + off;
	u32 n = gs_len(s, cap);

	memcpy(p, s, n);
	memset(p + n, 0, size - n);
}

static inline u32 gs_hash(const struct gs_map *m, const u64 *key)
{
	u64 h = 0x9e3779b97f4a7c15ULL;
	u32 i, j;

	for (i = 0; i < m->ncols; i++) {
		const struct gs_col *col = &m->cols[i];
		const u64 *w = key + col->off / 8;

		for (j = 0; j < col->size / 8; j++) {
			h = (h ^ w[j]) * 0xff51afd7ed558ccdULL;
			h ^= h >> 32;
			/* behind its end a string is zeros */
			if (col->str && !(w[j] >> 56))
				break;
		}
	}
	return (u32)h;
}

static inline struct gs_node *gs_map_find(const struct gs_map *m, const u64 *key, u32 hash)
{
	u32 i = m->heads[hash & (m->buckets - 1)];

	while (i != GS_NIL) {
		struct gs_node *n = gs_node(m, i);

		if (n->hash == hash && memcmp(n->data, key, m->ksize) == 0)
			return n;
		i = n->next;
	}
	return NULL;
}

static inline u32 gs_index(const struct gs_map *m, const struct gs_node *n)
{
	return ((const char *)n - m->nodes) / m->stride;
}

static inline void gs_map_remove(struct gs_map *m, struct gs_node *n)
{
	u32 i = gs_index(m, n), *link = &m->heads[n->hash & (m->buckets - 1)];

	while (*link != i)
		link = &gs_node(m, *link)->next;
	*link = n->next;
	if (n->before != GS_NIL)
		gs_node(m, n->before)->after = n->after;
	else
		m->first = n->after;
	if (n->after != GS_NIL)
		gs_node(m, n->after)->before = n->before;
	else
		m->last = n->before;
	n->next = m->free;
	m->free = i;
	m->count--;
}

/* Finds or enters an element; NULL when there is no room. */
static inline struct gs_node *gs_map_make(struct gs_map *m, const u64 *key)
{
	u32 hash = gs_hash(m, key), i;
	struct gs_node *n = gs_map_find(m, key, hash);

	if (n)
		return n;
	if (m->free == GS_NIL) {
		if (!m->wrap || m->first == GS_NIL)
			return NULL;
		gs_map_remove(m, gs_node(m, m->first));
	}
	i = m->free;
	n = gs_node(m, i);
	m->free = n->next;
	n->hash = hash;
	n->next = m->heads[hash & (m->buckets - 1)];
	m->heads[hash & (m->buckets - 1)] = i;
	n->before = m->last;
	n->after = GS_NIL;
	if (m->last != GS_NIL)
		gs_node(m, m->last)->after = i;
	else
		m->first = i;
	m->last = i;
	m->count++;
	memcpy(n->data, key, m->ksize);
	memset(gs_val(m, n), 0, m->vsize);
	return n;
}

static inline int gs_map_get_long(struct gs_map *m, const u64 *key, s64 *v)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_find(m, key, gs_hash(m, key));
	*v = n ? *(s64 *)gs_val(m, n) : 0;
	gs_map_unlock(m, f);
	return GS_OK;
}

static inline int gs_map_get_text(struct gs_map *m, const u64 *key, char *dst, u32 cap)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_find(m, key, gs_hash(m, key));
	gs_copy(dst, cap, n ? (char *)gs_val(m, n) : "");
	gs_map_unlock(m, f);
	return GS_OK;
}

static inline int gs_map_set_long(struct gs_map *m, const u64 *key, s64 v)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_make(m, key);
	if (n)
		*(s64 *)gs_val(m, n) = v;
	gs_map_unlock(m, f);
	return n ? GS_OK : GS_FULL;
}

static inline int gs_map_set_text(struct gs_map *m, const u64 *key, const char *s, u32 cap)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_make(m, key);
	if (n)
		gs_copy(gs_val(m, n), cap, s);
	gs_map_unlock(m, f);
	return n ? GS_OK : GS_FULL;
}

/* Adds v and gives what was there before. */
static inline int gs_map_add(struct gs_map *m, const u64 *key, s64 v, s64 *before)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_make(m, key);
	if (n) {
		s64 *p = gs_val(m, n);

		*before = *p;
		*p = (s64)((u64)*p + (u64)v);
	}
	gs_map_unlock(m, f);
	return n ? GS_OK : GS_FULL;
}

static inline int gs_map_stat(struct gs_map *m, const u64 *key, s64 v)
{
	unsigned long f;
	struct gs_node *n;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	n = gs_map_make(m, key);
	if (n)
		gs_agg_add(gs_val(m, n), m->need, v);
	gs_map_unlock(m, f);
	return n ? GS_OK : GS_FULL;
}

/* Whether the element's key is like key in the columns whose bit in stars is 0. */
static inline bool gs_map_like(const struct gs_map *m, struct gs_node *n, const u64 *key, u32 stars)
{
	u32 i;

	for (i = 0; i < m->ncols; i++) {
		const struct gs_col *col = &m->cols[i];

		if (!(stars >> i & 1) && memcmp((char *)n->data + col->off, (const char *)key + col->off, col->size))
			return false;
	}
	return true;
}

static inline int gs_map_has(struct gs_map *m, const u64 *key, u32 stars, s64 *v)
{
	unsigned long f;
	u32 i;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	*v = 0;
	if (!stars)
		*v = gs_map_find(m, key, gs_hash(m, key)) != NULL;
	for (i = stars ? m->first : GS_NIL; i != GS_NIL && !*v; i = gs_node(m, i)->after)
		*v = gs_map_like(m, gs_node(m, i), key, stars);
	gs_map_unlock(m, f);
	return GS_OK;
}

static inline int gs_map_del(struct gs_map *m, const u64 *key, u32 stars)
{
	unsigned long f;
	struct gs_node *n;
	u32 i;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	if (!stars) {
		n = gs_map_find(m, key, gs_hash(m, key));
		if (n)
			gs_map_remove(m, n);
	}
	for (i = stars ? m->first : GS_NIL; i != GS_NIL; ) {
		n = gs_node(m, i);
		i = n->after;
		if (gs_map_like(m, n, key, stars))
			gs_map_remove(m, n);
	}
	gs_map_unlock(m, f);
	return GS_OK;
}

static inline int gs_map_clear(struct gs_map *m)
{
	unsigned long f;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	gs_map_reset(m);
	gs_map_unlock(m, f);
	return GS_OK;
}

/* The element's aggregate, or with stars the sum of those that fit, into sum (zeroed here). */
static inline int gs_map_agg(struct gs_map *m, const u64 *key, u32 stars, struct gs_agg *sum, u32 words)
{
	unsigned long f;
	struct gs_node *n;
	u32 i;

	memset(sum, 0, GS_AGG_BYTES(words));
	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	if (!stars) {
		n = gs_map_find(m, key, gs_hash(m, key));
		if (n)
			gs_agg_merge(sum, gs_val(m, n), words);
	}
	for (i = stars ? m->first : GS_NIL; i != GS_NIL; i = gs_node(m, i)->after)
		if (gs_map_like(m, gs_node(m, i), key, stars))
			gs_agg_merge(sum, gs_val(m, gs_node(m, i)), words);
	gs_map_unlock(m, f);
	return GS_OK;
}

#endif
