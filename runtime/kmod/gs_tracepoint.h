/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* A tracepoint of the kernel by its name, and a function at it. */
#ifndef GS_TRACEPOINT_H
#define GS_TRACEPOINT_H

#include <linux/tracepoint.h>
#include "gs_core.h"

struct gs_tp {
	const char *name;
	void *fn;		/* is given data, then the tracepoint's arguments */
	void *data;
	struct tracepoint *tp;
	bool on;
};

static void gs_tp_find(struct tracepoint *tp, void *priv)
{
	struct gs_tp *t = priv;

	if (strcmp(tp->name, t->name) == 0)
		t->tp = tp;
}

/* Attaches, unless that is done. */
static inline int gs_tp_on(struct gs_tp *t)
{
	int err;

	if (t->on)
		return 0;
	t->tp = NULL;
	for_each_kernel_tracepoint(gs_tp_find, t);
	if (!t->tp)
		return -ENOENT;
	err = tracepoint_probe_register(t->tp, t->fn, t->data);
	t->on = err == 0;
	return err;
}

/* Detaches, and tells whether it was attached: then tracepoint_synchronize_unregister() waits until fn has ended. */
static inline bool gs_tp_off(struct gs_tp *t)
{
	if (!t->on)
		return false;
	tracepoint_probe_unregister(t->tp, t->fn, t->data);
	t->on = false;
	return true;
}

#endif
