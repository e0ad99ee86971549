/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The host's operations on globals: each is atomic towards handlers. The host is in no
 * hurry: what cannot be done because of a lock is -EBUSY, and done again.
 */
#ifndef GS_ACCESS_H
#define GS_ACCESS_H

#include "gs_map.h"
#include "gs_scalar.h"

enum {
	GS_OP_INFO,	/* n: GS_VERSION; val: u64 CPUs, bytes of one buffer */
	GS_OP_STATE,	/* n: state, after raising it to n where that is not less */
	GS_OP_TARGET,	/* n: process number in the caller's namespace */
	GS_OP_FILE,	/* glob: index, n: descriptor of a traced file */
	GS_OP_ATTACH,	/* n: on errors the site, else how many sites were left out */
	GS_OP_DETACH,
	GS_OP_COUNTERS,	/* val: u64[GS_CAUSES] and errors */
	GS_OP_GET,	/* of global glob, with key: val; n: whether it is there */
	GS_OP_SET,
	GS_OP_ADD,	/* n: what to add, then what was there */
	GS_OP_DELETE,
	GS_OP_CLEAR,
	GS_OP_ADDSTAT,	/* n */
	GS_OP_ELEMS,	/* val: keys and values; n: how many */
	GS_OP_LOCK,
	GS_OP_UNLOCK,
	GS_OP_RUN,	/* glob: which of gs_calls, n: its site */
	GS_OP_LEFT,	/* n: a number below what ATTACH gave, then the site that was left out; the error says why */
	GS_OP_PEEK,	/* n: address in the kernel; val: what is there */
	GS_OP_TASK,	/* n: address of the caller's task_struct */
	GS_OP_FIRED,	/* val: a byte for each probe, 1 if its handler ran; without val, to begin with: they are to note it */
	GS_OP_STACK,	/* n: the number of a kept stack; val: what it is, n: whether there is one */
	GS_OP_ROWS	/* key: of a file the first words of a struct gs_code; val: its rows */
};

struct gs_op {
	u32 op, glob;
	s64 n;
	u64 key, val;		/* addresses */
	u32 nkey, nval;		/* bytes */
};

enum { GS_G_LONG, GS_G_TEXT, GS_G_STAT, GS_G_MAP };

/* What the host can see of a global. */
struct gs_glob {
	int kind;
	void *p;	/* atomic64_t, struct gs_scalar, struct gs_pcpu, struct gs_map */
};

/* Made by the code generator. */
static struct gs_glob gs_globs[];

static void gs_access_long(atomic64_t *g, struct gs_op *op, s64 *val)
{
	switch (op->op) {
	case GS_OP_GET:
		*val = atomic64_read(g);
		op->n = 1;
		break;
	case GS_OP_SET:
		atomic64_set(g, *val);
		break;
	case GS_OP_ADD:
		op->n = atomic64_fetch_add(op->n, g);
		break;
	default:
		atomic64_set(g, 0);
		break;
	}
}

static int gs_access_text(struct gs_scalar *g, struct gs_op *op, char *val)
{
	u32 n = g->cap + 1;
	unsigned long f;

	if (!gs_spell_try(&g->lock, &f))
		return -EBUSY;
	switch (op->op) {
	case GS_OP_GET:
		memcpy(val, g->s, n);
		op->n = 1;
		break;
	case GS_OP_SET:
		memcpy(g->s, val, n);
		g->s[n - 1] = 0;
		break;
	default:
		memset(g->s, 0, n);
		break;
	}
	gs_release(&g->lock);
	gs_irq_restore(f);
	return 0;
}

static void gs_access_stat(struct gs_pcpu *g, struct gs_op *op, void *val)
{
	switch (op->op) {
	case GS_OP_GET:
		gs_pcpu_merge(g, val, g->need->words);
		op->n = 1;
		break;
	case GS_OP_ADDSTAT:
		gs_pcpu_add(g, op->n);
		break;
	default:
		gs_pcpu_clear(g);
		break;
	}
}

static int gs_elements(struct gs_map *m, struct gs_op *op, char *val, unsigned long *f)
{
	u32 i, seen = 0;

	op->n = 0;
	for (i = m->first; i != GS_NIL; i = gs_node(m, i)->after) {
		char *el = val + op->n++ * (m->ksize + m->vsize);

		memcpy(el, gs_node(m, i)->data, m->ksize);
		if (!gs_map_peek(m, gs_node(m, i), el + m->ksize))
			return -EBUSY;
		gs_spell(&seen, f);
	}
	return 0;
}

