/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Arrays: hash tables of a fixed number of elements that are allocated at load,
 * threaded by a list in the order of insertion. Every operation is atomic. Nothing is
 * allocated while handlers run.
 *
 * Locks, in the order in which they are taken:
 *	map	elements come and go under it, and loops look at all of them
 *	bucket	chains change under both; who finds its element there needs no other
 *	copy	of the aggregates (gs_agg_map.h)
 * So handlers on different CPUs meet only where they use the same bucket, or enter elements. Each
 * lock is waited for with a bound.
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
	u64 data[];		/* key, value; aggregates lie in the copies */
};

struct gs_bucket {
	u32 head;
	int lock;
};

/* One of the copies of a map's aggregates: those of one CPU, or of some where memory is scarce. */
struct gs_agg_copy {
	int lock;
	u32 *heads, *next;	/* chains of the elements that have an aggregate here */
	char *aggs;		/* by element; zeros if there is none */
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
	struct gs_bucket *heads;
	char *nodes;
	u32 ncopies;
	struct gs_agg_copy **copies;
};

static inline int gs_agg_map_init(struct gs_map *m);
static inline void gs_agg_map_free(struct gs_map *m);
static inline bool gs_agg_map_forget(struct gs_map *m, struct gs_node *n);

static inline struct gs_node *gs_node(const struct gs_map *m, u32 i)
{
	return (struct gs_node *)(m->nodes + (size_t)i * m->stride);
}

static inline u32 gs_index(const struct gs_map *m, const struct gs_node *n)
{
	return ((const char *)n - m->nodes) / m->stride;
}

static inline void *gs_val(const struct gs_map *m, struct gs_node *n)
{
	return (char *)n->data + m->ksize;
}

static inline struct gs_bucket *gs_bucket_of(const struct gs_map *m, u32 hash)
{
	return &m->heads[hash & (m->buckets - 1)];
}

static inline int gs_map_init(struct gs_map *m)
{
	u32 i;

	m->stride = sizeof(struct gs_node) + m->ksize + (m->need ? 0 : m->vsize);
	for (m->buckets = 8; m->buckets < m->size; m->buckets *= 2)
		;
	m->heads = gs_zalloc(m->buckets * sizeof(*m->heads));
	m->nodes = gs_zalloc((size_t)m->size * m->stride + 8);
	if (!m->heads || !m->nodes)
		return -ENOMEM;
	for (i = 0; i < m->buckets; i++)
		m->heads[i].head = GS_NIL;
	for (i = 0; i < m->size; i++)
		gs_node(m, i)->next = i + 1 < m->size ? i + 1 : GS_NIL;
	m->free = m->size ? 0 : GS_NIL;
	m->first = m->last = GS_NIL;
	m->count = 0;
	return m->need ? gs_agg_map_init(m) : 0;
}

static inline void gs_map_free(struct gs_map *m)
{
	gs_free(m->heads);
	gs_free(m->nodes);
	m->heads = NULL;
	m->nodes = NULL;
	if (m->need)
		gs_agg_map_free(m);
}

/* Takes a lock inside of a map. */
static inline bool gs_map_try(int *lock)
{
	return likely(gs_try(lock, GS_MAP_TRIES, 0));
}

