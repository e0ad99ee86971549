/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Scalar strings: one lock each, so that a reader never sees half of one. */
#ifndef GS_SCALAR_H
#define GS_SCALAR_H

#include "gs_text.h"

struct gs_scalar {
	int lock;
	u32 cap;
	char *s;	/* cap + 1 bytes */
};

static inline bool gs_scalar_lock(struct gs_scalar *g, unsigned long *flags)
{
	if (gs_spell_try(&g->lock, flags))
		return true;
	gs_count(GS_SKIP_LOCK);
	return false;
}

static inline int gs_scalar_get(struct gs_scalar *g, char *dst, u32 cap)
{
	unsigned long f;

	if (!gs_scalar_lock(g, &f))
		return GS_BUSY;
	gs_copy(dst, cap, g->s);
	gs_release(&g->lock);
	gs_irq_restore(f);
	return GS_OK;
}

static inline int gs_scalar_set(struct gs_scalar *g, const char *s)
{
	unsigned long f;

	if (!gs_scalar_lock(g, &f))
		return GS_BUSY;
	gs_copy(g->s, g->cap, s);
	gs_release(&g->lock);
	gs_irq_restore(f);
	return GS_OK;
}

#endif
