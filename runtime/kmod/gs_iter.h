/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Loops over arrays: the elements are copied when the loop is opened, sorted by
 * index. A loop of the script has one such copy; who finds it taken waits for it as for a lock.
 */
#ifndef GS_ITER_H
#define GS_ITER_H

#include "gs_map.h"

struct gs_iter {
	struct gs_map *map;
	int busy;
	u32 n, at;	/* elements, 1 + index of the current one */
	u32 *order;	/* indexes into data */
	char *data;	/* keys and values, one behind the other */
};

/* By what to sort. */
struct gs_order {
	char by;	/* 0, 'k', 'v', '@' as in ir.Order */
	bool desc, text;
	u32 col;
	int stat;
};

static inline int gs_iter_init(struct gs_iter *it)
{
	u32 el = it->map->ksize + it->map->vsize;

	it->order = gs_zalloc((size_t)it->map->size * sizeof(u32) + 8);
	it->data = gs_zalloc((size_t)it->map->size * el + 8);
	return it->order && it->data ? 0 : -ENOMEM;
}

static inline void gs_iter_free(struct gs_iter *it)
{
	gs_free(it->order);
	gs_free(it->data);
	it->order = NULL;
	it->data = NULL;
}

static inline char *gs_iter_key(const struct gs_iter *it, u32 i)
{
	return it->data + (size_t)i * (it->map->ksize + it->map->vsize);
}

static inline s64 gs_compare(const struct gs_iter *it, const struct gs_order *o, u32 i, u32 j)
{
	char *a = gs_iter_key(it, i), *b = gs_iter_key(it, j);
	s64 r;

	if (o->by == 'k') {
		a += it->map->cols[o->col].off;
		b += it->map->cols[o->col].off;
	} else {
		a += it->map->ksize;
		b += it->map->ksize;
	}
	if (o->text) {
		r = gs_scmp(a, b);
	} else {
		s64 x = *(s64 *)a, y = *(s64 *)b;

		if (o->by == '@') {
			struct gs_agg *p = (struct gs_agg *)a, *q = (struct gs_agg *)b;

			x = p->count || o->stat < GS_MIN ? gs_agg_stat(p, o->stat) : 0;
			y = q->count || o->stat < GS_MIN ? gs_agg_stat(q, o->stat) : 0;
		}
		r = (x > y) - (x < y);
	}
	if (o->desc)
		r = -r;
	return r ? r : (i > j) - (i < j);	/* equal ones stay in the order of insertion */
}

static inline void gs_sift(struct gs_iter *it, const struct gs_order *o, u32 root, u32 n)
{
	u32 *v = it->order, child;

	while ((child = 2 * root + 1) < n) {
		u32 t;

		if (child + 1 < n && gs_compare(it, o, v[child], v[child + 1]) < 0)
			child++;
		if (gs_compare(it, o, v[root], v[child]) >= 0)
			return;
		t = v[root];
		v[root] = v[child];
		v[child] = t;
		root = child;
	}
}

static inline void gs_iter_sort(struct gs_iter *it, const struct gs_order *o)
{
	u32 i, t;

	for (i = it->n / 2; i-- > 0; )
		gs_sift(it, o, i, it->n);
	for (i = it->n; i-- > 1; ) {
		t = it->order[0];
		it->order[0] = it->order[i];
		it->order[i] = t;
		gs_sift(it, o, 0, i);
	}
}

/* Opens a loop over the elements that fit; stars has a bit for each column that is one. */
static inline int gs_iter_open(struct gs_iter *it, bool *open, const struct gs_order *o, const u64 *key, u32 stars, s64 limit)
{
	struct gs_map *m = it->map;
	unsigned long f;
	bool ok = true;
	u32 i, seen = 0;

	if (!*open && !gs_try(&it->busy, GS_TRIES, GS_DELAY)) {
		gs_count(GS_SKIP_SCRATCH);
		return GS_BUSY;
	}
	*open = true;
	it->n = it->at = 0;
	if (!gs_map_lock(m, &f))
		return GS_BUSY;
	for (i = m->first; ok && i != GS_NIL; i = gs_node(m, i)->after) {
		struct gs_node *n = gs_node(m, i);
		char *el = gs_iter_key(it, it->n);

		gs_spell(&seen, &f);
		if (!gs_map_like(m, n, key, stars))
			continue;
		memcpy(el, n->data, m->ksize);
		ok = gs_map_peek(m, n, el + m->ksize);
		it->order[it->n] = it->n;
		it->n++;
	}
	gs_map_unlock(m, f);
	if (!ok) {
		gs_count(GS_SKIP_LOCK);
		return GS_BUSY;
	}
	if (o->by)
		gs_iter_sort(it, o);
	if (limit < 0)
		limit = 0;
	if ((s64)it->n > limit)
		it->n = limit;
	return GS_OK;
}

static inline s64 gs_iter_next(struct gs_iter *it)
{
	if (it->at > it->n)
		return 0;
	it->at++;
	return it->at <= it->n;
}

/* The current element's key, its value behind it; NULL outside of the loop. */
static inline char *gs_iter_elem(struct gs_iter *it)
{
	if (it->at < 1 || it->at > it->n)
		return NULL;
	return gs_iter_key(it, it->order[it->at - 1]);
}

static inline s64 gs_iter_long(struct gs_iter *it, u32 off)
{
	char *p = gs_iter_elem(it);

	return p ? *(s64 *)(p + off) : 0;
}

static inline const char *gs_iter_text(struct gs_iter *it, u32 off)
{
	char *p = gs_iter_elem(it);

	return p ? p + off : "";
}

static inline void gs_iter_close(struct gs_iter *it, bool open)
{
	if (open)
		gs_release(&it->busy);
}

#endif