/* Takes the map's lock; false when that fails, which is counted. */
static inline bool gs_map_lock(struct gs_map *m, unsigned long *flags)
{
	if (gs_spell_try(&m->lock, flags))
		return true;
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

static inline bool gs_map_same(const struct gs_map *m, const struct gs_node *n, const u64 *key, u32 hash)
{
	u32 i;

	if (n->hash != hash)
		return false;
	for (i = 0; i < m->ksize / 8; i++)
		if (n->data[i] != key[i])
			return false;
	return true;
}

/* Under the map's lock or the bucket's. */
static inline struct gs_node *gs_map_find(const struct gs_map *m, const u64 *key, u32 hash)
{
	u32 i = gs_bucket_of(m, hash)->head;

	while (i != GS_NIL) {
		struct gs_node *n = gs_node(m, i);

		if (gs_map_same(m, n, key, hash))
			return n;
		i = n->next;
	}
	return NULL;
}

/* Removes an element, under the map's lock; false if another lock could not be had. */
static inline bool gs_map_remove(struct gs_map *m, struct gs_node *n)
{
	u32 i = gs_index(m, n), *link;
	struct gs_bucket *b = gs_bucket_of(m, n->hash);

	if (!gs_map_try(&b->lock))
		return false;
	if (m->need && !gs_agg_map_forget(m, n)) {
		gs_release(&b->lock);
		return false;
	}
	link = &b->head;
	while (*link != i)
		link = &gs_node(m, *link)->next;
	*link = n->next;
	gs_release(&b->lock);
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
	return true;
}

/* Finds or enters an element, under the map's lock; NULL when there is no room, or a lock could not be had (*rc). */
static inline struct gs_node *gs_map_make(struct gs_map *m, const u64 *key, u32 hash, int *rc)
{
	struct gs_node *n = gs_map_find(m, key, hash);
	struct gs_bucket *b = gs_bucket_of(m, hash);
	u32 i;

	if (n)
		return n;
	*rc = GS_FULL;
	if (m->free == GS_NIL && (!m->wrap || m->first == GS_NIL))
		return NULL;
	*rc = GS_BUSY;
	if (m->free == GS_NIL && !gs_map_remove(m, gs_node(m, m->first)))
		return NULL;
	i = m->free;
	n = gs_node(m, i);
	if (!gs_map_try(&b->lock))
		return NULL;
	m->free = n->next;
	n->hash = hash;
	memcpy(n->data, key, m->ksize);
	if (!m->need)
		memset(gs_val(m, n), 0, m->vsize);
	n->next = b->head;
	b->head = i;
	gs_release(&b->lock);
	n->before = m->last;
	n->after = GS_NIL;
	if (m->last != GS_NIL)
		gs_node(m, m->last)->after = i;
	else
		m->first = i;
	m->last = i;
	m->count++;
	return n;
}

/* Gives an element that was not there before, with its bucket's lock held. */
static noinline __maybe_unused struct gs_node *gs_map_enter(struct gs_map *m, const u64 *key, u32 hash, int *rc, unsigned long *f)
{
	struct gs_node *n = NULL;

	*rc = GS_BUSY;
	if (!gs_spell_again(&m->lock, f))
		return NULL;
	n = gs_map_make(m, key, hash, rc);
	if (n && !gs_map_try(&gs_bucket_of(m, hash)->lock)) {
		*rc = GS_BUSY;
		n = NULL;
	}
	gs_release(&m->lock);
	return n;
}

/* Lets go of what gs_map_hold took. */
static inline void gs_map_put(struct gs_map *m, u32 hash, unsigned long f)
{
	gs_release(&gs_bucket_of(m, hash)->lock);
	gs_irq_restore(f);
}

/*
 * Takes the lock of key's bucket and gives its element. If there is none it is entered when make is set; else, and when that
 * cannot be done (*rc), NULL, and no lock is held.
 */
static __always_inline struct gs_node *gs_map_hold(struct gs_map *m, const u64 *key, u32 hash, bool make, unsigned long *f, int *rc)
{
	struct gs_bucket *b = gs_bucket_of(m, hash);
	struct gs_node *n = NULL;

	*rc = GS_BUSY;
	if (gs_spell_try(&b->lock, f)) {
		n = gs_map_find(m, key, hash);
		if (likely(n))
			return n;
		gs_release(&b->lock);
		*rc = GS_OK;
		if (make)
			n = gs_map_enter(m, key, hash, rc, f);
		if (n)
			return n;
		gs_irq_restore(*f);
	}
	if (*rc == GS_BUSY)
		gs_count(GS_SKIP_LOCK);
	return NULL;
}

static inline int gs_map_get_long(struct gs_map *m, const u64 *key, s64 *v)
{
	u32 hash = gs_hash(m, key);
	unsigned long f;
	int rc;
	struct gs_node *n = gs_map_hold(m, key, hash, false, &f, &rc);

	*v = 0;
	if (!n)
		return rc;
	*v = *(s64 *)gs_val(m, n);
	gs_map_put(m, hash, f);
	return GS_OK;
}

static inline int gs_map_get_text(struct gs_map *m, const u64 *key, char *dst, u32 cap)
{
	u32 hash = gs_hash(m, key);
	unsigned long f;
	int rc;
	struct gs_node *n = gs_map_hold(m, key, hash, false, &f, &rc);

	if (!n) {
		dst[0] = 0;
		return rc;
	}
	gs_copy(dst, cap, gs_val(m, n));
	gs_map_put(m, hash, f);
	return GS_OK;
}

static inline int gs_map_set_long(struct gs_map *m, const u64 *key, s64 v)
{
	u32 hash = gs_hash(m, key);
	unsigned long f;
	int rc;
	struct gs_node *n = gs_map_hold(m, key, hash, true, &f, &rc);

	if (!n)
		return rc;
	*(s64 *)gs_val(m, n) = v;
	gs_map_put(m, hash, f);
	return GS_OK;
}

static inline int gs_map_set_text(struct gs_map *m, const u64 *key, const char *s, u32 cap)
{
	u32 hash = gs_hash(m, key);
	unsigned long f;
	int rc;
	struct gs_node *n = gs_map_hold(m, key, hash, true, &f, &rc);

	if (!n)
		return rc;
	gs_copy(gs_val(m, n), cap, s);
	gs_map_put(m, hash, f);
	return GS_OK;
}

/* Adds v and gives what was there before. */
static inline int gs_map_add(struct gs_map *m, const u64 *key, s64 v, s64 *before)
{
	u32 hash = gs_hash(m, key);
	unsigned long f;
	int rc;
	struct gs_node *n = gs_map_hold(m, key, hash, true, &f, &rc);
	s64 *p;

	if (!n)
		return rc;
	p = gs_val(m, n);
	*before = *p;
	*p = (s64)((u64)*p + (u64)v);
	gs_map_put(m, hash, f);
	return GS_OK;
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
	u32 i, seen = 0;

	*v = 0;
	if (!stars) {
		u32 hash = gs_hash(m, key);
		int rc;

		if (!gs_map_hold(m, key, hash, false, &f, &rc))
			return rc;
		gs_map_put(m, hash, f);
		*v = 1;
		return GS_OK;
	}
	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	for (i = m->first; i != GS_NIL && !*v; i = gs_node(m, i)->after) {
		*v = gs_map_like(m, gs_node(m, i), key, stars);
		gs_spell(&seen, &f);
	}
	gs_map_unlock(m, f);
	return GS_OK;
}

static inline int gs_map_del(struct gs_map *m, const u64 *key, u32 stars)
{
	unsigned long f;
	struct gs_node *n;
	bool ok = true;
	u32 i, seen = 0;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	if (!stars) {
		n = gs_map_find(m, key, gs_hash(m, key));
		if (n)
			ok = gs_map_remove(m, n);
	}
	for (i = stars ? m->first : GS_NIL; ok && i != GS_NIL; ) {
		n = gs_node(m, i);
		i = n->after;
		if (gs_map_like(m, n, key, stars))
			ok = gs_map_remove(m, n);
		gs_spell(&seen, &f);
	}
	gs_map_unlock(m, f);
	if (!ok)
		gs_count(GS_SKIP_LOCK);
	return ok ? GS_OK : GS_BUSY;
}

/* Removes all elements, under the map's lock. */
static inline bool gs_map_empty(struct gs_map *m, unsigned long *f)
{
	u32 seen = 0;

	for (; m->first != GS_NIL; gs_spell(&seen, f))
		if (!gs_map_remove(m, gs_node(m, m->first)))
			return false;
	return true;
}

static inline int gs_map_clear(struct gs_map *m)
{
	unsigned long f;
	bool ok;

	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	ok = gs_map_empty(m, &f);
	gs_map_unlock(m, f);
	if (!ok)
		gs_count(GS_SKIP_LOCK);
	return ok ? GS_OK : GS_BUSY;
}

#include "gs_agg_map.h"

/* Copies the value of an element to dst, vsize bytes, under the map's lock; false if another lock could not be had. */
static inline bool gs_map_peek(struct gs_map *m, struct gs_node *n, void *dst)
{
	struct gs_bucket *b = gs_bucket_of(m, n->hash);

	if (m->need) {
		memset(dst, 0, m->vsize);
		return gs_agg_map_merge(m, gs_index(m, n), dst, m->need->words);
	}
	if (!gs_map_try(&b->lock))
		return false;
	memcpy(dst, gs_val(m, n), m->vsize);
	gs_release(&b->lock);
	return true;
}

#endif
