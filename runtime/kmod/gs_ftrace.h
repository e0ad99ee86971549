/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Many probes at the beginnings of kernel functions, attached together. To put one kprobe in place the kernel goes through all functions that it
 * knows, every time: 8 million instructions. So from GS_FTRACE_MANY on, the kprobes are registered but not switched on, by
 * which the kernel looks at each place and refuses what it refuses, and one ftrace_ops serves all of them.
 */
#ifndef GS_FTRACE_H
#define GS_FTRACE_H

#include "gs_core.h"

#if defined(GS_FTRACE_IPS) && defined(CONFIG_KPROBES_ON_FTRACE) && defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#include <linux/ftrace.h>
#include <linux/trace_recursion.h>
#define GS_FTRACE_MANY 8

struct gs_kprobe;
static void gs_kprobe_traced(struct gs_kprobe *k, struct pt_regs *regs);

/* By address, with at least as many free places; of several at one address, the first one comes first. */
static struct gs_traced_place { unsigned long ip; struct gs_kprobe *k; } *gs_traced_places;
static u32 gs_traced_mask;
static bool gs_traced_on;

static __always_inline u32 gs_traced_at(unsigned long ip)
{
	return (u32)((ip * 0x9e3779b97f4a7c15ULL) >> 32) & gs_traced_mask;
}

/* What comes in the middle of another function's tracing, in the same context, is left out and counted: so it is with kprobes. */
static void notrace gs_traced_hit(unsigned long ip, unsigned long parent, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs;
	int bit;
	u32 i;

	if (!gs_running())
		return;
	bit = ftrace_test_recursion_trylock(ip, parent);
	if (bit < 0) {
		gs_count(GS_LOST_RECURSED);
		return;
	}
	regs = ftrace_get_regs(fregs);
	for (i = gs_traced_at(ip); regs && gs_traced_places[i].ip; i = (i + 1) & gs_traced_mask)
		if (gs_traced_places[i].ip == ip)
			gs_kprobe_traced(gs_traced_places[i].k, regs);
	ftrace_test_recursion_unlock(bit);
}

/* While it is on, function tracing cannot be switched off for the whole machine: probes would be gone without a word. */
static struct ftrace_ops gs_traced_ops = { .func = gs_traced_hit, .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT };

static void gs_traced_free(void)
{
	ftrace_free_filter(&gs_traced_ops);
	kvfree(gs_traced_places);
	gs_traced_places = NULL;
}

/* Prepares for n places, which gs_traced_add enters. */
static int gs_traced_room(u32 n)
{
	u32 size = roundup_pow_of_two(2 * n + 1);

	gs_traced_mask = size - 1;
	gs_traced_places = kvcalloc(size, sizeof(*gs_traced_places), GFP_KERNEL);
	return gs_traced_places ? 0 : -ENOMEM;
}

static void gs_traced_add(unsigned long ip, struct gs_kprobe *k)
{
	u32 i = gs_traced_at(ip);

	while (gs_traced_places[i].ip)
		i = (i + 1) & gs_traced_mask;
	gs_traced_places[i].ip = ip;
	gs_traced_places[i].k = k;
}

static int gs_traced_start(u32 n)
{
	unsigned long *ips = kvmalloc_array(n, sizeof(*ips), GFP_KERNEL);
	u32 i, k, m = 0;
	int err = -ENOMEM;

	for (i = 0; ips && i <= gs_traced_mask; i++) {
		unsigned long ip = gs_traced_places[i].ip;

		/* Those at one address lie behind each other, perhaps with others between. */
		for (k = gs_traced_at(ip); ip && k != i && gs_traced_places[k].ip != ip; k = (k + 1) & gs_traced_mask)
			;
		if (ip && k == i)
			ips[m++] = ip;
	}
	if (ips)
		err = ftrace_set_filter_ips(&gs_traced_ops, ips, m, 0, 0);
	if (!err)
		err = register_ftrace_function(&gs_traced_ops);
	kvfree(ips);
	gs_traced_on = !err;
	if (err)
		gs_traced_free();
	return err;
}

/* Waits for handlers that are under way. */
static void gs_traced_stop(void)
{
	if (!gs_traced_on)
		return;
	unregister_ftrace_function(&gs_traced_ops);
	gs_traced_on = false;
	gs_traced_free();
}
#endif

#endif
