/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Memory of the process that is not there yet. A handler at a probe of a program may wait for
 * it: nothing of the kernel is held there. It keeps its context meanwhile and leaves a spare one
 * to its CPU, so that other hits are not lost; when none is left, it does not wait.
 */
#ifndef GS_PAGE_H
#define GS_PAGE_H

#include "gs_core.h"

#ifdef __KERNEL__
#include <linux/pagemap.h>

static struct gs_ctx *gs_spares[GS_SPARES + 1];

static inline struct gs_ctx *gs_spare_take(void)
{
	u32 i;

	for (i = 0; i < GS_SPARES; i++) {
		struct gs_ctx *c = READ_ONCE(gs_spares[i]);

		if (c && cmpxchg(&gs_spares[i], c, NULL) == c)
			return c;
	}
	return NULL;
}

/* There are as many places as spare contexts: one is free. */
static inline void gs_spare_put(struct gs_ctx *c)
{
	u32 i;

	for (i = 0; ; i = i + 1 < GS_SPARES ? i + 1 : 0)
		if (!READ_ONCE(gs_spares[i]) && cmpxchg(&gs_spares[i], NULL, c) == NULL)
			return;
}

/* Has n bytes at addr brought in, to be written to if write is set; false when that fails, or cannot be done here. */
static noinline __maybe_unused bool gs_bring_in(struct gs_ctx *c, u64 addr, u32 n, bool write)
{
	bool ok;

	if (!c->sleeps || irqs_disabled())
		return false;
	if (!c->away) {
		struct gs_ctx *spare = gs_spare_take();

		if (!spare)
			return false;
		this_cpu_write(gs_cpus.ctx[0], spare);
		c->away = true;
	}
	preempt_enable();
	if (write)
		ok = fault_in_writeable((char __user *)(unsigned long)addr, n) == 0;
	else
		ok = fault_in_readable((const char __user *)(unsigned long)addr, n) == 0;
	preempt_disable();
	return ok;
}

static int gs_spares_init(void)
{
	u32 i;

	for (i = 0; i < GS_SPARES; i++) {
		gs_spares[i] = vzalloc(sizeof(*gs_spares[i]));
		if (!gs_spares[i])
			return -ENOMEM;
		gs_spares[i]->slot = GS_LEVELS + 1 + i;
	}
	return 0;
}

static void gs_spares_free(void)
{
	u32 i;

	for (i = 0; i < GS_SPARES; i++)
		vfree(gs_spares[i]);
}
#else
static inline bool gs_bring_in(struct gs_ctx *c, u64 addr, u32 n, bool write)
{
	(void)c;
	return gs_test_bring_in((unsigned long)addr, n, write);
}
static inline void gs_spare_put(struct gs_ctx *c) { (void)c; }
#endif

#endif
