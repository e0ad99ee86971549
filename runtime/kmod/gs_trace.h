/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Tracepoints, found by name. Their arguments come as the kernel passes them, GS_TRACE_ARGS words at most:
 * those that a tracepoint does not have are whatever lies there. */
#ifndef GS_TRACE_H
#define GS_TRACE_H

#include "gs_output.h"
#include "gs_tracepoint.h"

#define GS_TRACE_ARGS 12

struct gs_trace {
	const char *name;
	void (*handler)(struct gs_hit *hit);
	u32 place;		/* gs_hit.site */
	int pid;		/* only in this process; -1: the target, 0: any */
	u32 site;
	bool call;		/* of system calls */
	struct gs_tp tp;
};

static void gs_trace_hit(void *data, s64 a, s64 b, s64 c, s64 d, s64 e, s64 f, s64 g, s64 h, s64 i, s64 j, s64 k, s64 l)
{
	struct gs_trace *t = data;
	s64 args[GS_TRACE_ARGS] = { a, b, c, d, e, f, g, h, i, j, k, l };
	struct gs_hit hit = { .args = args, .site = t->place };

	if (gs_running() && gs_here(t->pid) && !(t->call && gs_by_tracer()))
		t->handler(&hit);
}

static int gs_trace_on(struct gs_trace *t)
{
	/* Such a kernel looks whether a function that it calls by address has the type that the call has: it would stop the machine. */
	if (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI))
		return -EXDEV;
	t->call = !strcmp(t->name, "sys_enter") || !strcmp(t->name, "sys_exit");
	t->tp.name = t->name;
	t->tp.fn = gs_trace_hit;
	t->tp.data = t;
	return gs_tp_on(&t->tp);
}

static void gs_traces_off(struct gs_trace *t, u32 n)
{
	bool any = false;
	u32 i;

	for (i = 0; i < n; i++)
		any |= gs_tp_off(&t[i].tp);
	if (any)
		tracepoint_synchronize_unregister();
}

#endif
