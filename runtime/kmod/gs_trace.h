/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Tracepoints, found by name. Their arguments come as the kernel passes them, at most eight words. */
#ifndef GS_TRACE_H
#define GS_TRACE_H

#include <linux/tracepoint.h>
#include "gs_output.h"

struct gs_trace {
	const char *name;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	struct tracepoint *tp;
	bool on;
};

static void gs_trace_hit(void *data, s64 a, s64 b, s64 c, s64 d, s64 e)
{
	struct gs_trace *t = data;
	s64 args[5] = { a, b, c, d, e };
	struct gs_hit hit = { .args = args, .site = t->place };

	if (gs_running() && gs_here(t->pid))
		t->handler(&hit);
}

static void gs_trace_find(struct tracepoint *tp, void *priv)
{
	struct gs_trace *t = priv;

	if (strcmp(tp->name, t->name) == 0)
		t->tp = tp;
}

static int gs_trace_on(struct gs_trace *t)
{
	int err;

	t->tp = NULL;
	for_each_kernel_tracepoint(gs_trace_find, t);
	if (!t->tp)
		return -ENOENT;
	err = tracepoint_probe_register(t->tp, (void *)gs_trace_hit, t);
	t->on = err == 0;
	return err;
}

static void gs_traces_off(struct gs_trace *t, u32 n)
{
	bool any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		if (t[i].on)
			tracepoint_probe_unregister(t[i].tp, (void *)gs_trace_hit, &t[i]);
		any |= t[i].on;
		t[i].on = false;
	}
	if (any)
		tracepoint_synchronize_unregister();
}

#endif