/* Sets an element, or adds to it, under the map's lock. */
static int gs_access_element(struct gs_map *m, struct gs_op *op, const u64 *key, u32 hash, const char *val)
{
	int rc = GS_OK;
	struct gs_node *node;

	if (!m->need != (op->op != GS_OP_ADDSTAT))
		return -EINVAL;
	if (m->need) {
		rc = gs_agg_map_make(m, key, hash, op->n);
		return rc == GS_FULL ? -ENOSPC : rc ? -EBUSY : 0;
	}
	node = gs_map_make(m, key, hash, &rc);
	if (!node)
		return rc == GS_FULL ? -ENOSPC : -EBUSY;
	if (!gs_map_try(&gs_bucket_of(m, hash)->lock))
		return -EBUSY;
	if (op->op == GS_OP_SET) {
		memcpy(gs_val(m, node), val, m->vsize);
	} else {
		s64 *p = gs_val(m, node), before = *p;

		*p = (s64)((u64)before + (u64)op->n);
		op->n = before;
	}
	gs_release(&gs_bucket_of(m, hash)->lock);
	return 0;
}

static int gs_access_map(struct gs_map *m, struct gs_op *op, const u64 *key, char *val)
{
	u32 hash = gs_hash(m, key);
	struct gs_node *node = NULL;
	unsigned long f;
	int err = 0;

	if (!gs_spell_try(&m->lock, &f))
		return -EBUSY;
	if (op->op == GS_OP_GET || op->op == GS_OP_DELETE)
		node = gs_map_find(m, key, hash);
	switch (op->op) {
	case GS_OP_GET:
		op->n = node != NULL;
		if (node && !gs_map_peek(m, node, val))
			err = -EBUSY;
		break;
	case GS_OP_DELETE:
		if (node && !gs_map_remove(m, node))
			err = -EBUSY;
		break;
	case GS_OP_CLEAR:
		if (!gs_map_empty(m, &f))
			err = -EBUSY;
		break;
	case GS_OP_ELEMS:
		err = gs_elements(m, op, val, &f);
		break;
	default:
		err = gs_access_element(m, op, key, hash, val);
		break;
	}
	gs_map_unlock(m, f);
	return err;
}

/* Bytes of a value of g. */
static u32 gs_value_size(const struct gs_glob *g)
{
	switch (g->kind) {
	case GS_G_TEXT:
		return ((struct gs_scalar *)g->p)->cap + 1;
	case GS_G_STAT:
		return GS_AGG_BYTES(((struct gs_pcpu *)g->p)->need->words);
	case GS_G_MAP:
		return ((struct gs_map *)g->p)->vsize;
	}
	return 8;
}

/* One operation, GS_OP_GET to GS_OP_ELEMS, on global op->glob, which exists. */
static int gs_access(struct gs_op *op)
{
	const struct gs_glob *g = &gs_globs[op->glob];
	struct gs_map *m = g->kind == GS_G_MAP ? g->p : NULL;
	u32 nkey = m && op->op != GS_OP_ELEMS ? m->ksize : 0;
	size_t room = gs_value_size(g);
	u64 *key = NULL;
	char *val = NULL;
	int err = -EINVAL;

	if (op->op == GS_OP_ELEMS) {
		if (!m)
			return -EINVAL;
		room = (size_t)m->size * (m->ksize + m->vsize);
	}
	if (op->nval != room || op->nkey != nkey)
		return -EINVAL;
	val = kvzalloc(room + 8, GFP_KERNEL);
	key = kvzalloc((m ? m->ksize : 0) + 8, GFP_KERNEL);
	err = -ENOMEM;
	if (!val || !key)
		goto out;
	err = -EFAULT;
	if (nkey && copy_from_user(key, (void __user *)(unsigned long)op->key, nkey))
		goto out;
	if (op->op == GS_OP_SET && copy_from_user(val, (void __user *)(unsigned long)op->val, room))
		goto out;
	err = 0;
	preempt_disable();
	switch (g->kind) {
	case GS_G_LONG:
		gs_access_long(g->p, op, (s64 *)val);
		break;
	case GS_G_TEXT:
		err = gs_access_text(g->p, op, val);
		break;
	case GS_G_STAT:
		gs_access_stat(g->p, op, val);
		break;
	case GS_G_MAP:
		err = gs_access_map(m, op, key, val);
		break;
	}
	preempt_enable();
	if (op->op == GS_OP_ELEMS)
		room = op->n * (m->ksize + m->vsize);
	if (!err && (op->op == GS_OP_GET || op->op == GS_OP_ELEMS) &&
	    copy_to_user((void __user *)(unsigned long)op->val, val, room))
		err = -EFAULT;
out:
	kvfree(val);
	kvfree(key);
	return err;
}

#endif
